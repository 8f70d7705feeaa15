"""The names of line shapes and cell classes.

A *line shape* is the shape of one line through an empty cell once a side has a stone on the cell. A
*cell class* sums up the four lines. Both are ordered by strength. In the drawings ``_`` is the
cell, ``O`` own stones, ``.`` empty, ``X`` closed.
"""

# Line shapes -------------------------------------------------------------------------
DEAD = 0  # can never become a five
OVERLINE = 1  # six or more (or two fours in one line) where the rule forbids or ignores it
BLOCKED_ONE = 2  # one step before BLOCKED_TWO
OPEN_ONE = 3  # ..._...  one step before any open two
BLOCKED_TWO = 4  # XO_...  one step before a blocked three
OPEN_TWO = 5  # ..O_..  one or two cells make it an open three
OPEN_TWO_WIDE = 6  # three cells do
OPEN_TWO_FREE = 7  # four or more cells do
BLOCKED_THREE = 8  # XOO_..  one step before a four
OPEN_THREE = 9  # .OO_.X  one cell makes it an open four
OPEN_THREE_FREE = 10  # ..OO_..  two or more cells do
FOUR = 11  # XOOO_.  one reply stops the five
OPEN_FOUR = 12  # .OOO_.  no single reply stops the five
FIVE = 13  # OOOO_
LINE_SHAPES = 14

COMBINATIONS = 2380  # unordered choices of four line shapes

# Cell classes ------------------------------------------------------------------------
QUIET = 0
MAKES_TWO = 1  # an open two
MAKES_BLOCKED_THREE = 2
MAKES_TWO_TWOS = 3  # two open twos
MAKES_THREE_TWO = 4  # two blocked threes, or a blocked three and an open two
MAKES_FOUL = 5  # renju, black: statically forbidden (a double three may turn out false)
MAKES_THREE = 6  # an open three
MAKES_THREE_PLUS = 7  # an open three and a blocked three or an open two
MAKES_TWO_THREES = 8  # two open threes
MAKES_FOUR = 9
MAKES_FOUR_PLUS = 10  # a four and a blocked three or an open two
MAKES_FOUR_THREE = 11  # a four and an open three
MAKES_WINNING_FOUR = 12  # an open four, or two fours
MAKES_FIVE = 13
CELL_CLASSES = 14

FIRST_LISTED = MAKES_FOUL  # classes from here on have lists of their cells
OTHERS = FIRST_LISTED - 1  # stands for all the others, whose cells share a list that nobody reads
LISTED_CLASSES = CELL_CLASSES - FIRST_LISTED
