"""When to look again: how often pages change, and which visits are worth most."""
