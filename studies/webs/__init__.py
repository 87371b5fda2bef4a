"""Webs that studies crawl: real sites of files, and made-up ones."""
