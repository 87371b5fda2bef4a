"""May we? `verdict`: what the answer to /robots.txt means; `rules`: what it says; what pages say of themselves is `parse/wishes.py`."""
