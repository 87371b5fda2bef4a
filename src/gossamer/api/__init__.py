"""The Python API: what `gossamer` itself offers to a program (`docs/python.md`).

`gossamer/__init__.py` names the public names and loads each from here when it is used. Everything else in this folder
is ours to change.
"""
