"""Segments: immutable files with what was downloaded, and places for files that several machines share.

layout           names of folders and files, segment ids, which segments are orphans
durable          how files get to the disk for good, and the meaning of disk errors
schema           the columns of the Parquet files
archive          the WARC file: raw responses
segment_folder   the interface of writers and readers to segments; a folder of them
remote_segments  segments in an object store
segments         writing one commit, reading pages and responses, verifying
telling_links    links whose texts go into the index
orphans          segments that never came to count
versions         a page over time
visits           visits of a page, and what changed between two of them: values
history          the same, read from segments
merge_plan       which segments to merge
compaction       many small segments become one

place            files that all machines reach: the contract; a folder
object_place     an object store, the only importer of its library
object_errors    the meaning of its refusals
file_cache       copies of remote files
config           the settings
"""
