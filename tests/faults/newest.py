"""Faults of the tree search, the network, the database, the board, reviews and helpers."""

from __future__ import annotations

from .fault import Fault, kernel

MC = "search/mcts/"
TREE = "tests/kernels/test_mcts.py"
NN = "eval/network/"
NETWORK = "tests/kernels/test_network.py"
DATABASE = "tests/test_database.py"
BOOK = "tests/test_book.py"
SHAPES = "tests/test_board_shapes.py"
REVIEW = "tests/test_review.py"

TREE_SEARCH = [
    kernel("a chance does not change sides on its way up", MC + "walk.py",
           "        chance = UNIT - chance\n        proof = np.int64(node.proof)",
           "        proof = np.int64(node.proof)", TREE),
    kernel("a move is worth what the enemy has behind it", MC + "walk.py",
           "edge.average = UNIT - mean_of(tree.nodes[child])",
           "edge.average = mean_of(tree.nodes[child])", TREE),
    kernel("a proof goes up unchanged", MC + "walk.py", "edge.proof = before(proof)",
           "edge.proof = proof", TREE),
    kernel("what is under way stays so", MC + "walk.py",
           "        edge.flying -= 1\n        edge.visits += 1", "        edge.visits += 1", TREE),
    kernel("a recycled node is taken for the one before", MC + "walk.py",
           "if child != NO_NODE and tree.nodes[child].key == key and",
           "if child != NO_NODE and", TREE),
    kernel("a win is as far off one ply earlier", MC + "tree.py", "return -(proof + 1)",
           "return -proof", TREE),
    kernel("one open move is no reason to wait", MC + "tree.py",
           "elif open_moves or node.listing != WHOLE:", "elif node.listing != WHOLE:", TREE),
    kernel("moves that are not listed lose", MC + "tree.py",
           "elif open_moves or node.listing != WHOLE:", "elif open_moves:", TREE),
    kernel("the loser takes the shortest loss", MC + "tree.py",
           "longest = max(longest, WIN + proof)", "longest = WIN + proof", TREE),
    kernel("the longest win is chosen", MC + "tree.py", "best = max(best, proof)",
           "best = proof", TREE),
    kernel("a node under way is recycled", MC + "tree.py",
           "if node.flying > 0 or i == tree.root:", "if i == tree.root:", TREE),
    kernel("the root is recycled", MC + "tree.py",
           "if node.flying > 0 or i == tree.root:", "if node.flying > 0:", TREE),
    kernel("lists of a recycled node are lost", MC + "tree.py",
           "    if node.visits > 0:\n        free_lists(tree, lists, node)\n",
           "    if node.visits > 0:\n", TREE),
    kernel("old nodes are worth as much as new ones", MC + "tree.py",
           ">> min(2 * age, 40)", ">> min(0 * age, 40)", TREE),
    kernel("moves that lose are followed", MC + "choice.py", "    if edge.proof < 0:\n",
           "    if edge.proof > 0:\n", TREE),
    kernel("a cell is barred everywhere", MC + "choice.py", "return not (at_root and (",
           "return not ((", TREE),
    kernel("a visit under way counts as won", MC + "choice.py",
           "mean = mean * own // (own + flying)", "mean = mean * (own + flying) // own", TREE),
    kernel("the policy counts upside down", MC + "choice.py",
           "score = promise(doubt, mean, prior, own + flying)",
           "score = promise(doubt, mean, UNIT - prior, own + flying)", TREE),
    kernel("losses have the chances of wins", MC + "chances.py",
           "return chance if value >= 0 else UNIT - chance", "return chance", TREE),
    kernel("the scale of the weights is forgotten", MC + "chances.py",
           "size = min(abs(value) * VALUE_UNIT // scale, EVAL_LIMIT)",
           "size = min(abs(value), EVAL_LIMIT)", TREE),
]  # fmt: skip

NETWORKS = [
    kernel("features stay when the stone is gone", NN + "accumulator.py",
           "            save_shorts(accumulator.features, number * CHANNELS + part, "
           "clamp(row, 0, TOP))\n", "", NETWORK),
    kernel("a covered cell still counts in its region", NN + "accumulator.py",
           "        save_ints(accumulator.regions, ring + part, sums)\n\n\n@kernel\ndef put_on",
           "\n\n@kernel\ndef put_on", NETWORK),
    kernel("thirds of the board are rounded down", NN + "accumulator.py",
           "part = (length + 2) // 3", "part = length // 3", NETWORK),
    kernel("what was asked stays when stones come", NN + "accumulator.py",
           "        return\n    accumulator.asked = 0\n", "        return\n", NETWORK),
    kernel("both sides hear what one has asked", NN + "layers.py",
           "if accumulator.asked == 1 + side:", "if accumulator.asked != 0:", NETWORK),
    kernel("the linear value is added whole", NN + "layers.py",
           "return ((linear * np.int64(head.shifts[SHARE])) >> 8) +", "return linear +", NETWORK),
    kernel("distances are classed by their sum", NN + "layers.py", "longer = max(dx, dy)",
           "longer = dx + dy", NETWORK),
]  # fmt: skip

KEPT = [
    Fault("the shallower finding stands", "database/store.py", "excluded.rank > position.rank",
          "excluded.rank < position.rank",
          f"{DATABASE}::test_the_deeper_finding_stands_and_a_proof_stands_for_good"),
    Fault("the longer win stands", "database/finding.py", "PROVEN + 2 * abs(self.value)",
          "PROVEN - 2 * abs(self.value)",
          f"{DATABASE}::test_the_deeper_finding_stands_and_a_proof_stands_for_good"),
    Fault("a win that is an upper bound is certain", "database/finding.py",
          "return self.bound is not Bound.UPPER", "return True",
          f"{DATABASE}::test_a_win_is_certain_if_it_is_at_least_that"),
    Fault("moves are turned on instead of back", "database/store.py",
          "Symmetries.of(width, height).back(unpack_moves",
          "Symmetries.of(width, height).move(unpack_moves",
          f"{DATABASE}::test_a_position_is_found_under_every_symmetry"),
    Fault("a game that is known counts again", "database/store.py",
          "                skipped += 1\n                continue\n",
          "                skipped += 1\n",
          f"{DATABASE}::test_games_count_once_in_all_their_positions"),
    Fault("white's wins are black's", "database/store.py",
          '"1-0": "black_wins", "0-1": "white_wins"', '"1-0": "white_wins", "0-1": "black_wins"',
          f"{DATABASE}::test_games_count_once_in_all_their_positions"),
    Fault("the side to move is not in the key", "notation/canonical.py",
          "bytes((self.rule, self.width, self.height, self.to_move))",
          "bytes((self.rule, self.width, self.height, 0))",
          f"{DATABASE}::test_rule_board_and_side_to_move_tell_positions_apart"),
    Fault("a book's values do not change sides", "database/book/graph.py",
          "else -_further(child.value)", "else _further(child.value)",
          f"{BOOK}::test_values_go_up_to_the_root"),
    Fault("a book's win comes nearer each ply up", "database/book/graph.py",
          "        return value - 1\n", "        return value + 1\n",
          f"{BOOK}::test_a_forced_win_is_farther_off_each_ply_up"),
    Fault("a book follows the worst moves", "database/book/graph.py",
          "(page.value - worth) / self._drop", "(worth - page.value) / self._drop",
          f"{BOOK}::test_the_leaf_that_costs_the_least_comes_next"),
    Fault("a book's move is not turned with the position", "engine/book.py",
          "cells = board.back([", "cells = board.move([",
          f"{BOOK}::test_a_move_of_the_book_is_turned_with_the_position"),
]  # fmt: skip

BOARD = [
    Fault("a foreign page may ask", "board/guard.py",
          '            raise Refused("the request comes from a foreign page", FORBIDDEN)\n',
          "            pass\n", "tests/test_board_server.py::test_a_foreign_origin_is_refused"),
    Fault("half a token is enough", "board/guard.py",
          "hmac.compare_digest(word.encode(), self.token.encode())",
          "self.token.startswith(word)",
          "tests/test_board_server.py::test_a_wrong_token_is_refused_with_a_reason"),
    Fault("black may make six in renju, and white may not", "board/shapes.py",
          "(rule is Rule.RENJU and side is Side.WHITE)",
          "(rule is Rule.RENJU and side is Side.BLACK)", SHAPES),
    Fault("caro's five may not be closed at one end", "board/shapes.py",
          "return run >= 6 or (run == 5 and closed < 2)",
          "return run >= 6 or (run == 5 and closed < 1)", SHAPES),
    Fault("a four that is closed is called open", "board/shapes.py",
          "straight = end - first == 4 and fives == (first - 1, end)", "straight = True", SHAPES),
    Fault("who comes last goes first", "board/turns.py", "if self._queue[0] is not ticket:",
          "if self._queue[-1] is not ticket:", SHAPES),
    Fault("an endless search does not give way to the next job", "board/desk.py",
          "        if current is not None and current.endless:\n            self.stop(current)\n",
          "", SHAPES),
    Fault("the shortest defence is shown", "board/proofs.py",
          "max(tree.replies.items(), key=lambda item: depth_of(item[1]))",
          "min(tree.replies.items(), key=lambda item: depth_of(item[1]))",
          "tests/test_board_proofs.py::test_the_line_of_a_proof_is_its_longest"),
]  # fmt: skip

REVIEWS = [
    Fault("a move is worth what the enemy has after it", "engine/review.py",
          "        return -value\n", "        return value\n", REVIEW),
    Fault("a win is as far off after the move", "engine/review.py",
          "return 1 - value if value > 0 else -value - 1", "return -value", REVIEW),
    Fault("a win that was played is missed", "engine/review.py",
          "missed = seen.win if played < WIN_BAND else None", "missed = seen.win", REVIEW),
    Fault("every loss was allowed by the last move", "engine/review.py",
          "allowed = after.win if seen.value > -WIN_BAND else None", "allowed = after.win",
          f"{REVIEW}::test_a_win_that_is_played_is_no_mistake"),
]  # fmt: skip

ENDS = [
    Fault("a board that fills up is searched as many plies deep as it has cells",
          "engine/search.py", "DEPTH_PER_CELL = 4", "DEPTH_PER_CELL = 1",
          "tests/test_games.py::test_a_filling_board_is_searched_to_its_end"),
]  # fmt: skip

HELPERS = [
    Fault("helpers wait for ever for work from a process that was killed", "helpers.py",
          "    threading.Thread(target=_outlive_nobody, daemon=True).start()\n", "",
          "tests/test_helpers.py"),
    Fault("an interrupt waits for the games under way", "helpers.py",
          "        process.kill()\n", "        process.join()\n", "tests/test_learn_records.py"),
    Fault("two runs write one file of games", "learn/records.py",
          "if not try_lock(self._file):", "if try_lock(self._file) is None:",
          "tests/test_learn_records.py"),
    Fault("a record with a senseless length ends a file", "learn/records.py",
          "if length > MAX_STONES:", "if length > 1 << 16:", "tests/test_learn_records.py"),
    Fault("a board that is no number is left out", "learn/datagen.py",
          "int(word) if word.isdecimal() else 0 for word in words]",
          "int(word) for word in words if word.isdecimal()]", "tests/test_learn_records.py"),
    Fault("helpers are sent a network that nobody can send", "learn/network/lessons.py",
          "weights._replace(streams={})", "weights", "tests/test_learn_weights.py"),
]  # fmt: skip

MANNERS = [
    Fault("a tab after the key of INFO is no white space", "protocol/commands.py",
          "words = text.split(None, 1)", "words = text.split(\" \", 1)",
          "tests/test_protocol_commands.py"),
    Fault("each SUGGEST of a move is answered", "arena/players/dialogue.py",
          "if suggestion and not self._has_suggested:", "if suggestion:",
          "tests/test_arena_faults.py::test_a_suggestion_is_answered_once"),
    Fault("a mate may be any number", "arena/game/remarks.py",
          "    if mate is None:\n        return None\n", "    assert mate\n",
          "tests/test_arena_referee.py"),
    Fault("branches are games", "database/sources.py",
          "if game.ending is selfplay.Ending.BRANCH:", "if game.ending is None:",
          "tests/test_database_sources.py"),
    Fault("a part of a line is a comment of one's own", "database/lines.py",
          "return f\"\\n{lines}\\n\" in f\"\\n{text}\\n\"", "return lines in text", DATABASE),
    Fault("an order that leads elsewhere is believed", "database/document.py",
          "    if position != Position(", "    if False and position != Position(",
          "tests/test_database_sources.py"),
    Fault("stones that are set up later vanish", "notation/sgf.py",
          "        if made:\n            raise", "        if False:\n            raise",
          "tests/test_notation.py"),
]  # fmt: skip

FAULTS = [*TREE_SEARCH, *NETWORKS, *KEPT, *BOARD, *REVIEWS, *ENDS, *HELPERS, *MANNERS]
