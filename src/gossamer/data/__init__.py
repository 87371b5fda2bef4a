"""The data folder: its files and locks, the stored pages and links, and what a crawl was told."""
