"""Where URLs come from before any page is read: seeds and sitemaps."""
