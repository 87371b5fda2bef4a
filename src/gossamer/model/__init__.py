"""Values only: what a URL, a site, a record, an outcome and a decision are."""
