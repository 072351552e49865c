"""The line decoder, held against a model of it: split the whole stream at LF, then look at each line."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcp_sansio.framing import HEAD_BYTES, Line, LineDecoder, OverlongLine, UnterminatedLine

from .timing import assert_linear, least_time

quick = settings(deadline=None)

Found = list[Line | OverlongLine | UnterminatedLine]

PING = b'{"jsonrpc":"2.0","id":9,"method":"ping"}'


def model(stream: bytes, limit: int) -> Found:
    *whole, tail = stream.split(b"\n")
    found: Found = []
    for line in whole:
        if len(line) > limit:
            found.append(OverlongLine(line[: min(limit, 4096)]))
        elif not is_blank(line):
            found.append(Line(line))
    if len(tail) > limit:
        found.append(OverlongLine(tail[: min(limit, 4096)]))
    elif not is_blank(tail):
        found.append(UnterminatedLine(tail))
    return found


def is_blank(line: bytes) -> bool:
    if line.startswith(b"\xef\xbb\xbf"):
        line = line[3:]
    return all(byte in b" \t\r" for byte in line)


def feed(stream: bytes, limit: int, cuts: list[int]) -> Found:
    decoder = LineDecoder(limit)
    edges = [0, *sorted(cuts), len(stream)]
    found: Found = []
    for start, end in pairwise(edges):
        found += decoder.receive_data(stream[start:end])
        assert decoder.buffered <= limit
    found += decoder.receive_eof()
    assert decoder.buffered == 0
    return found


PIECES = st.sampled_from(
    [
        b"\n",
        b"\r",
        b" ",
        b"\t",
        b"{",
        b"}",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
        b"\xc2\x85",
        b"\x0b",
        b"\x0c",
        PING,
    ]
)
STREAMS = st.lists(PIECES | st.binary(max_size=9) | st.just(b"\n"), max_size=30).map(b"".join)
LIMITS = st.integers(0, 60)


@st.composite
def streams_and_cuts(draw: st.DrawFn) -> tuple[bytes, list[int]]:
    stream = draw(STREAMS)
    return stream, draw(st.lists(st.integers(0, len(stream)), max_size=8))


@quick
@given(streams_and_cuts(), LIMITS)
@example((b"\xef\xbb\xbf \r\n", [1, 2]), 10)
@example((b"abc\nd", []), 3)
@example((b"abcd\nd", [3]), 3)
@example((b"abcd\nd", [4]), 3)
def test_any_chunking_gives_the_same_lines(split: tuple[bytes, list[int]], limit: int) -> None:
    stream, cuts = split
    assert feed(stream, limit, cuts) == model(stream, limit)


@quick
@given(STREAMS, LIMITS)
def test_byte_by_byte_gives_the_same_lines(stream: bytes, limit: int) -> None:
    assert feed(stream, limit, list(range(len(stream)))) == model(stream, limit)


@quick
@given(streams_and_cuts(), LIMITS)
def test_a_snapshot_at_any_point_goes_on_alike(split: tuple[bytes, list[int]], limit: int) -> None:
    stream, cuts = split
    decoder = LineDecoder(limit)
    edges = [0, *sorted(cuts), len(stream)]
    found: Found = []
    for start, end in pairwise(edges):
        found += decoder.receive_data(stream[start:end])
        state = json.loads(json.dumps(decoder.snapshot()))
        restored = LineDecoder.restore(state, limit)
        assert restored.buffered == decoder.buffered
        assert restored.snapshot() == state
        decoder = restored
    assert found + decoder.receive_eof() == model(stream, limit)


@quick
@given(STREAMS, LIMITS, st.integers(0, 200))
def test_smuggling_is_impossible(inside: bytes, limit: int, cut: int) -> None:
    """What an overlong line holds is never a line, wherever it's cut."""
    long = b"x" * (limit + 1) + inside.replace(b"\n", b"") + PING
    after = b"{}\n" if limit >= 2 else b""
    found = feed(long + b"\n" + after, limit, [min(cut, len(long))])
    assert found == [OverlongLine(long[:limit]), *([Line(b"{}")] if after else [])]


@quick
@given(streams_and_cuts(), LIMITS, LIMITS)
def test_a_restored_decoder_minds_its_new_limit(split: tuple[bytes, list[int]], old: int, new: int) -> None:
    stream, cuts = split
    cut = max(cuts, default=0)
    before = LineDecoder(old)
    before.receive_data(stream[:cut])
    state = before.snapshot()
    after = LineDecoder.restore(state, new)
    found: Found = []
    found += after.receive_data(stream[cut:])
    found += after.receive_eof()
    line_start = stream.rfind(b"\n", 0, cut) + 1
    if state["skipping"]:  # its report came before the snapshot
        line_end = stream.find(b"\n", cut)
        assert found == ([] if line_end < 0 else model(stream[line_end + 1 :], new))
    else:
        assert found == model(stream[line_start:], new)


def test_only_a_line_feed_ends_a_line() -> None:
    line = "a\u2028b\u2029c\u0085d\x0be\x0cf\rg\x1ch\x1di\x1ej".encode()
    assert LineDecoder(99).receive_data(line + b"\n") == [Line(line)]


def test_a_carriage_return_stays() -> None:
    assert LineDecoder(99).receive_data(b"{}\r\n") == [Line(b"{}\r")]


@pytest.mark.parametrize("line", [b"", b"\r", b" \t\r", b"\xef\xbb\xbf", b"\xef\xbb\xbf \r"])
def test_blank_lines_give_nothing(line: bytes) -> None:
    decoder = LineDecoder(99)
    assert decoder.receive_data(line + b"\n" + PING + b"\n") == [Line(PING)]
    assert decoder.receive_data(line) == []
    assert decoder.receive_eof() == []


@pytest.mark.parametrize(
    "line",
    [b"XX", b"\x0b", b"\x0c", b"\x00", b"\xc2\xa0", b" \xef\xbb\xbf", b"\xef\xbb", b"\xef\xbb\xbf\xef\xbb\xbf"],
)
def test_other_lines_are_lines(line: bytes) -> None:
    decoder = LineDecoder(99)
    assert decoder.receive_data(line + b"\n") == [Line(line)]
    assert decoder.receive_data(line) == []
    assert decoder.receive_eof() == [UnterminatedLine(line)]


def test_pretty_printed_json_is_a_line_each() -> None:
    text = b'{\n  "jsonrpc": "2.0",\n  "id": 1,\n  "result": {}\n}\n'
    assert LineDecoder(99).receive_data(text) == [
        Line(b"{"), Line(b'  "jsonrpc": "2.0",'), Line(b'  "id": 1,'), Line(b'  "result": {}'), Line(b"}"),
    ]  # fmt: skip


def test_content_length_framing_ends_as_an_unterminated_line() -> None:
    decoder = LineDecoder(99)
    assert decoder.receive_data(b"Content-Length: 2\r\n\r\n{}") == [Line(b"Content-Length: 2\r")]
    assert decoder.receive_eof() == [UnterminatedLine(b"{}")]


def test_an_overlong_line_is_reported_when_it_passes_the_limit_after_the_lines_before_it() -> None:
    decoder = LineDecoder(4)
    assert decoder.receive_data(b"abc\nabcd") == [Line(b"abc")]
    assert decoder.buffered == 4
    assert decoder.receive_data(b"") == []
    assert decoder.receive_data(b"e") == [OverlongLine(b"abcd")]
    assert decoder.buffered == 0
    assert decoder.receive_data(b"f" * 100) == []
    assert decoder.receive_data(PING + b"\nabcd\nabcde\nz\n") == [
        Line(b"abcd"),
        OverlongLine(b"abcd"),
        Line(b"z"),
    ]


def test_an_overlong_line_is_reported_once_at_the_end_of_the_stream() -> None:
    decoder = LineDecoder(4)
    assert decoder.receive_data(b"abcdef") == [OverlongLine(b"abcd")]
    assert decoder.receive_eof() == []


def test_the_end_of_the_stream_ends_the_line() -> None:
    decoder = LineDecoder(4)
    decoder.receive_data(b"abcdef")
    assert decoder.receive_eof() == []
    assert decoder.receive_data(b"ab\n") == [Line(b"ab")]
    decoder.receive_data(b"cd")
    assert decoder.receive_eof() == [UnterminatedLine(b"cd")]
    assert decoder.receive_eof() == []


@pytest.mark.parametrize("chunk", [1, 1000, 4096, 4097, 10_000])
def test_little_is_kept_of_an_overlong_line(chunk: int) -> None:
    line = bytes(range(65, 91)) * 400
    decoder = LineDecoder(9000)
    found: Found = []
    for start in range(0, len(line), chunk):
        found += decoder.receive_data(line[start : start + chunk])
    assert found == [OverlongLine(line[:4096])]
    assert HEAD_BYTES == 4096


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_bytes_like_object_will_do(kind: Callable[[bytes], bytes | bytearray | memoryview]) -> None:
    decoder = LineDecoder(99)
    assert decoder.receive_data(kind(b"ab\nc")) == [Line(b"ab")]
    (tail,) = decoder.receive_eof()
    assert tail == UnterminatedLine(b"c")
    assert type(tail) is UnterminatedLine
    assert type(tail.data) is bytes


def test_a_slice_of_a_buffer_will_do() -> None:
    assert LineDecoder(99).receive_data(memoryview(b"a-\n-")[::2]) == [Line(b"a")]
    assert LineDecoder(99).receive_data(memoryview(b"a-b\n")[1:]) == [Line(b"-b")]


@pytest.mark.parametrize("data", ["{}\n", 5, None])
def test_what_is_not_bytes_is_refused_and_changes_nothing(data: object) -> None:
    decoder = LineDecoder(99)
    decoder.receive_data(b"a")
    with pytest.raises(TypeError):
        decoder.receive_data(data)  # type: ignore[arg-type]
    assert decoder.receive_eof() == [UnterminatedLine(b"a")]


def test_lines_do_not_change_with_the_caller_s_buffer() -> None:
    buffer = bytearray(b"ab\n")
    (line,) = LineDecoder(99).receive_data(buffer)
    buffer[0] = 0
    assert line == Line(b"ab")


def test_a_snapshot_is_plain_json() -> None:
    decoder = LineDecoder(4)
    decoder.receive_data(b"\xff\x00")
    assert decoder.snapshot() == {"buffer": "/wA=", "skipping": False}
    decoder.receive_data(b"abc")
    assert decoder.snapshot() == {"buffer": "", "skipping": True}


# Time -------------------------------------------------------------------------------------------------------


def one_long_line(size: int) -> None:
    decoder = LineDecoder(1 << 26)
    chunk = b"x" * 1024
    for _ in range(size):
        decoder.receive_data(chunk)
    (line,) = decoder.receive_data(b"\n")
    assert isinstance(line, Line)
    assert len(line.data) == size * 1024


def one_overlong_line(size: int) -> None:
    decoder = LineDecoder(1 << 20)
    chunk = b"x" * 1024
    found = [line for _ in range(size) for line in decoder.receive_data(chunk)]
    assert len(found) == 1


def many_lines_at_once(size: int) -> None:
    assert len(LineDecoder(99).receive_data(b"ab\n" * size)) == size


def blank_lines_at_once(size: int) -> None:
    assert LineDecoder(99).receive_data(b"\r\n" * size) == []


@pytest.mark.parametrize(
    ("run", "size"),
    [
        (one_long_line, 2000),
        (one_overlong_line, 5000),
        (many_lines_at_once, 40_000),
        (blank_lines_at_once, 40_000),
    ],
)
def test_time_is_linear(run: Callable[[int], object], size: int) -> None:
    assert_linear(run, size)


def test_a_chunk_costs_the_same_whatever_is_buffered() -> None:
    def bytewise(buffered: int) -> float:
        decoder = LineDecoder(1 << 26)
        decoder.receive_data(b"x" * buffered)
        return least_time(lambda: [decoder.receive_data(b"x") for _ in range(1000)])

    assert min(bytewise(1 << 23) for _ in range(5)) < 10 * min(bytewise(1 << 10) for _ in range(5))
