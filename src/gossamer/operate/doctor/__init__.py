"""Checks of the machine and of the crawl, each with advice."""
