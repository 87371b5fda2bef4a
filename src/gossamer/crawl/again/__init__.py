"""Judges stored pages again when more is known of their sites."""
