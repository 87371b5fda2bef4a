"""The verbs that look at a crawl and steer it."""
