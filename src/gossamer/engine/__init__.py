"""Where the parts of a job run: in this process, on all cores, on a cluster.

contract    what every engine promises
"""
