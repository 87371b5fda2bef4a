"""A notebook as a script: crawl a site, look at it with Polars, ask it with SQL, and search it."""

# %% [markdown]
# # A site as a table
#
# Crawl a site, look at it with Polars, ask it with SQL, and search it. Run the cells from top to bottom; run the first
# ones again at any time: the crawl continues.

# %%
import os

import duckdb
import polars as pl

import gossamer

site = os.environ.get("SITE", "https://www.example.org/")
folder = "notebook-data"

# %% [markdown]
# ## Crawl
#
# A notebook has an event loop of its own: both `for` and `async for` work in it. Stop the cell whenever you like.

# %%
for number, page in enumerate(gossamer.crawl(site, contact="you@example.org", folder=folder), 1):
    print(number, page.title)

# %% [markdown]
# ## Polars
#
# Arrow hands whole columns over. With pandas: `pages = crawled.arrow().read_pandas()`.

# %%
crawled = gossamer.open(folder)
pages = pl.from_arrow(crawled.arrow(markdown=True).read_all())
words = pl.col("text").str.split(" ").list.len().alias("words")
print(pages.select("url", "lang", words).sort("words", descending=True).head())

# %% [markdown]
# ## DuckDB
#
# A reader is read once: `read_all()` keeps its rows for several questions.

# %%
links = crawled.arrow("links").read_all()
print(duckdb.sql("SELECT target, count(DISTINCT source) AS pages FROM links GROUP BY 1 ORDER BY 2 DESC LIMIT 5"))

# %% [markdown]
# ## Search

# %%
results = crawled.search(pages["title"][0])
rows = [{"score": result.score, "title": result.title, "url": result.url} for result in results]
print(pl.DataFrame(rows))
print(results[0].why[:3])
