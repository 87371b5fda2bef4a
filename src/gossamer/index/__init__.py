"""The inverted index: analysis, documents, commits, merging, and following the crawl."""
