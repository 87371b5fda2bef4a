"""Keep a table of your own in step with a crawl: new, changed and removed pages.

    python keep_in_step.py gossamer-data pages.sqlite

Run it as often as you like, also while the crawl runs. Each row is written together with the place in the crawl, in one
transaction: killed at any moment, the next run continues right behind the last row.
"""

import argparse
import sqlite3
from contextlib import closing

import gossamer

parser = argparse.ArgumentParser(description="Keep a table in step with a crawl.")
parser.add_argument("folder", help="the data folder of the crawl")
parser.add_argument("table", help="an SQLite file")
parser.add_argument("--follow", action="store_true", help="wait for further pages")
arguments = parser.parse_args()

with closing(sqlite3.connect(arguments.table)) as table:
    table.execute("CREATE TABLE IF NOT EXISTS pages (url TEXT PRIMARY KEY, title TEXT, text TEXT)")
    table.execute("CREATE TABLE IF NOT EXISTS place (id INTEGER PRIMARY KEY, position TEXT)")
    row = table.execute("SELECT position FROM place").fetchone()
    folder = gossamer.open(arguments.folder)
    for change in folder.changes(since=row[0] if row else 0, follow=arguments.follow):
        with table:
            if change.page is None:
                table.execute("DELETE FROM pages WHERE url = ?", (change.url,))
            else:
                values = (change.url, change.page.title, change.page.text)
                table.execute("INSERT OR REPLACE INTO pages VALUES (?, ?, ?)", values)
            table.execute("INSERT OR REPLACE INTO place VALUES (1, ?)", (change.position,))
        print(change.number, change.kind, change.url)
