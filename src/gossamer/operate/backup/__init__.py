"""Copies a data folder while it is used, and restores the copy."""
