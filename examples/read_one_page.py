"""Read one HTML file without a crawl: title, date, language, Markdown, links.

python read_one_page.py page.html https://www.example.org/news/rockets.html
"""

import argparse
from pathlib import Path

import gossamer

parser = argparse.ArgumentParser(description="Read one HTML file.")
parser.add_argument("file", type=Path)
parser.add_argument("url", help="where the file comes from")
arguments = parser.parse_args()

page = gossamer.read_page(arguments.file.read_bytes(), arguments.url)
print(f"# {page.title}")
print(f"language {page.language or 'unknown'}, published {page.date or 'unknown'}, {len(page.links)} links")
print()
print(page.markdown)
