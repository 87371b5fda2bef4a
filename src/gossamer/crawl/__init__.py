"""The fetch loop: a worker leases sites, fetches and parses their pages, and commits the results."""
