"""Made-up webs: for studies without real data, and for sizes that nobody has recorded.

They have what a crawler's policies react to (lists, archives, copies, traps, births, edits, response times) and no
text. Same arguments and seed, same web. Figures that were measured somewhere say where; the others are assumptions.
"""

from studies.webs.made_up.news import news_web
from studies.webs.made_up.university import university_web

__all__ = ["news_web", "university_web"]
