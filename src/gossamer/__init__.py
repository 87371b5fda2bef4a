"""Gossamer: a web crawler whose quality is assured, and the search engine it feeds."""

__version__ = "0.1.0"
