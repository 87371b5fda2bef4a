"""Fetching: from a URL and its address to a `Response`, whatever the server does.

`guard` judges addresses, `dns` pins one per host, `connect` and `transport` talk
HTTP/1.1 to it, `pool` keeps one connection per address, `request` and `response`
say what is asked and what the answer means, `http` puts them together.
"""

from gossamer.fetch.dns import DnsConfig, Resolver
from gossamer.fetch.guard import AddressPolicy
from gossamer.fetch.http import Fetcher
from gossamer.fetch.identity import check_contact, user_agent
from gossamer.fetch.limits import FetchConfig, SiteAccess, Trouble
from gossamer.fetch.request import Request

__all__ = [
    "AddressPolicy",
    "DnsConfig",
    "FetchConfig",
    "Fetcher",
    "Request",
    "Resolver",
    "SiteAccess",
    "Trouble",
    "check_contact",
    "user_agent",
]
