"""More like this: pages that share with another what tells it from the rest."""
