"""Pages from archives: read, judged and stored as if they had just been fetched, without a request."""
