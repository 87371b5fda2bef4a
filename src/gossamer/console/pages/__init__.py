"""The pages of the console, a module each."""
