"""Archives that other programs wrote."""
