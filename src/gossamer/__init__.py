"""Gossamer: a polite, crash-safe web crawler with a search engine built in."""

__version__ = "0.1.0"
