"""What is searched, and said, where a query finds nothing or little."""
