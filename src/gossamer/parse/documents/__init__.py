"""Office documents, books, mails, RTF and Markdown: each becomes a page.

A **converter** per type reads the file and writes what it says with a `Writer`: headings, paragraphs, lists, tables and
links, as lines of text and as simple HTML at once. `reading.py` makes a `Parsed` of it; Markdown for readers is made of
the HTML, which is converted again from the stored file when somebody asks (decision 42).

Strangers wrote these files. What each may cost is bounded by:

- the bytes that the parts of an archive unpack to (`parse.max_unpacked`), counted while they are unpacked: beyond them
  it is a `Bomb` and refused, as is XML that declares entities and whatever nests deeper than documents do;
- the elements and characters that are read: beyond them reading ends, and what was read counts;
- the processor time and memory of the parser process, as for every page.
"""
