"""What to do next: the URLs known, who works on which site, and when it may be asked again."""
