"""Databases: the allowed statements, and the stored images."""

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
