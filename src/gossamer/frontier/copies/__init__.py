"""Which pages are copies: exact duplicates, clusters of near-duplicates, mirrors of whole sites."""
