"""Segments: immutable files with what was downloaded.

layout      names of folders and files, segment ids, orphans
durable     how files get to the disk for good, and what an error of the disk means
schema      the columns of the Parquet files
archive     the WARC file: raw responses
segments    writing one commit, reading pages and responses, verifying
versions    a page over time
compaction  many small segments become one
"""
