"""Where the parts of a job run: in this process, on all cores, on a cluster.

contract        what every engine promises
tasks           a task as bytes, and its result or error as bytes: the same on every engine
local           processes of this machine
worker_process  one such process
ray, spark      machines of a cluster that the user started
config          the settings
opening         which of them, by the settings
exchange        from the tasks of one stage to those of the next, by key, through files
"""
