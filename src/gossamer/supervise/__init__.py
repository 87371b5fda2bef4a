"""Starts, watches and ends the processes of a crawl."""
