"""Vectors of pages, beside the generations of an index."""
