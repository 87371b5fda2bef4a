"""What Chromium is told of a response's headers."""

from __future__ import annotations

from gossamer.fetch.browser_pages import headers_told


def test_a_header_that_chromium_would_wait_for_without_end_is_left_out() -> None:
    headers = [("Content-Type", "text/html"), ("X-Odd", "a\0b"), ("X-Two", "a\r\nSet-Cookie: b"), ("X-Fine", "ü")]
    assert headers_told(headers) == {"content-type": "text/html", "x-fine": "ü"}


def test_several_of_one_name_become_one() -> None:
    headers = [("Vary", "a"), ("Set-Cookie", "x=1"), ("vary", "b"), ("set-cookie", "y=2")]
    assert headers_told(headers) == {"vary": "a, b", "set-cookie": "x=1\ny=2"}
