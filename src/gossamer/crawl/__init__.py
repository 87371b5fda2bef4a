"""The processes of a crawl: worker, its parsers, and the supervisor that starts them."""
