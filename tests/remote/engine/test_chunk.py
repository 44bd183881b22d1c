"""Chunks and their headers, which any publisher may have written."""

from hypothesis import given
from hypothesis import strategies as st

from agentwatch.remote.chunk import END, GAP, OFFSET, SEEN, Chunk, Ended, headers_of, piece_of
from tests.conftest import case

LARGEST = (1 << 53) - 1
DIGEST = "0123456789abcdef" * 4
NUMBERS = st.integers(0, LARGEST)
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), max_size=20).map(tuple)
FOREIGN = st.text(st.characters(codec=None, exclude_categories=()), max_size=200)
HEADERS = st.dictionaries(st.sampled_from([OFFSET, SEEN, GAP, END, "X"]), FOREIGN | NUMBERS.map(str))


@given(st.integers(0, LARGEST - 100), st.binary(max_size=99), PAIRS, PAIRS)
def test_a_chunk_is_read_as_it_was_written(offset: int, payload: bytes, seen: tuple, gaps: tuple) -> None:  # type: ignore[type-arg]
    """The headers of a chunk give the same chunk."""
    chunk = Chunk(offset, payload, seen, gaps)
    assert piece_of(headers_of(chunk), payload) == chunk


@given(NUMBERS, st.none() | st.integers(0, 255))
def test_an_end_is_read_as_it_was_written(size: int, code: int | None) -> None:
    """The headers of the end give the same end, with or without an exit code."""
    ended = Ended(size, code, DIGEST)
    assert piece_of(headers_of(ended), b"") == ended


@given(HEADERS, st.binary(max_size=20))
def test_headers_of_any_text_are_no_error(headers: dict[str, str], payload: bytes) -> None:
    """Whatever the headers are, they are a piece with numbers in range, or none."""
    piece = piece_of(headers, payload)
    if isinstance(piece, Chunk):
        assert 0 <= piece.offset <= piece.end <= LARGEST
        assert all(0 <= number <= LARGEST for pair in piece.seen + piece.gaps for number in pair)
    elif piece is not None:
        assert 0 <= piece.size <= LARGEST


def test_what_is_malformed_is_no_piece_and_no_error() -> None:
    """An offset or an end that is none is not a piece; other headers lose what is none."""
    # A message with such an offset is not a piece. A piece whose end is at 2^53 or above is not a piece. A
    # malformed end is not a piece, also beside an offset.
    for offset in (
        "",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1.0",
        "1e3",
        "0x1",
        "٣",
        "²",
        "9007199254740992",
        "9" * 16,
        "1" * 100_000,
        "\ud800",
    ):
        with case(f"{offset[:60]!r}"):
            assert piece_of({OFFSET: offset}, b"x") is None
    assert piece_of({OFFSET: str(LARGEST - 1)}, b"x") == Chunk(LARGEST - 1, b"x")
    assert piece_of({OFFSET: str(LARGEST)}, b"x") is None
    for end in (
        "",
        "1",
        f"1 0 {DIGEST} x",
        f"-1 0 {DIGEST}",
        f"1 0 {DIGEST.upper()}",
        f"1 0 {DIGEST[1:]}",
        "x" * 10**6,
    ):
        with case(f"{end[:60]!r}"):
            assert piece_of({END: end, OFFSET: "0"}, b"x") is None
    # An exit code above 255, or another text, is unknown. A header that ends anywhere gives the pairs before
    # the cut, of which only the last may be another.
    for code in ("-", "256", "-1", "x", "9" * 15):
        with case(code):
            assert piece_of({END: f"1 {code} {DIGEST}"}, b"") == Ended(1, None, DIGEST)
    pairs = tuple((number, 1770000000000 + number) for number in range(5))
    text = headers_of(Chunk(0, b"", pairs))[SEEN]
    for length in range(len(text)):
        piece = piece_of({OFFSET: "0", SEEN: text[:length]}, b"")
        assert isinstance(piece, Chunk)
        whole = text[:length].count(";")
        assert piece.seen[:whole] == pairs[:whole]
        assert len(piece.seen) <= whole + 1
    # The other pairs of a header count. Of a million pairs the first 512 count.
    for text, read in (
        ("1 2;x;3 4", ((1, 2), (3, 4))),
        ("1;2", ()),
        ("1 2 3;4 5", ((4, 5),)),
        (";;1 2;", ((1, 2),)),
        ("-1 2;1 -2;1 2.0", ()),
        ("\ud800 1;1 2", ((1, 2),)),
        ("1 9007199254740992", ()),
    ):
        with case(repr(text)):
            for name in (SEEN, GAP):
                piece = piece_of({OFFSET: "0", name: text}, b"")
                assert isinstance(piece, Chunk)
                assert (piece.seen, piece.gaps) == ((read, ()) if name == SEEN else ((), read))
    piece = piece_of({OFFSET: "0", SEEN: "1 2;" * 10**6}, b"")
    assert piece == Chunk(0, b"", ((1, 2),) * 512)
