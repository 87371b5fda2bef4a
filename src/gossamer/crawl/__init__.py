"""The fetch loop: a worker leases sites, fetches and parses their pages, and commits the results.

`gossamer.crawl` is also the function by which a program crawls (`gossamer.api.crawling.crawl`): once anything of this
folder is loaded, Python finds the folder under that name. So the folder can be called, too.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *seeds: str, **options: Any) -> Any:
        """Crawl: see `gossamer.api.crawling.crawl`."""
        return import_module("gossamer.api.crawling").crawl(*seeds, **options)

    @property
    def __signature__(self) -> Any:
        """What tools show of the function."""
        from inspect import signature

        return signature(import_module("gossamer.api.crawling").crawl)


sys.modules[__name__].__class__ = _Callable
