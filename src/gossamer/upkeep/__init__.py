"""The chores of a crawl: merging, thinning, forgetting, erasing, filters, parts, ranks."""
