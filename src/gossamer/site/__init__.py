"""What is known of a site: which lines, elements and parts of titles its pages share, and so which are each page's own.

    page ──▶ sketch ──▶ sample of the site ──▶ learn ──▶ facts ──▶ the next page
             sketch.py  frontier database      facts.py  view.py

Everything here is pure: sketches and facts come in and go out as values.
"""
