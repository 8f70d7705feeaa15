"""The database: what goes in comes out, however the position is turned, on both kinds of store."""

from __future__ import annotations

import pytest

from pbrain_engine import EngineError, cli
from pbrain_engine.commands import book
from pbrain_engine.database import rescue, sources
from pbrain_engine.database.lines import Filter
from pbrain_engine.database.sources import SourceOptions, add_items, read_source
from pbrain_engine.database.store import Database
from pbrain_engine.notation.renlib import format_renlib
from tests.database.postgres import server
from tests.golden import databases
from tests.notation.test_renlib import grow

__all__ = ["server"]  # a fixture


def test_what_goes_in_and_comes_out_is_as_recorded():
    databases.databases.check()


def test_a_server_takes_and_gives_the_same(server):
    databases.databases.check(lambda name: server.new_database())


def test_after_a_connection_broke_the_next_question_has_a_new_one(server):
    with Database(server.new_database(), create=True) as database:
        add_items(database, read_source("h8", SourceOptions()))
        for ask in (lambda: database.count("node"),
                    lambda: add_items(database, read_source("h8i9", SourceOptions()))):  # fmt: skip
            server.break_connections()
            with pytest.raises(EngineError):
                ask()
            assert database.count("node") == 2
        add_items(database, read_source("h8i9", SourceOptions()))
        assert database.count("node") == 3


@pytest.mark.parametrize(("place", "nodes"), [("file", 3_000), ("server", 500)])
def test_a_library_of_many_nodes_comes_out_as_it_went_in(place, nodes, tmp_path, request):
    is_file = place == "file"
    target = tmp_path / "a.db" if is_file else request.getfixturevalue("server").new_database()
    data, losses = format_renlib(grow(3, nodes))
    assert not losses
    (tmp_path / "in.lib").write_bytes(data)
    with Database(target, create=True) as database:
        for _ in range(2):
            add_items(database, read_source(str(tmp_path / "in.lib"), SourceOptions()))
            assert 0.7 * nodes < database.count("node") <= nodes + 1
            assert sources.export(database, tmp_path / "out.lib", Filter()) == []
            assert (tmp_path / "out.lib").read_bytes() == data
        assert list(rescue.find_faults(database)) == []


def test_no_password_is_shown(server, tmp_path, capsys):
    url = server.new_database().replace("@", ":secret@")
    assert cli.main(["db", url, "add", "h8i9"]) == 0
    assert cli.main(["db", str(tmp_path / "a.db"), "merge", url]) == 0
    assert book.main(["build", url, "--positions", "1", "--nodes", "500", "--processes", "1"]) == 0
    out, err = capsys.readouterr()
    assert "secret" not in out + err and out.count("@127.0.0.1") == 2
