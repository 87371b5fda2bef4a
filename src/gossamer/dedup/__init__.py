"""Seen before? Fingerprints of texts; who keeps them decides what a duplicate is."""
