"""Studies of what the crawler's policies bring, each with tables, pictures and a page (studies/README.md)."""
