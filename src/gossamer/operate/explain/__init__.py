"""Explains one URL: why it was fetched, refused, or waits, and why it is found or not."""
