"""May we? `verdict`: what the answer to /robots.txt means; `rules`: what it says; `meta`: what pages say."""
