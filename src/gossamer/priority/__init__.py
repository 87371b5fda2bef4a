"""Which page next: strategies give scores, levels cut them."""
