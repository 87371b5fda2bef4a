# What `measures` and `features` share: the rows of the arrays that are counted, and some limits.

cdef enum:
    LEVELS = 6  # elements around a block that are looked at
cdef enum:  # rows of `floats`, of blocks
    CHARS, LINKED, DENSITY, SAMPLED, SPACES, UPPER, DIGITS, OTHERS, ENDS, COMMAS, WORDS, LINKS, FIRST_KIND, LAST_KIND
    HEADING, RUNNING, FLOATS
cdef enum:  # rows of `sums`, running over the blocks
    SUM_CHARS, SUM_LINKED, SUM_WORDS, SUM_ENDS, SUM_HEADLINES, SUM_RUNNING, SUMS
cdef enum:  # rows of `tree`, of elements
    PARENT, BEGIN, END, TWINS, TREE
cdef enum:  # rows of `said`, of elements with those around them
    SCORE, DEPTH, LOW, SAID
