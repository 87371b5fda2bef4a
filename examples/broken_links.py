"""List the links of a site that lead to a page that failed.

python broken_links.py https://www.example.org/ --contact you@example.org
"""

import argparse

import gossamer

parser = argparse.ArgumentParser(description="List the broken links of a site.")
parser.add_argument("url")
parser.add_argument("--contact", help="your mail address: every request carries it")
parser.add_argument("--folder", default="links-data", help="where the crawl is kept")
arguments = parser.parse_args()

folder = gossamer.crawl(arguments.url, contact=arguments.contact, folder=arguments.folder).run()
states: dict[str, gossamer.Explanation] = {}
for link in folder.links():
    if link.target not in states:
        states[link.target] = folder.explain(link.target)
    found = states[link.target]
    if found.state == "failed":
        print(f"{link.source}: {link.text!r} leads to {link.target} ({found.reason})")
