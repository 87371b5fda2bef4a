"""Follows the crawl and writes every change into the index."""
