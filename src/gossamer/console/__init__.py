"""The operator's console: what a crawl does and why, and the few things one may do to it. Behind a login."""
