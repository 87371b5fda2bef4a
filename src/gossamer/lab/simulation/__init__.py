"""The live worker on virtual time, and what can be told of what it did."""
