"""One module or folder per study; each has `run(options) -> Report`."""
