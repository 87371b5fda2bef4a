"""The verbs that index, search, rank and serve."""
