"""Fields of the operator's own in a search: filters, orders, counts."""
