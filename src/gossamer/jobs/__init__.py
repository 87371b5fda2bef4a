"""What is computed over all segments at once, on any engine."""
