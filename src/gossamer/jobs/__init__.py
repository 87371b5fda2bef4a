"""Computations over all segments at once, on any engine."""
