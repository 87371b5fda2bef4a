"""Everything an operator asks for: explanations, checks, backups, takedowns, configuration, metrics."""
