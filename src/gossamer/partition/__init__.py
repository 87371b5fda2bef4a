"""One large site over several crawlers."""
