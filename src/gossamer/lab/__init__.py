"""The lab: recorded webs, a simulator that is the worker itself on virtual time, and what-if questions."""
