"""From typed text to a query of the index."""
