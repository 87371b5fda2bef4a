"""Searches of an index that is divided among machines."""
