"""Sorts pages into the operator's categories (S0.16): naive Bayes, trained from examples, sure or silent."""
