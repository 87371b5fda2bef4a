"""What is known of a site: which lines, elements and parts of titles its pages share, and so which are each page's own.

    page ──▶ sketch ──▶ sample of the site ──▶ learn ──▶ facts ──▶ judgement of the next page, kept beside it
             sketch.py  frontier database      facts.py             view.py, judgement.py

Everything here is pure: sketches, facts and judgements come in and go out as values.
"""
