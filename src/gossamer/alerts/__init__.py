"""Saved queries, what they found, the messages about it, and alarms."""
