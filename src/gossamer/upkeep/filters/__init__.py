"""Looks for URL groups that never led to a useful page, and proves that they can go."""
