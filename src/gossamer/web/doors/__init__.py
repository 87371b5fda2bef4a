"""Doors for programs that speak to other search engines: their protocols and the forms of their answers."""
