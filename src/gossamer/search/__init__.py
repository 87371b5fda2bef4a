"""From what a person types to results: query, ranking, excerpts, suggestions, explanations."""
