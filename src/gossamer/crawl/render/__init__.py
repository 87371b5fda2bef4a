"""Renders pages that are empty without their scripts, and fetches what they load."""
