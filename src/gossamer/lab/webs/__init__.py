"""Webs to study: recorded, read from files, or made up; one form for all (`web`)."""
