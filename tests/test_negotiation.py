"""Every pair of supported-revision sets: the outcome is what a short reference function says."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Literal

import pytest

from mcp_sansio import (
    ALL_REVISIONS,
    ClientConnection,
    ConnectionState,
    FailureReason,
    Negotiated,
    NegotiationFailed,
    ServerConnection,
)
from mcp_sansio.connection.negotiation import INITIALIZES, NEXT, PROBES, Outcome, Step, choose_legacy_version

from .samples import CLIENT_INFO, SERVER_INFO

Era = Literal["auto", "legacy", "modern"]
SETS = [frozenset(s) for s in chain.from_iterable(combinations(ALL_REVISIONS, n) for n in range(1, 6))]
MODERN = "2026-07-28"


def reference(era: Era, client: frozenset[str], server: frozenset[str]) -> str | FailureReason:
    """What the two should come to, in a few lines and without the library's tables."""
    probes = MODERN in client and era != "legacy"
    legacy = sorted(client - {MODERN}) if era != "modern" else []
    if probes and MODERN in server:
        return MODERN
    if not legacy:
        return FailureReason.REFUSED
    if server == {MODERN}:
        return FailureReason.NO_COMMON_VERSION
    theirs = sorted(server - {MODERN})
    asked = legacy[-1]
    answered = asked if asked in theirs else max([v for v in theirs if v < asked], default=theirs[-1])
    return answered if answered in legacy else FailureReason.NO_COMMON_VERSION


def negotiate(client: ClientConnection, server: ServerConnection) -> Negotiated | NegotiationFailed:
    client.connect()
    outcome: list[Negotiated | NegotiationFailed] = []
    while data := client.data_to_send():
        for event in server.receive_data(data):
            assert event.violations == ()
        for received in client.receive_data(server.data_to_send()):
            assert received.violations == ()
            if isinstance(received, Negotiated | NegotiationFailed):
                outcome.append(received)
    (only,) = outcome
    return only


@pytest.mark.parametrize("era", ["auto", "legacy", "modern"])
def test_negotiation_comes_to_what_the_reference_says(era: Era) -> None:
    for client_set in SETS:
        if (era == "legacy" and client_set == {MODERN}) or (era == "modern" and MODERN not in client_set):
            continue
        for server_set in SETS:
            client = ClientConnection(CLIENT_INFO, era=era, revisions=client_set)
            server = ServerConnection(SERVER_INFO, revisions=server_set)
            event = negotiate(client, server)
            expected = reference(era, client_set, server_set)
            got = event.revision if isinstance(event, Negotiated) else event.reason
            assert got == expected, (era, sorted(client_set), sorted(server_set))
            if isinstance(event, Negotiated):
                assert client.state is ConnectionState.OPEN
                assert client.revision == expected
                assert event.peer_info == SERVER_INFO
                assert client.conversation.shared() == server.conversation.shared()
            else:
                assert client.state is ConnectionState.FAILED
                assert client.revision is None or client.revision not in client_set


def test_every_step_and_outcome_leads_somewhere() -> None:
    possible = {
        (step, outcome)
        for step in PROBES | INITIALIZES
        for outcome in Outcome
        if (outcome is not Outcome.AGREED) == (step in PROBES)
        or outcome not in (Outcome.AGREED, Outcome.MODERN_IN_COMMON)
    }
    assert set(NEXT) == possible
    assert set(NEXT.values()) == set(Step) - {Step.PROBE}


@pytest.mark.parametrize(
    ("asked", "ours", "policy", "answer"),
    [
        ("2025-03-26", ["2024-11-05", "2025-03-26"], False, "2025-03-26"),
        ("2025-03-26", ["2024-11-05", "2025-06-18"], False, "2024-11-05"),
        ("2025-03-26", ["2024-11-05", "2025-06-18"], True, "2025-06-18"),
        ("2024-10-07", ["2024-11-05", "2025-06-18"], False, "2025-06-18"),
        ("1900-01-01", ["2024-11-05", "2025-06-18"], False, "2025-06-18"),
        ("2099-01-01", ["2024-11-05", "2025-06-18", MODERN], False, "2025-06-18"),
        ("2025-4-1", ["2024-11-05", "2025-06-18"], False, "2025-06-18"),
        ("2025-0x-01", ["2024-11-05", "2025-06-18"], False, "2025-06-18"),
        ("", ["2024-11-05", "2025-06-18"], False, "2025-06-18"),
        ("DRAFT", ["2024-11-05", "2025-06-18"], False, "2025-06-18"),
        (MODERN, ["2024-11-05", "2025-06-18", MODERN], False, "2025-06-18"),
        ("2025-03-26", [MODERN], False, None),
    ],
)
def test_a_server_answers_the_version_that_most_clients_understand(
    asked: str, ours: list[str], policy: bool, answer: str | None
) -> None:
    assert choose_legacy_version(asked, ours, newest_outright=policy) == answer
