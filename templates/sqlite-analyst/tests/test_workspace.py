"""Databases: the allowed statements, and the stored images."""

import gc
import sqlite3

import pytest

import workspace as module
from reading import FileError
from workspace import QueryError, Workspace

CSV = b"name,age\nAda,36\nLinus,28\n"


def sqlite_file(*statements, path):
    database = sqlite3.connect(path)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()
    return path.read_bytes()


@pytest.fixture
def people():
    workspace = Workspace()
    workspace.add("people.csv", CSV)
    yield workspace
    workspace.close()


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO people VALUES ('Eve', 1)",
        "UPDATE people SET age = 0",
        "DELETE FROM people",
        "DROP TABLE people",
        "CREATE TABLE x (a)",
        "CREATE TEMP TABLE x (a)",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TRIGGER t AFTER INSERT ON people BEGIN SELECT 1; END",
        "ALTER TABLE people RENAME TO x",
        "REPLACE INTO people VALUES ('Eve', 1)",
        "WITH x AS (SELECT 1) INSERT INTO people SELECT 'Eve', * FROM x",
        "ANALYZE",
        "BEGIN",
    ],
)
def test_nothing_can_be_changed_by_default(people, sql):
    with pytest.raises(QueryError, match="read-only"):
        people.run(sql, 10)
    assert people.run("SELECT count(*) FROM people", 10).rows == [(2,)]
    assert [table for _, table, _ in people.tables()] == ["people"]


@pytest.mark.parametrize("writable", [False, True])
@pytest.mark.parametrize(
    "sql",
    [
        "ATTACH 'x.db' AS x",
        "DETACH main",
        "VACUUM",
        "VACUUM INTO 'x.db'",
        "PRAGMA query_only = 0",
        "PRAGMA writable_schema = 1",
    ],
)
def test_some_things_are_never_allowed(sql, writable, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(QueryError, match="not allowed here"):
        Workspace(writable=writable).run(sql, 10)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT name FROM people WHERE age > 30", [("Ada",)]),
        ("WITH old AS (SELECT * FROM people WHERE age > 30) SELECT count(*) FROM old", [(1,)]),
        ("SELECT value FROM json_each('[1, 2]')", [(1,), (2,)]),
        ("SELECT name FROM pragma_table_info('people')", [("name",), ("age",)]),
        ("SELECT name, type FROM sqlite_schema", [("people", "table")]),
        ("VALUES (1), (2)", [(1,), (2,)]),
    ],
)
def test_reading(people, sql, rows):
    assert people.run(sql, 10).rows == rows


def test_rows_beyond_the_limit_are_not_given(people):
    result = people.run("SELECT * FROM people", 1)
    assert (len(result.rows), result.more) == (1, True)
    assert not people.run("SELECT * FROM people", 2).more


def test_changes_where_they_are_allowed():
    workspace = Workspace(writable=True)
    workspace.add("people.csv", CSV)
    assert workspace.run("SELECT 1", 10).changed is None
    assert workspace.run("UPDATE people SET age = age + 1", 10).changed == 2
    assert workspace.run("CREATE INDEX i ON people (age)", 10).changed == 0
    assert workspace.run("DELETE FROM people WHERE age > 30 RETURNING name", 10).rows == [("Ada",)]
    assert workspace.run("SELECT * FROM people", 10).rows == [("Linus", 29)]


def test_one_statement_at_a_time(people):
    with pytest.raises(QueryError, match="Only one statement"):
        people.run("SELECT 1; SELECT 2", 10)


def test_a_mistake_is_told_with_the_tables_there_are(people):
    with pytest.raises(QueryError, match=r"no such table: persons\. There are: people\."):
        people.run("SELECT * FROM persons", 10)


def test_a_query_without_end_is_stopped(people, monkeypatch):
    monkeypatch.setattr(module, "QUERY_SECONDS", 0.05)
    with pytest.raises(QueryError, match="was stopped"):
        people.run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n", 10)
    assert people.run("SELECT 1", 10).rows == [(1,)]


def test_a_sqlite_file_is_a_database_of_its_own(people, tmp_path):
    data = sqlite_file("CREATE TABLE t (a)", "INSERT INTO t VALUES (7)", path=tmp_path / "shop.db")
    assert people.add("My shop.db", data) == ["my_shop.t"]
    assert people.run("SELECT a, count(*) FROM my_shop.t, people", 10).rows == [(7, 2)]
    assert people.run("SELECT a FROM t", 10).rows == [(7,)]


def test_a_database_with_a_write_ahead_log_opens(tmp_path):
    data = sqlite_file("PRAGMA journal_mode = WAL", "CREATE TABLE t (a)", path=tmp_path / "wal.db")
    assert data[18:20] == b"\2\2"
    assert Workspace().add("wal.db", data) == ["wal.t"]


def test_a_damaged_database_is_refused_and_leaves_nothing(people):
    with pytest.raises(FileError, match=r"broken\.db is a damaged or encrypted"):
        people.add("broken.db", b"SQLite format 3\0" + b"x" * 5000)
    assert people.databases() == ["main"]


def test_images_hold_everything(people, tmp_path):
    people.add("shop.db", sqlite_file("CREATE TABLE t (a)", path=tmp_path / "shop.db"))
    images = people.images()
    assert set(images) == {"main", "shop"}
    again = Workspace(writable=True)
    again.restore(images)
    assert again.run("SELECT name FROM people", 10).rows == [("Ada",), ("Linus",)]
    assert again.run("INSERT INTO shop.t VALUES (1)", 10).changed == 1


def test_describe(tmp_path):
    workspace = Workspace()
    keys = "CREATE TABLE c (id INTEGER PRIMARY KEY, t INTEGER NOT NULL REFERENCES t (id))"
    workspace.add("shop.db", sqlite_file("CREATE TABLE t (id INTEGER PRIMARY KEY)", keys, path=tmp_path / "shop.db"))
    facts = workspace.describe("shop", "c")
    assert facts["columns"] == [
        {"name": "id", "type": "INTEGER", "required": False, "key": True},
        {"name": "t", "type": "INTEGER", "required": True, "key": False},
    ]
    assert facts["references"] == [{"column": "t", "table": "t", "to": "id"}]


def test_the_rows_of_a_query_are_stored_and_read_by_others():
    workspace = Workspace(writable=True)
    workspace.add("a.csv", b"n;t\n" + b"".join(b"%d;x%d\n" % (n, n) for n in range(5000)))
    found = workspace.run('SELECT n, t, n AS n, NULL AS "od""d" FROM a', 10, store=True)
    assert (len(found.rows), found.more, len(found.stored)) == (10, True, 5000)
    assert (found.stored[3:5], found.stored[-1]) == (
        [(3, "x3", 3, None), (4, "x4", 4, None)],
        (4999, "x4999", 4999, None),
    )
    assert found.stored.columns == ["n", "t", "n", 'od"d']
    assert found.stored.nbytes > 50_000
    changed = workspace.run("UPDATE a SET n = -1", 0)
    assert changed.changed == 5000
    assert workspace.run('SELECT sum(n), count("od""d") FROM result', 1, earlier=found.stored).rows == [(12497500, 0)]
    with pytest.raises(QueryError, match="no such table: result"):
        workspace.run("SELECT * FROM result", 1)
    for sql in (
        "DROP TABLE temp.stored_1",
        "UPDATE temp.stored_1 SET c0 = 1",
        "ALTER TABLE temp.STORED_1 RENAME TO x",
        "CREATE TEMP TABLE Stored_2 (a)",
    ):
        with pytest.raises(QueryError, match="cannot be changed"):
            workspace.run(sql, 1)
    with pytest.raises(QueryError, match="chosen before"):
        Workspace().run("SELECT * FROM result", 1, earlier=found.stored)
    assert workspace.run("INSERT INTO a VALUES (1, '') RETURNING n", 1, store=True).stored is None
    assert len(workspace.run("SELECT 1 WHERE 0", 1, store=True).stored) == 0


@pytest.mark.parametrize("sql", ["CREATE TEMP TABLE Result (a)", "CREATE TEMP VIEW result AS SELECT 1"])
def test_the_name_of_earlier_results_is_taken(sql):
    workspace = Workspace(writable=True)
    stored = workspace.run("SELECT 7", 1, store=True).stored
    with pytest.raises(QueryError, match="use another one"):
        workspace.run(sql, 1)
    workspace.run("CREATE TABLE result (a)", 1)
    workspace.run("CREATE TEMP TABLE other (a)", 1)
    assert workspace.run("SELECT * FROM result", 1, earlier=stored).rows == [(7,)]
    assert workspace.run("SELECT * FROM result", 1).rows == []
    workspace.run("ALTER TABLE temp.other RENAME TO result", 1)
    with pytest.raises(QueryError, match=r"Rename temp\.result"):
        workspace.run("SELECT 1", 1, earlier=stored)
    workspace.run("DROP TABLE temp.result", 1)
    assert workspace.run("SELECT * FROM result", 1, earlier=stored).rows == [(7,)]


def test_what_is_stored_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "MAX_STORED_ROWS", 3)
    monkeypatch.setattr(module, "MAX_TEMPORARY_BYTES", 1024 * 1024)
    workspace = Workspace()
    for sql, cut in (("VALUES (1), (2), (3)", False), ("VALUES (1), (2), (3), (4)", True)):
        found = workspace.run(sql, 10, store=True)
        assert (found.rows, len(found.stored), found.cut) == ([(1,), (2,), (3,)], 3, cut)
    with pytest.raises(QueryError, match="more than 1 MiB: select fewer"):
        workspace.run("SELECT randomblob(2000000)", 1, store=True)
    del found
    assert workspace.run("SELECT count(*) FROM sqlite_temp_schema", 1).rows == [(0,)]


def test_stored_rows_go_with_the_last_who_has_them():
    workspace = Workspace()
    found = workspace.run("SELECT 1", 1, store=True)
    temporary = "SELECT count(*) FROM sqlite_temp_schema"
    assert workspace.run(temporary, 1).rows == [(1,)]
    del found
    gc.collect()
    assert workspace.run(temporary, 1).rows == [(0,)]
    assert workspace.images() == {}
