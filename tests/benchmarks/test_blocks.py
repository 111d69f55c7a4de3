"""How the benchmark assigns memory to objects."""

from __future__ import annotations

from tests.benchmarks.blocks import BLOCK, Piece, figures_of, pieces, with_rest


def memory_of(words: dict[int, int], size: int = 1024) -> bytes:
    """Memory with these words, by address."""
    memory = bytearray(size)
    for address, word in words.items():
        memory[address : address + 4] = word.to_bytes(4, "little")
    return bytes(memory)


def test_code_is_told_apart_by_whether_it_runs() -> None:
    memory = memory_of({104: 7, 204: 7})
    rows = [(100, 60, 0, "code", "a", "one", 0), (200, 60, 0, "code", "b", "two", 0)]
    assert pieces(rows, memory, {"two"}) == [
        Piece(100, 160, "code that does not run", "a"),
        Piece(200, 260, "code that runs", "b"),
    ]


def test_an_object_that_was_made_later_is_left_out() -> None:
    assert pieces([(100, 60, 0, "str", "a", "", 0), (2000, 60, 0, "str", "a", "", 0)], memory_of({}), ()) == []


def test_the_table_of_a_container_is_elsewhere() -> None:
    memory = memory_of({104: 7, 100 + 24: 500})
    assert pieces([(100, 8 + 32 + 80, 8, "dict", "a", "", 0)], memory, ()) == [
        Piece(92, 132, "dict", "a"),
        Piece(500, 580, "dict", "a"),
    ]


def test_attributes_follow_their_object() -> None:
    memory = memory_of({104: 7, 100 + 16: 6})
    assert pieces([(100, 24, 8, "Thing", "a", "", 16)], memory, ()) == [Piece(92, 100 + 16 + 4 + 6 * 5, "Thing", "a")]


def test_pieces_do_not_overlap() -> None:
    memory = memory_of({104: 7, 124: 7})
    rows = [(120, 20, 0, "str", "a", "", 0), (100, 500, 0, "type", "a", "", 0)]
    assert pieces(rows, memory, ()) == [Piece(100, 120, "type", "a"), Piece(120, 140, "str", "a")]


def test_what_is_between_objects_has_a_kind_of_its_own() -> None:
    found = [Piece(64, 128, "str", "a"), Piece(256, 320, "dict", "a"), Piece(9000, 9064, "str", "a")]
    assert [(piece.start, piece.end, piece.kind) for piece in with_rest(found, bytes(13_000))] == [
        (0, 64, "static data"),
        (64, 128, "str"),
        (128, 256, "static data"),
        (256, 320, "dict"),
        (320, 4096, "between objects"),
        (4096, 8192, "native memory"),
        (8192, 9000, "between objects"),
        (9000, 9064, "str"),
        (9064, 12288, "between objects"),
        (12288, 13_000, "between objects"),
    ]


def test_no_byte_is_lost_or_counted_twice() -> None:
    found = [Piece(5000, 5100, "str", "a"), Piece(5100, 5200, "dict", "a"), Piece(16_000, 16_064, "str", "a")]
    whole = with_rest(found, bytes(20_000))
    assert [at for piece in whole for at in range(piece.start, piece.end)] == list(range(20_000))


def test_figures_add_up_and_say_what_is_written() -> None:
    noise = bytes((n * n * 31 + n) % 251 for n in range(40_000))
    memory = noise[:30_000] + bytes(10_000)
    found = [Piece(0, 20_000, "dict", "a"), Piece(20_000, 30_000, "code that runs", "b")]
    figures = list(figures_of(memory, found, {1, 20_000 // BLOCK}))
    by_name = {figure.name.removeprefix("snapshot: "): figure for figure in figures}
    assert by_name["module a"].peer == 20
    assert by_name["module b"].peer == 10
    assert by_name["module b"].peer_name == "in memory; written 0.0, code that runs 10.0"
    assert by_name["module none"].peer == 0, "zeros are not in a snapshot"
    kinds = [figure for figure in figures if "module" not in figure.name]
    assert sum(figure.peer or 0 for figure in kinds) == 30
    assert all(figure.ours < (figure.peer or 1) + 1 for figure in figures)
