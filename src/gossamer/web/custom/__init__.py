"""Fields of the operator's own on the pages of results."""
