"""The whole configuration of a crawl as one file: read, compared, applied."""
