"""Changes by an operator while the crawl runs: pauses, limits, filters, removals, seeds."""
