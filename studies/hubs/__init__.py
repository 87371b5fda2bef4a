"""Hubs and authorities of a query in the link graph of a crawl."""
