"""Clicks of readers as a factor of the ranking: what they say, how much it counts, and whether it helps."""
