"""The judge: each mistake draws its rule once, on the right side, and nothing else; what is unknown draws nothing."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_sansio import LEGACY_REVISIONS, Level, Limits, Side
from mcp_sansio.judge import BINDING, Happening, Judge, Summary
from mcp_sansio.recording import Chunk, Ended, Record

from .pair import (
    JSON,
    MODERN,
    VERSION_KEY,
    encode,
    error,
    initialize,
    initialize_result,
    modern,
    notification,
    request,
    result,
)
from .recorded import (
    BEGUN_BEFORE,
    CANCELLED,
    CLIENT,
    GOOD,
    HARMLESS,
    HAS_TOOLS,
    LATEST,
    MISTAKES,
    NOT_INITIALIZED,
    OVER,
    PROGRESS,
    REAL,
    REST,
    SERVER,
    UNNAMED,
    WITHOUT_HANDSHAKE,
    called,
    client,
    drawn,
    judged,
    listed,
    opened,
    read,
    recording_of,
    server,
    without,
)
from .test_diagnosis import COMPLAINING, diagnosed
from .test_rules import WRONGS, Wrong

# One recording for each way to break a rule ---------------------------------------------------------------------------

PROVOKED = {"CAP-002": {"CAP-001", "LIB-009"}, "CAP-005": {"CAP-001", "LIB-009"}, "META-001": {"LIB-010"}}
"""Rules that the server can only break if the client has broken one, too."""


def cases() -> list[Any]:
    return [
        pytest.param(w, side, revision, id=f"{w.rule}-{w.name}-{side.value}-{revision}")
        for w in WRONGS
        for side, revision in w.cases
        if w.rule != "LIB-013"  # how much a side is ready to hold only that side knows
    ]


def settings_of(w: Wrong) -> dict[str, Any]:
    """The limits and extensions of the pair."""
    of_client = w.settings.get("client_settings", {})
    return {name: of_client[name] for name in ("limits", "spec") if name in of_client}


@pytest.mark.parametrize(("w", "side", "revision"), cases())
def test_a_broken_rule_is_found_on_the_right_side_and_no_other(w: Wrong, side: Side, revision: str) -> None:
    found = drawn(*recording_of(w, side, revision), **settings_of(w))
    assert [rule for rule, sender in found if sender is side] == [w.rule]
    assert {rule for rule, sender in found if sender is not side} <= PROVOKED.get(w.rule, set())


# What follows a mistake is judged as if it had been right -------------------------------------------------------------


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found_once(name: str) -> None:
    records, expected = MISTAKES[name]
    limits = Limits(frame_bytes=4096)
    assert drawn(*records, limits=limits) == expected


# What is unknown ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", BEGUN_BEFORE)
def test_a_recording_that_begins_in_the_middle_draws_nothing(how: str) -> None:
    judge, seen = judged(*BEGUN_BEFORE[how], *called(9), client(CANCELLED), server(PROGRESS))
    assert [each for each in seen if each.violations] == []
    assert "the beginning is missing" in [diagnosis.name for diagnosis in judge.diagnoses()]
    assert judge.summary.revision in (None, MODERN)


@pytest.mark.parametrize("how", WITHOUT_HANDSHAKE)
def test_a_client_that_skips_its_handshake_is_blamed_once(how: str) -> None:
    judge, seen = judged(*WITHOUT_HANDSHAKE[how])
    assert [(v.rule, each.sender) for each in seen for v in each.violations] == [("LIFE-001", CLIENT)]
    assert "the beginning is missing" not in [diagnosis.name for diagnosis in judge.diagnoses()]


def test_it_goes_on_after_that_as_in_a_session() -> None:
    assert drawn(listed()[0], server(NOT_INITIALIZED), server(result(77))) == [
        ("LIFE-001", CLIENT),
        ("RPC-002", SERVER),
    ]


def test_a_partial_recording_is_taken_as_one() -> None:
    cut = Chunk(SERVER, encode(listed()[1].data).partition(b"[")[2])  # type: ignore[union-attr]  # a chunk it is
    records = [cut, server(PROGRESS), listed()[0], server(NOT_INITIALIZED), server(b"Starting\n"), *called()]
    assert drawn(*records, whole=False) == [("FRAME-001", SERVER)]
    judge, _ = judged(*records, *opened(), *listed(7), whole=False)
    assert judge.summary.revision == LATEST
    assert drawn(*opened(capabilities={}), *listed(), whole=False) == [("CAP-001", CLIENT), ("CAP-002", SERVER)]


@pytest.mark.parametrize("revision", LEGACY_REVISIONS)
def test_in_an_unknown_revision_only_what_is_wrong_in_all_is_wrong(revision: str) -> None:
    served: dict[str, Record] = {
        "2024-11-05": client(request(5, "tools/list")),
        "2025-03-26": client([request(5, "ping"), request(6, "ping")]),
        "2025-06-18": server(request(5, "elicitation/create", {"message": "m", "requestedSchema": {}})),
        "2025-11-25": client(request(5, "tasks/list")),
    }
    assert drawn(served[revision], whole=False) == []
    assert drawn(client(request(5, "tools/call", {"name": 5})), whole=False) == [("LIB-003", CLIENT)]
    assert drawn(client(request(5, "roots/list")), whole=False) == [("LIB-006", CLIENT)]


@pytest.mark.parametrize("version", ["2030-01-01", "2024-10-07", 5])
def test_a_version_that_nobody_knows_is_any(version: JSON) -> None:
    asked = client(initialize("i", "2030-01-01"))
    records = [asked, server(initialize_result("i", version, capabilities=HAS_TOOLS)), *REST]
    expected = [("LIFE-006", SERVER)] if version == 5 else []
    assert drawn(*records) == expected
    judge, _ = judged(*records, client(CANCELLED))
    assert judge.summary.revision is None
    assert drawn(*records, client(CANCELLED)) == [*expected, ("CANC-001", CLIENT)]


ONE_SIDE = [
    *GOOD,
    client(request(3, "resources/list"), CANCELLED, result(9)),
    server(PROGRESS, request(1, "roots/list"), error(8)),
    client(notification("notifications/roots/list_changed")),
]


@pytest.mark.parametrize("side", Side)
def test_one_side_alone_is_judged_by_what_it_says_alone(side: Side) -> None:
    records = [record for record in ONE_SIDE if record.sender is side]
    assert drawn(*records, only=side) == []
    judge, _ = judged(*records, only=side)
    assert [diagnosis.name for diagnosis in judge.diagnoses()] == ["one side only"]
    assert drawn(Chunk(side, b"Hello\n"), only=side) == [("FRAME-001", side)]


def test_one_side_alone_can_break_rules() -> None:
    twice = client(modern(1, "tools/list"), modern(1, "tools/list"), request("a", "ping"), request("a", "ping"))
    assert drawn(twice, only=CLIENT) == [("RPC-009", CLIENT)]
    assert drawn(client(request(1, "initialize", UNNAMED)), only=CLIENT) == [("LIFE-002", CLIENT)]
    assert drawn(client(without(request(1, "ping"), "jsonrpc")), only=CLIENT) == [("RPC-001", CLIENT)]
    assert drawn(server(request(1, "tools/list")), only=SERVER) == [("LIB-006", SERVER)]
    no_version = modern(1, "tools/list")
    del no_version["params"]["_meta"][VERSION_KEY]
    assert drawn(client(no_version), only=CLIENT) == [("VER-009", CLIENT)]


# Eras -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_right_draws_nothing(name: str) -> None:
    assert drawn(*HARMLESS[name]) == []


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_official_clients_and_servers_draw_nothing(path: Any) -> None:
    judge, seen = judged(*read(path))
    assert [each for each in seen if each.violations] == []
    assert not judge.summary.broken
    assert judge.summary.revision in path.read_text()


def test_a_known_extension_is_judged() -> None:
    answered = HARMLESS["a request of an extension that nobody here knows"]
    plain = [client(modern(1, "tools/call", {"name": "slow"})), *answered[1:2]]
    assert drawn(*plain) == [("RPC-018", SERVER)]
    declared = [client(modern(2, "tasks/get", {"job": "j1"})), answered[3]]
    assert drawn(*declared) == [("LIB-010", CLIENT), ("META-001", SERVER)]
    refused = [answered[0], server(result(1, {"resultType": "complete"}))]
    assert drawn(*refused) == [("RPC-018", SERVER)]


# What is said of what happened ----------------------------------------------------------------------------------------


def test_observations_say_what_happened() -> None:
    records = [*opened(), *listed(), server(error(None, -32700)), server(b"hello\n"), *OVER]
    _, seen = judged(*records)
    told = [(each.record, each.t, each.sender, each.what, each.id, each.method) for each in seen]
    assert told == [
        (1, 0.0, CLIENT, Happening.REQUEST, "i", "initialize"),
        (2, 0.5, SERVER, Happening.RESULT, "i", "initialize"),
        (3, 0.6, CLIENT, Happening.NOTIFICATION, None, "notifications/initialized"),
        (4, 1.0, CLIENT, Happening.REQUEST, 1, "tools/list"),
        (5, 1.25, SERVER, Happening.RESULT, 1, "tools/list"),
        (6, None, SERVER, Happening.ERROR, None, None),
        (7, None, SERVER, Happening.INVALID, None, None),
        (8, 9.0, CLIENT, Happening.EOF, None, None),
        (9, 9.5, SERVER, Happening.EOF, None, None),
        (10, 9.75, SERVER, Happening.EXIT, None, None),
    ]
    assert seen[4].waited == 0.25
    assert seen[4].answered is not None
    assert (seen[4].answered.record, seen[4].answered.sender) == (4, CLIENT)
    assert seen[3].waited is None
    assert seen[6].data == b"hello"
    assert {each.revision for each in seen} == {LATEST}


def test_the_summary_counts() -> None:
    judge, _ = judged(*opened(), server(b"hello\n"), client(request(1, "resources/list")), server(result(9)), *OVER)
    assert judge.summary == Summary(
        LATEST, 9, 5, {(Level.MUST_NOT, SERVER): 1, (Level.MUST, CLIENT): 1, (Level.MUST, SERVER): 1}
    )
    assert judge.summary.levels == {Level.MUST_NOT: 1, Level.MUST: 2}
    assert judge.summary.broken


@pytest.mark.parametrize("level", Level)
def test_what_nobody_may_break(level: Level) -> None:
    assert Summary(None, 1, 1, {(level, CLIENT): 1}).broken is (level in BINDING)
    assert {Level.MUST, Level.MUST_NOT, Level.JSONRPC} == BINDING


def test_records_may_be_numbered_by_others() -> None:
    judge = Judge()
    first, second = encode(initialize("i"))[:20], encode(initialize("i"))[20:]
    seen = [judge.receive(Chunk(CLIENT, first), 7), judge.receive(Chunk(CLIENT, second), 7)]
    assert [each.record for each in seen[1]] == [7]
    assert judge.summary.records == 1
    assert judge.receive(Ended(CLIENT, "eof"))[0].record == 8


def test_what_is_unsure_comes_late_and_in_order() -> None:
    judge = Judge()
    asked, answered = listed()
    assert judge.receive(asked) == []
    assert judge.receive(server(notification("vendor/a"))) == []
    assert [each.method for each in judge.receive(answered)] == ["tools/list", "vendor/a", "tools/list"]
    assert judge.receive(server(b"{\n")) == []
    assert [each.record for each in judge.receive(server(b"x}\n"))] == [4, 5]
    assert judge.finish() == judge.finish() == []


# Any recording --------------------------------------------------------------------------------------------------------

RECORDINGS = [
    *(records for records, _ in MISTAKES.values()),
    *(records for _, records, _ in COMPLAINING),
    *BEGUN_BEFORE.values(),
    *WITHOUT_HANDSHAKE.values(),
    *(records for name, records in HARMLESS.items() if name != "answers to what was given up"),
    *(list(recording_of(w, *w.cases[-1])) for w in WRONGS),
]


def verdicts(records: list[Record], **settings: Any) -> tuple[list[Any], list[Any]]:
    """What is said whatever the records' numbers and times."""
    _, seen = judged(*records, **settings)
    told = [(each.sender, each.what, each.id, each.method, each.violations, each.message, each.detail) for each in seen]
    return told, sorted(name for name in diagnosed(*records))


def split(records: list[Record], sizes: list[int]) -> list[Record]:
    """The records with their chunks cut."""
    found: list[Record] = []
    turn = iter(sizes * 10_000)
    for record in records:
        if isinstance(record, Ended):
            found.append(record)
            continue
        data = record.data
        while data:
            size = next(turn)
            found.append(Chunk(record.sender, data[:size], record.t))
            data = data[size:]
    return found


@given(st.sampled_from(RECORDINGS), st.lists(st.integers(1, 60), min_size=1, max_size=5))
def test_any_chunking_gives_the_same_verdicts(records: list[Record], sizes: list[int]) -> None:
    assert verdicts(split(records, sizes)) == verdicts(records)


@given(st.sampled_from(RECORDINGS))
def test_times_change_no_verdict(records: list[Record]) -> None:
    assert verdicts([attrs.evolve(record, t=None) for record in records]) == verdicts(records)
    assert verdicts([attrs.evolve(record, t=-float(n)) for n, record in enumerate(records)]) == verdicts(records)


lines = st.sampled_from(
    [
        line
        for records in RECORDINGS
        for record in records
        if isinstance(record, Chunk)
        for line in record.data.splitlines(True)
    ]
)
chunks = st.builds(Chunk, st.sampled_from(Side), st.binary(max_size=30) | lines | lines.map(lambda line: line[:-1]))
endings = st.builds(Ended, st.sampled_from(Side), st.sampled_from(["eof", "exit"]))


@given(
    st.lists(chunks | chunks | chunks | endings, max_size=40),
    st.booleans(),
    st.sampled_from([None, None, *Side]),
)
def test_nothing_that_comes_raises(records: list[Record], whole: bool, only: Side | None) -> None:
    records = [record for record in records if only in (None, record.sender)]
    judge, seen = judged(*records, whole=whole, only=only)
    assert judge.summary.messages == sum(each.message is not None for each in seen)
    assert all(diagnosis.words for diagnosis in judge.diagnoses())
    assert judge.finish() == []


ENDLESS: dict[str, Callable[[int], Record]] = {
    "requests never answered": lambda n: client(request(n, "tools/call", {"name": f"tool {n}"})),
    "answers to nothing": lambda n: server(result(f"x{n}")),
    "log lines": lambda n: server(f"log {n}\n".encode()),
    "lines that begin like a message": lambda n: server(b"{" + b" " * 500 + b"\n"),
    "tokens": lambda n: client(request(n, "ping", {"_meta": {"progressToken": f"{n}"}})),
    "a line without end": lambda n: server(b"x" * 100),
    "sessions": lambda n: ([Ended(SERVER, "exit"), client(initialize(n)), listed()[0]])[n % 3],
}


@pytest.mark.parametrize("what", ENDLESS)
def test_memory_is_bounded(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_sansio.judge.judge._OPEN", 50)
    judge = Judge(limits=Limits(remembered_ids=50, frame_bytes=1000))
    for record in [*opened(), *listed()]:
        judge.receive(record)

    def run(numbers: range) -> int:
        for number in numbers:
            judge.receive(ENDLESS[what](number))
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before, after = run(range(10, 1500)), run(range(1500, 3500))
    finally:
        tracemalloc.stop()
    assert after < before + 60_000
