"""Whole programs on a data folder: a crawl, workers, a plan, an index, a server, a search. They print nothing."""
