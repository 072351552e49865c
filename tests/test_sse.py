"""The event stream decoder, held against a model of it: split the whole stream into lines, then read each."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import pairwise

import attrs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcp_sansio import Limits
from mcp_sansio.codec import STDLIB
from mcp_sansio.framing import HEAD_BYTES
from mcp_sansio.jsonrpc import peek
from mcp_sansio.sse import (
    MAX_RETRY,
    EventStreamDecoder,
    OverlongEvent,
    ServerSentEvent,
    encode_comment,
    encode_event,
)

from .timing import assert_linear

quick = settings(deadline=None)

Event = ServerSentEvent | OverlongEvent
BOM = b"\xef\xbb\xbf"
MESSAGE = b'{"jsonrpc":"2.0","id":1,"result":{"t":"a\xc2\x85b\xe2\x80\xa8c"}}'
PLENTY = 10**6


@attrs.frozen
class Read:
    """All that a decoder says of a stream."""

    events: list[Event]
    last_event_id: str | None
    retry: int | None
    cut: bool


def model(stream: bytes, limit: int) -> Read:
    *lines, tail = re.split(rb"\r\n|\r|\n", stream.removeprefix(BOM))
    read = Read([], None, None, False)
    data: list[bytes] = []
    event, id, long = b"", None, False
    for line in lines:
        if not line:
            if id is not None:
                read = attrs.evolve(read, last_event_id=id.decode(errors="replace"))
            kind, joined = event.decode(errors="replace") or "message", b"\n".join(data)
            if long or len(joined) > limit:
                read.events.append(OverlongEvent(joined[:limit][:HEAD_BYTES], kind, read.last_event_id))
            elif data:
                text = joined.decode(errors="surrogateescape")
                read.events.append(ServerSentEvent(text, kind, read.last_event_id))
            data, event, id, long = [], b"", None, False
            continue
        name, _, value = line.partition(b":")
        if value[:1] == b" ":
            value = value[1:]
        if name == b"data":
            data.append(value)
        elif name in (b"event", b"id", b"retry") and len(value) > limit:
            long = True
        elif name == b"event":
            event = value
        elif name == b"id" and b"\0" not in value:
            id = value
        elif name == b"retry" and re.fullmatch(rb"[0-9]+", value):
            read = attrs.evolve(read, retry=int(min(Decimal(value.decode()), MAX_RETRY)))
    unfinished = bool(tail) and not tail.startswith(b":")
    return attrs.evolve(read, cut=bool(data or event or id is not None or long or unfinished))


def feed(stream: bytes, limit: int = PLENTY, cuts: list[int] | None = None) -> Read:
    decoder = EventStreamDecoder(limit)
    events: list[Event] = []
    for start, end in pairwise([0, *sorted(cuts or []), len(stream)]):
        events += decoder.receive_data(stream[start:end])
        assert decoder.buffered <= 2 * limit + len(b"event: ") + 1
    last_event_id, retry = decoder.last_event_id, decoder.retry
    cut = decoder.receive_eof()
    assert decoder.buffered == 0
    assert not decoder.receive_eof()
    assert (decoder.last_event_id, decoder.retry) == (last_event_id, retry)
    return Read(events, last_event_id, retry, cut)


def events_of(stream: bytes, limit: int = PLENTY) -> list[Event]:
    return feed(stream, limit).events


LINE_ENDS = st.sampled_from([b"\n", b"\r", b"\r\n"])
PIECES = st.sampled_from(
    [
        b"\n\n",
        b"\r\n\r\n",
        b"data",
        b"data:",
        b"data: x\n",
        b"data:  \xc2\x85y\xe2\x80\xa8\r",
        b"event",
        b"event: endpoint\r\n",
        b"id",
        b"id: 7\n",
        b"id: \0\n",
        b"retry: 00050\n",
        b"retry: 99999999999\n",
        b"retry: 1e3\n",
        b":",
        b": keep-alive\n",
        b"unknown: z\n",
        b"Data: z\n",
        b" ",
        b"\0",
        BOM,
        MESSAGE,
        b"\xff",
    ]
)
STREAMS = st.lists(PIECES | LINE_ENDS | st.binary(max_size=9), max_size=30).map(b"".join)
CUTS = st.lists(st.integers(0, 200), max_size=12)


@quick
@given(STREAMS, CUTS, st.integers(0, 40) | st.just(PLENTY))
@example(b"data: B\r\ndata: C\n\n", [8, 8], PLENTY)  # nothing between CR and LF
@example(b"data: A\r\ndata: B\r\ndata: C\r\n\r\n", [9, 17, 18], PLENTY)
@example(BOM + b"data: x\n\n", [1, 2], PLENTY)
@example(BOM + BOM + b"data: x\n\n", [4], PLENTY)  # one only
@example(b"\xef\xbbdata: x\n\ndata: y\n\n", [1, 2], PLENTY)
@example(b"data: x\r\r\ndata: y\n\n", [8, 9], PLENTY)
@example(b"id: 12345678\ndata: a\ndata: b\n\n", [], 5)  # what is too long isn't the data
@example(b"data: 123456\nid: 7\n\n", [7], 5)
@example(b"data: 1234\ndata:\n\n", [], 5)  # as long as the limit, with the LF between the lines
@example(b"data: 1234\ndata: 5\n\n", [], 5)
@example(b"data: 12345678901234567890", [9], 5)
@example(b"unknown: 12345678901234567890\ndata: x\n\n", [9], 5)
@example(b"retry: " + b"0" * 5000 + b"7\n", [], PLENTY)
@example(b"retry: " + b"9" * 5000 + b"\n", [], PLENTY)
def test_any_chunking_reads_as_the_model_does(stream: bytes, cuts: list[int], limit: int) -> None:
    assert feed(stream, limit, [min(cut, len(stream)) for cut in cuts]) == model(stream, limit)


@quick
@given(STREAMS)
def test_byte_by_byte_is_the_same(stream: bytes) -> None:
    assert feed(stream, cuts=list(range(len(stream)))) == feed(stream)


def test_any_buffer_is_taken() -> None:
    for stream in (bytearray(b"data: x\n\n"), memoryview(b"data: x\n\n")):
        assert EventStreamDecoder(PLENTY).receive_data(stream) == [ServerSentEvent("x")]


# What an event is


def test_sse_005_only_cr_and_lf_end_lines() -> None:
    [event] = events_of(b"data: " + MESSAGE + b"\n\n")
    assert isinstance(event, ServerSentEvent)
    assert STDLIB.decode(event.data_bytes, Limits())["result"] == {"t": "a\u0085b\u2028c"}


def test_sse_112_a_cr_ends_its_line_at_once_and_swallows_one_lf() -> None:
    decoder = EventStreamDecoder(PLENTY)
    assert decoder.receive_data(b"data: A\r\n") == []
    assert decoder.receive_data(b"data: B\r") == []
    assert decoder.receive_data(b"\ndata: C\r\n") == []
    assert decoder.receive_data(b"\r") == [ServerSentEvent("A\nB\nC")]  # without waiting for the LF
    assert decoder.receive_data(b"") == []
    assert decoder.receive_data(b"\ndata: D\n\n") == [ServerSentEvent("D")]


def test_sse_114_data_lines_are_joined_and_lose_one_space() -> None:
    assert events_of(b'data: {"jsonrpc":"2.0","id":2,\ndata:"result":{}}\ndata:  x\n\n') == [
        ServerSentEvent('{"jsonrpc":"2.0","id":2,\n"result":{}}\n x')
    ]


@pytest.mark.parametrize(
    ("stream", "events", "last_event_id"),
    [
        (b"id: 123\ndata: \n\n", [ServerSentEvent("", id="123")], "123"),
        (b"id: 123\nretry: 1000\ndata:\n\n", [ServerSentEvent("", id="123")], "123"),
        (b"data\n\n", [ServerSentEvent("")], None),
        (b"id: x\n\n", [], "x"),
        (b"id: x\n\ndata: 1\n\n", [ServerSentEvent("1", id="x")], "x"),
        (b"id: x\n\nid\ndata: 1\n\n", [ServerSentEvent("1", id="")], ""),
        (b"id: x\nid: a\0b\n\n", [], "x"),
        (b"id: x\n", [], None),
    ],
)
def test_sse_115_ids_are_recorded_and_priming_events_have_empty_data(
    stream: bytes, events: list[Event], last_event_id: str | None
) -> None:
    read = feed(stream)
    assert (read.events, read.last_event_id) == (events, last_event_id)


def test_sse_118_comments_and_unknown_fields_give_nothing() -> None:
    stream = b': keep-alive\n\n:\r\nunknown: 1\n\nevent: ping\ndata: x\n\ndata: {"type":"heartbeat"}\n\n'
    assert events_of(stream) == [ServerSentEvent("x", "ping"), ServerSentEvent('{"type":"heartbeat"}')]


def test_the_type_is_that_of_its_event_only() -> None:
    assert events_of(b"event: a\nevent: b\ndata: 1\n\ndata: 2\n\nevent: c\n\ndata: 3\n\nevent:\ndata: 4\n\n") == [
        ServerSentEvent("1", "b"),
        ServerSentEvent("2"),
        ServerSentEvent("3"),
        ServerSentEvent("4"),
    ]


@pytest.mark.parametrize(
    ("stream", "cut"),
    [
        (b"", False),
        (BOM, False),
        (b"data: x\n\n", False),
        (b": comm", False),
        (b": " + b"comm" * 10, False),
        (b"retry: 5\n", False),
        (b'data: {"jsonrpc":"2.0","id":1,"result":{}}\n', True),
        (b"data: x\n\ndat", True),
        (b"id: 5\n", True),
        (b"event: e\n", True),
        (b"\xef\xbb", True),
        (b"data: " + b"x" * 50, True),
    ],
)
def test_sse_120_an_event_without_its_blank_line_is_cut(stream: bytes, cut: bool) -> None:
    assert feed(stream, 20).cut is cut


@pytest.mark.parametrize(
    ("value", "retry"),
    [
        (b"60000", 60000),
        (b"0", 0),
        (b"007", 7),
        (b"2147483648", MAX_RETRY),
        (b"abc", None),
        (b"-1", None),
        (b"1e3", None),
        (b"1.5", None),
        (b" 5", None),
        (b"", None),
        ("٣".encode(), None),
    ],
)
def test_sse_121_retry_is_ascii_digits_and_bounded(value: bytes, retry: int | None) -> None:
    assert feed(b"retry: " + value + b"\n").retry == retry


def test_bytes_that_are_not_utf_8_are_kept_for_the_codec_to_refuse() -> None:
    [event] = events_of(b'data: {"t":"\xff\xc3"}\n\n')
    assert isinstance(event, ServerSentEvent)
    assert event.data_bytes == b'{"t":"\xff\xc3"}'
    with pytest.raises(ValueError, match="start byte"):
        STDLIB.decode(event.data_bytes, Limits())


def test_ids_and_types_that_are_not_utf_8_are_read_as_browsers_do() -> None:
    assert events_of(b"id: \xff\nevent: \xff\ndata: x\n\n") == [ServerSentEvent("x", "\ufffd", "\ufffd")]


# Limits


def test_an_event_over_the_limit_costs_one_event_and_is_skipped_exactly() -> None:
    long = b'data: {"jsonrpc":"2.0","id":7,"result":{"x":"' + b"y" * 9000 + b'"}}\n'
    stream = b"data: a\n\nid: 1\nevent: message\n" + long + b"data: {}\n\ndata: b\n\n"
    a, overlong, b = feed(stream, 5000, list(range(0, len(stream), 100))).events
    assert (a, b) == (ServerSentEvent("a"), ServerSentEvent("b", id="1"))
    assert isinstance(overlong, OverlongEvent)
    assert len(overlong.head) == HEAD_BYTES
    assert (overlong.event, overlong.id) == ("message", "1")
    assert peek(overlong.head).id == 7


@pytest.mark.parametrize("field", [b"data", b"event", b"id", b"retry"])
def test_each_value_may_be_as_long_as_the_limit(field: bytes) -> None:
    [event] = events_of(b"data:\n" + field + b": " + b"1" * (9 if field == b"data" else 10) + b"\n\n", 10)
    assert isinstance(event, ServerSentEvent)
    [event] = events_of(b"data:\n" + field + b": " + b"1" * 11 + b"\n\n", 10)
    assert isinstance(event, OverlongEvent)
    assert events_of(b"data:\nother: " + b"1" * 999 + b"\n:" + b"1" * 999 + b"\n\n", 10) == [ServerSentEvent("")]


def in_chunks(stream: bytes, size: int, limit: int = PLENTY) -> None:
    decoder = EventStreamDecoder(limit)
    for start in range(0, len(stream), size):
        decoder.receive_data(stream[start : start + size])


@pytest.mark.parametrize("limit", [100, 10**9])
@pytest.mark.parametrize(
    "unit",
    [b"x", b"\r", b"data\n", b"data: x\r\n\r\n", b":x", b"id: 1\n"],
    ids=["one value", "line ends", "lines", "events", "a comment", "ids"],
)
def test_time_is_linear(unit: bytes, limit: int) -> None:
    first = b"" if unit.startswith(b":") else b"data: "
    assert_linear(lambda n: in_chunks(first + unit * n, 7, limit), 10_000)


def test_one_large_value_is_linear() -> None:
    assert_linear(lambda n: in_chunks(b"data: " + b"x" * n + b"\n\n", 1000, 10**9), 1_000_000)


# Writing

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAMES = TEXTS.map(lambda text: re.sub("[\r\n\0]", "", text))
WRITTEN = st.tuples(TEXTS, st.none() | NAMES, st.none() | NAMES, st.none() | st.integers(0, 10**12))


@quick
@given(st.lists(WRITTEN | TEXTS), CUTS)
@example([("a\r\nb\rc\n", None, None, None), ("", "", "", 0)], [])
@example([("x", "e", " i", None), "comment\nid: 1\r\ndata: x"], [])
def test_what_is_written_is_read_back(items: list[tuple[str, str, str, int] | str], cuts: list[int]) -> None:
    stream = b""
    expected = Read([], None, None, False)
    for item in items:
        if isinstance(item, str):
            stream += encode_comment(item)
            continue
        data, event, id, retry = item
        stream += encode_event(data, event=event, id=id, retry=retry)
        last = expected.last_event_id if id is None else id
        expected.events.append(ServerSentEvent(re.sub("\r\n|\r", "\n", data), event or "message", last))
        read_retry = expected.retry if retry is None else min(retry, MAX_RETRY)
        expected = attrs.evolve(expected, last_event_id=last, retry=read_retry)
    assert feed(stream, cuts=[min(cut, len(stream)) for cut in cuts]) == expected


@quick
@given(st.binary())
def test_data_is_written_byte_by_byte(data: bytes) -> None:
    [event] = events_of(encode_event(data))
    assert isinstance(event, ServerSentEvent)
    assert event.data_bytes == re.sub(b"\r\n|\r", b"\n", data)


def test_how_it_is_written() -> None:
    assert encode_event('{"a":1}') == b'data: {"a":1}\n\n'
    assert encode_event("", id="e1", retry=500) == b"id: e1\nretry: 500\ndata: \n\n"
    assert encode_event("/messages", event="endpoint") == b"event: endpoint\ndata: /messages\n\n"
    assert encode_comment() == b":\n"
    assert encode_comment("one\ntwo") == b": one\n: two\n"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"event": "a\nb"}, "type"),
        ({"event": "a\rb"}, "type"),
        ({"id": "a\nb"}, "id"),
        ({"id": "a\rb"}, "id"),
        ({"id": "a\0b"}, "NUL"),
        ({"retry": -1}, "milliseconds"),
        ({"id": "\ud800"}, "surrogates"),
    ],
)
def test_what_cannot_be_written_is_refused(fields: dict[str, str | int], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        encode_event("x", **fields)  # type: ignore[arg-type] # some of them, of either type
