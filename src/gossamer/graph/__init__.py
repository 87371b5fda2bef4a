"""The link graph: ranks of pages and hosts."""
