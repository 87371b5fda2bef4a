"""Sinks: other systems that are kept in step with the pages of a crawl (`docs/sync.md`).

`syncing` reads the numbered changes of a crawl and hands them to a sink, part by part. A sink takes a part so that
taking it twice is the same as taking it once, and keeps the mark behind it only when it has the part. So it may be
killed anywhere: it takes at most one part twice and ends equal to the crawl.
"""
