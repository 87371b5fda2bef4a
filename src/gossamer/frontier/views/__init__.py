"""Read-only views of the tables for status, explanations and the console."""
