"""The frontier: the known URLs, who works on which site, and when it may get its next request."""
