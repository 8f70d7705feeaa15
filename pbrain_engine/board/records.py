"""What pages ask of the database and have stored in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..position.rules import Side
from . import files, searches
from .archive import Archive
from .positions import game_of, setup_of
from .refusal import Refused


def about(archive: Archive, message: Mapping[str, Any]) -> dict[str, Any]:
    """Say what the engine can do, and whether there is a database."""
    return {**searches.about(message), "database": archive.name is not None}


def known(archive: Archive, message: Mapping[str, Any]) -> dict[str, Any]:
    """Say what is known of a position."""
    setup = setup_of(message["position"])
    game_of(setup)
    return archive.document(setup)


def comment(archive: Archive, message: Mapping[str, Any]) -> dict[str, Any]:
    """Store a comment."""
    setup = setup_of(message["position"])
    game_of(setup)
    if any(side is Side.WALL for _, _, side in setup.placed):
        raise Refused("positions with blocked cells have no comments in a database")
    archive.store_comment(setup, message["before"], message["after"])
    return {"stored": True}


def store(archive: Archive, message: Mapping[str, Any]) -> dict[str, Any]:
    """Store a game."""
    tree = files.tree_of_message(message)
    if any(stone["side"] == "wall" for stone in message["position"].get("placed") or ()):
        raise Refused("games with blocked cells cannot be stored")
    return {"stored": True, **archive.store_tree(tree)}
