"""Crawl a site and print each page as it comes.

    python titles.py https://www.example.org/ --contact you@example.org

Stop it with Ctrl-C and start it again: it continues, and prints the pages that are left.
"""

import argparse

import gossamer

parser = argparse.ArgumentParser(description="Crawl a site and print each page as it comes.")
parser.add_argument("url")
parser.add_argument("--contact", help="your mail address: every request carries it")
parser.add_argument("--folder", default="titles-data", help="where the crawl is kept")
parser.add_argument("--pages", type=int, default=100, help="stop after this many requests")
arguments = parser.parse_args()

for page in gossamer.crawl(arguments.url, contact=arguments.contact, folder=arguments.folder, pages=arguments.pages):
    print(page.date[:10] or "-" * 10, page.title or "(no title)", page.url, sep="  ")
