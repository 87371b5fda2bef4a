from gossamer import errors as errors
from gossamer.api.changes import Change as Change
from gossamer.api.crawling import Crawl as Crawl
from gossamer.api.crawling import crawl as crawl
from gossamer.api.explaining import Explanation as Explanation
from gossamer.api.folder import Folder as Folder
from gossamer.api.folder import open as open
from gossamer.api.pages import Link as Link
from gossamer.api.pages import Page as Page
from gossamer.api.plugging import filter as filter
from gossamer.api.plugging import hook as hook
from gossamer.api.plugging import reader as reader
from gossamer.api.plugging import strategy as strategy
from gossamer.api.reading import read_page as read_page
from gossamer.api.searching import Result as Result
from gossamer.api.searching import Results as Results

__version__: str
__all__: list[str]
