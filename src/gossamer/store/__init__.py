"""Segments: immutable files with what was downloaded, and places for files that several machines share.

layout           names of folders and files, segment ids, what is an orphan
durable          how files get to the disk for good, and what an error of the disk means
schema           the columns of the Parquet files
archive          the WARC file: raw responses
segment_folder   where segments lie: what writers and readers need of it; a folder
remote_segments  segments in an object store
segments         writing one commit, reading pages and responses, verifying
telling_links    links whose texts go into the index
orphans          segments that never came to count
versions         a page over time
visits           visits of a page, and what changed between two of them: values
history          the same, read from segments
merge_plan       which segments to merge
compaction       many small segments become one

place            files that all machines reach: what is promised; a folder
object_place     an object store, the only importer of its library
object_errors    what its refusals mean
file_cache       copies of remote files
config           the settings
"""
