"""Clicks on results: how browsers tell of them, and who was shown what today."""
