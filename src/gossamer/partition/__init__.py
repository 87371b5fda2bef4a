"""One large site over several crawlers: paths, plans, predictions."""
