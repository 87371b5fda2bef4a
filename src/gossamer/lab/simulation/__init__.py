"""The live worker on virtual time, and measures of what it did."""
