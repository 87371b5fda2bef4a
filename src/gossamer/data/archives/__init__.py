"""Stored responses as archives for other programs: WARC, CDXJ, WACZ."""
