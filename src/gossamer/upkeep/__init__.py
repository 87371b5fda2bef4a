"""What a crawl does beside fetching: merging, thinning, forgetting, erasing, filters, parts, ranks."""
