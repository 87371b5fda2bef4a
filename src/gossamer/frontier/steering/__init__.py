"""What an operator changes while the crawl runs: pauses, limits, filters, removals, seeds."""
