"""What studies hand over, and how it becomes tables, pictures and pages."""
