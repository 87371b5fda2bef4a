"""Types of pages that several rooms have to know."""

LISTS = ("listing", "collection")
"""Types of pages that only lead to others."""
