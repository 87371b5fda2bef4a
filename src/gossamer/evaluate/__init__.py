"""How good a ranking is: collections with judgements, runs over them, and the measures."""
