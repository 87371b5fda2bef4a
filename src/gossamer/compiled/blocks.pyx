"""The twin of `parse.text.blocks.walk`: one pass over the tree.

Four attributes of a node are read without Python between: by the functions behind the getters of turbohtml's types. A
version of it whose types are made otherwise is refused when this is imported."""

from types import GetSetDescriptorType

from cpython.object cimport PyObject, PyTypeObject
from turbohtml import Element, Node, Text

cdef extern from "Python.h":
    ctypedef object (*Getter)(object, void *)
    ctypedef struct PyGetSetDef:
        Getter get
        void *closure
    ctypedef struct PyGetSetDescrObject:
        PyGetSetDef *d_getset
    PyTypeObject *Py_TYPE(object)
    bint Py_UNICODE_ISSPACE(Py_UCS4)

cdef enum:
    INLINE, LINK, BREAK, RULE, BLOCK
cdef enum:
    SIGN_PARTS = 3

LAYOUT = (INLINE, LINK, BREAK, RULE, BLOCK, SIGN_PARTS, "\0")
"""What the twin must agree in."""

if not all(isinstance(one, GetSetDescriptorType) for one in (Node.parent, Element.tag, Text.data)):
    raise ImportError("turbohtml has other types of nodes")

cdef PyGetSetDef *_getter(object descriptor):
    return (<PyGetSetDescrObject *><PyObject *>descriptor).d_getset

cdef object _nodes = (Element, Node, Text, Element.attr)  # kept, since the rest are plain pointers into them
cdef PyGetSetDef *PARENT = _getter(Node.parent)
cdef PyGetSetDef *TAG = _getter(Element.tag)
cdef PyGetSetDef *DATA = _getter(Text.data)
cdef PyTypeObject *ELEMENT = <PyTypeObject *><PyObject *>Element
cdef PyTypeObject *TEXT = <PyTypeObject *><PyObject *>Text
cdef object _attribute = Element.attr
cdef str LINE_BREAK = "\0"


cdef class _Blocks:
    """The blocks found so far, and the text that will be the next one."""

    cdef Py_ssize_t max_blocks, anchors, anchor_chars
    cdef list texts, linked, links, targets, holders, parts
    cdef dict code
    cdef object permalink_signs, lines, indented

    def __init__(self, max_blocks, permalink_signs, lines, indented):
        self.max_blocks, self.permalink_signs, self.lines, self.indented = max_blocks, permalink_signs, lines, indented
        self.texts, self.linked, self.links, self.targets, self.holders, self.parts, self.code = [], [], [], [], [], [], {}
        self.anchors = self.anchor_chars = 0

    cdef int drop_permalink(self, Py_ssize_t began, object link) except -1:
        cdef str part
        if "".join(self.parts[began:]).strip() in self.permalink_signs and "#" in (link.attr("href") or ""):
            for part in self.parts[began:]:
                self.anchor_chars -= len(part)
            self.anchors -= 1
            del self.parts[began:]
        return 0

    cdef int end(self, Py_ssize_t holder, str name) except -1:
        cdef str raw = self.parts[0] if len(self.parts) == 1 else "".join(self.parts)
        cdef str text
        self.parts.clear()
        if name == "pre":
            raw = raw.replace("\n", LINE_BREAK)
        text = collapsed(raw) if LINE_BREAK not in raw else self.lines(raw)
        if text and len(self.texts) < self.max_blocks:
            if name == "pre":
                self.code[len(self.texts)] = self.indented(raw)
            self.texts.append(text)
            self.linked.append(self.anchor_chars)
            self.links.append(self.anchors)
            self.holders.append(holder)
            self.anchors = self.anchor_chars = 0
        return 0


cdef str collapsed(str raw):
    """`" ".join(raw.split())`, which most texts are already."""
    cdef Py_UCS4 char
    cdef bint after_space = True
    for char in raw:
        if char == 32:
            if after_space:
                return " ".join(raw.split())
            after_space = True
        elif char > 32 and (char < 127 or not Py_UNICODE_ISSPACE(char)):
            after_space = False
        elif Py_UNICODE_ISSPACE(char):
            return " ".join(raw.split())
        else:
            after_space = False
    return " ".join(raw.split()) if after_space else raw


def walk(body, Py_ssize_t max_blocks, dict kinds, list rare, all_names, tuple body_names, permalink_signs, lines, indented):
    """The lists of `Page` up to its tags, and what each element is called. `kinds`: of known elements; `rare`: elements
    whose names `all_names` reads, in the order of the tree."""
    cdef _Blocks blocks = _Blocks(max_blocks, permalink_signs, lines, indented)
    cdef list parts = blocks.parts, texts = blocks.texts
    cdef list parents = [0], first = [0], end = [0], names = [body_names], around = [], around_kinds = []
    cdef Py_ssize_t next_rare = 0, node = 0, link_began = 0
    cdef object parent = body, child, above, known, target
    cdef int kind = BLOCK
    cdef bint in_link = False, after_text = False, is_rare
    cdef str data, name
    cdef PyTypeObject *node_type
    for child in body.descendants:
        node_type = Py_TYPE(child)
        if node_type is not TEXT and node_type is not ELEMENT:
            above = child.parent
        else:
            above = PARENT.get(child, PARENT.closure)
        while above is not parent:
            if kind == BLOCK:
                if parts:
                    blocks.end(node, <str>(<tuple>names[node])[0])
                end[node] = len(texts)
                node = parents[node]
            elif kind == LINK:
                in_link = False
                if link_began < len(parts) <= link_began + SIGN_PARTS:
                    blocks.drop_permalink(link_began, parent)
            after_text = False
            parent, kind = around.pop(), around_kinds.pop()
        if node_type is TEXT:
            data = DATA.get(child, DATA.closure)
            after_text = True
            if parts or not data.isspace():
                parts.append(data)
                if in_link:
                    blocks.anchor_chars += len(data)
        elif node_type is ELEMENT:
            name = TAG.get(child, TAG.closure)
            around.append(parent)
            around_kinds.append(kind)
            parent = child
            known = kinds.get(name)
            kind = (BLOCK if "-" in name else INLINE) if known is None else known
            is_rare = next_rare < len(rare) and child is rare[next_rare]
            next_rare += is_rare
            if kind == BLOCK:
                if parts:
                    blocks.end(node, <str>(<tuple>names[node])[0])
                if len(texts) >= max_blocks:
                    break
                parents.append(node)
                node = len(names)
                if is_rare:
                    names.append(all_names(child, name))
                else:
                    names.append((name, _attribute(child, "class"), _attribute(child, "id"), None, None, None, False, False))
                first.append(len(texts))
                end.append(0)
            elif kind == LINK:
                in_link = True
                blocks.anchors += 1
                target = _attribute(child, "href")
                if target:
                    blocks.targets.append((len(texts), target))
                if parts and not after_text:  # two links without a space between are two words
                    parts.append(" ")
                link_began = len(parts)
            elif kind == BREAK:
                parts.append(LINE_BREAK)
            elif kind == RULE and parts:
                blocks.end(node, <str>(<tuple>names[node])[0])
            after_text = False
    if in_link and parts:  # the page ends in it
        while kind != LINK:
            parent, kind = around.pop(), around_kinds.pop()
        blocks.drop_permalink(link_began, parent)
    if parts:
        blocks.end(node, <str>(<tuple>names[node])[0])
    while node:
        end[node] = len(texts)
        node = parents[node]
    end[0] = len(texts)
    return texts, blocks.code, blocks.linked, blocks.links, blocks.targets, blocks.holders, parents, first, end, names
