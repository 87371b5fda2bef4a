"""What a server reads from and writes to the crawl: stories, clicks, what people searched for, pushed news."""
