"""The server: search page, JSON API, feeds of queries."""
