"""Fetching: from a URL and its address to a `Response`, whatever the server does.

`guard` judges addresses, `dns` pins one per host, `connect` and `transport` talk HTTP/1.1 to it, `pool` keeps one
connection per address, `request` and `response` write requests and interpret answers, `http` puts them together.
"""
