"""Recordings: what a recorder writes is what it was given, and no line but a record is taken for one."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_sansio import LocalProtocolError, Reason, Side
from mcp_sansio.recording import Chunk, Ended, Record, Recorder, RecordError, read_record, write_record

CLIENT, SERVER = Side.CLIENT, Side.SERVER

sides = st.sampled_from(Side)
texts = st.text().map(str.encode)
data = st.binary() | texts | st.tuples(texts, st.integers(0, 3)).map(lambda cut: cut[0][: -cut[1] or None])
times = st.none() | st.floats(allow_nan=False, allow_infinity=False)
records = st.builds(Chunk, sides, data, times) | st.builds(Ended, sides, st.sampled_from(["eof", "exit"]), times)


@given(records)
def test_what_is_written_is_read(record: Record) -> None:
    line = write_record(record)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert [read_record(form) for form in (line, line[:-1], line.decode())] == [record] * 3


@given(st.lists(st.tuples(sides, data)), st.none() | st.integers(0, 1000))
def test_the_chunks_are_exactly_the_bytes(sent: list[tuple[Side, bytes]], t: int | None) -> None:
    recorder = Recorder()
    recording = b"".join(recorder.data(side, chunk, t) for side, chunk in sent)
    read = [read_record(line) for line in recording.split(b"\n")[:-1]]
    assert [(record.sender, record.data) for record in read if isinstance(record, Chunk)] == sent


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (Chunk(CLIENT, b'{"a": "\xc3\xa5"}\n'), '{"from":"client","text":"{\\"a\\": \\"å\\"}\\n"}'),
        (Chunk(SERVER, b"\xc3", 0.5), '{"from":"server","t":0.5,"b64":"ww=="}'),
        (Chunk(SERVER, "\ufeff\u2028\0".encode()), '{"from":"server","text":"\ufeff\u2028\\u0000"}'),
        (Chunk(CLIENT, b""), '{"from":"client","text":""}'),
        (Ended(CLIENT, "eof", 2), '{"from":"client","t":2,"event":"eof"}'),
        (Ended(SERVER, "exit"), '{"from":"server","event":"exit"}'),
    ],
)
def test_the_lines(record: Record, line: str) -> None:
    assert write_record(record).decode() == f"{line}\n"
    assert read_record(line) == record


# Reading what others wrote

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
odd = scalars | st.lists(scalars, max_size=2) | st.just({}) | st.sampled_from(["client", "eof", "YQ==", "YQ", 10**400])
members = st.dictionaries(st.sampled_from(["from", "text", "b64", "event", "t", "more"]), odd)


@given(st.binary() | st.text(st.characters(exclude_categories=())) | members.map(json.dumps))
def test_no_line_crashes(line: bytes | str) -> None:
    try:
        record = read_record(line)
    except RecordError as error:
        assert str(error)
    else:
        assert read_record(write_record(record)) == record


@given(records, st.dictionaries(st.text(min_size=6), st.none() | st.booleans() | st.text() | st.just([{}])))
def test_members_with_other_names_are_ignored(record: Record, more: dict[str, Any]) -> None:
    assert read_record(json.dumps({**more, **json.loads(write_record(record))})) == record


NOT_JSON = "a JSON object is expected, found what is not JSON: "
FROM = 'from must be "client" or "server", not '
ONE = "exactly one of text, b64 and event is expected, found "
TIME = "t must be a finite number of seconds, not "
LONG = "x" * 50


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("", NOT_JSON),
        ('{"from":"client","text":', NOT_JSON),
        (b"\xff", NOT_JSON),
        ('{"from":"client","text":"a","text":"b"}', f'{NOT_JSON}a member is named twice: "text"'),
        ("\ud800", "a JSON object is expected, found text with a lone surrogate"),
        ("[]", "a JSON object is expected, found an array"),
        ("7", "a JSON object is expected, found 7"),
        ('{"text":""}', 'from is missing: it must be "client" or "server"'),
        ('{"from":"Client","text":""}', f'{FROM}"Client"'),
        ('{"from":["client"],"text":""}', f"{FROM}an array"),
        (f'{{"from":"{LONG}","text":""}}', f'{FROM}"{LONG[:36]}...'),
        ('{"from":"client"}', f"{ONE}none"),
        ('{"from":"client","text":"","event":"eof"}', f"{ONE}text and event"),
        ('{"from":"client","text":null}', "text must be a string, not null"),
        ('{"from":"client","b64":{}}', "b64 must be a string, not an object"),
        ('{"from":"client","b64":"YQ"}', 'b64 must be base64 with its padding, not "YQ": '),
        ('{"from":"client","b64":"é"}', 'b64 must be base64 with its padding, not "é": '),
        ('{"from":"client","b64":"Y-8="}', 'b64 must be base64 with its padding, not "Y-8=": '),
        ('{"from":"client","event":"EOF"}', 'event must be "eof" or "exit", not "EOF"'),
        ('{"from":"client","event":true}', "event must be a string, not true"),
        ('{"from":"client","text":"","t":"1"}', f'{TIME}"1"'),
        ('{"from":"client","text":"","t":true}', f"{TIME}true"),
        ('{"from":"client","text":"","t":null}', f"{TIME}null"),
        (f'{{"from":"client","text":"","t":{10**400}}}', f"{TIME}1{'0' * 36}..."),
    ],
)
def test_what_is_wrong_is_said(line: str | bytes, error: str) -> None:
    with pytest.raises(RecordError) as caught:
        read_record(line)
    assert str(caught.value).startswith(error)
    assert error.endswith(": ") or str(caught.value) == error


# The recorder


def test_times_are_relative_to_the_first_and_never_go_backwards() -> None:
    recorder = Recorder()
    lines = [
        recorder.data(CLIENT, b"a", 1000.25),
        recorder.data(SERVER, b"b", 1000.75),
        recorder.data(CLIENT, b"c", 1000.5),
        recorder.eof(CLIENT, 1001.25 + 1e-9),
        recorder.exit(1002.25),
    ]
    assert [read_record(line) for line in lines] == [
        Chunk(CLIENT, b"a", 0),
        Chunk(SERVER, b"b", 0.5),
        Chunk(CLIENT, b"c", 0.5),
        Ended(CLIENT, "eof", 1),
        Ended(SERVER, "exit", 2),
    ]


def test_without_times() -> None:
    recorder = Recorder()
    lines = [recorder.data(CLIENT, b"a"), recorder.eof(SERVER), recorder.exit()]
    assert b'"t"' not in b"".join(lines)


@given(st.lists(st.floats()))
def test_a_time_that_is_refused_changes_nothing(clock: list[float]) -> None:
    recorder, last = Recorder(), -1.0
    for t in clock:
        try:
            record = read_record(recorder.eof(CLIENT, t))
        except LocalProtocolError as error:
            assert error.reason is Reason.INVALID_TIME
        else:
            assert math.isfinite(t)
            assert record.t is not None
            assert record.t >= max(last, 0)
            last = record.t


@pytest.mark.parametrize("t", [math.nan, math.inf, -math.inf])
def test_times_are_finite(t: float) -> None:
    for write in (
        lambda: write_record(Ended(CLIENT, "eof", t)),
        lambda: Recorder().data(CLIENT, b"", t),
        lambda: Recorder().eof(CLIENT, t),
        lambda: Recorder().exit(t),
    ):
        with pytest.raises(LocalProtocolError) as caught:
            write()
        assert caught.value.reason is Reason.INVALID_TIME
