"""The data folder: its files and locks, stored pages and links, and the settings of its crawl."""
