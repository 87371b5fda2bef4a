"""May we? `verdict`: what the answer to /robots.txt means; `rules`: what it says. Pages speak in `parse/wishes.py`."""
