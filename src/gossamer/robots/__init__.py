"""robots.txt. `verdict`: what the answer to a request for it means; `rules`: what it says. For pages, see
`parse/wishes.py`.
"""
