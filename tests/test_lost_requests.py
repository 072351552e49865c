"""Requests whose carrier failed, where each request is carried by itself: they end once, and the connection goes on."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_sansio import (
    AnswerInvalid,
    FailureReason,
    LocalProtocolError,
    NegotiationFailed,
    RequestLost,
    ResponseIgnored,
    UnexpectedReason,
)
from mcp_sansio import types as t

from .pair import EVERY, MODERN, client, error, feed, open_client, raises, sent, tools_result

both_ways = pytest.mark.parametrize(
    ("answered", "event", "late"),
    [(False, RequestLost, UnexpectedReason.LATE), (True, AnswerInvalid, UnexpectedReason.DUPLICATE)],
)


@both_ways
@pytest.mark.parametrize("revision", EVERY)
def test_a_request_is_lost_once(revision: str, answered: bool, event: Any, late: UnexpectedReason) -> None:
    conn = open_client(revision)
    lost, other = conn.request(t.ListToolsRequest(), timeout=5, now=0), conn.request(t.ListToolsRequest())
    sent(conn)
    ended = conn.lose_request(lost.id, "HTTP 502", answered=answered, now=1)
    assert ended == [event(id=lost.id, method="tools/list", detail="HTTP 502")]
    assert lost.ended_by(ended[0])
    assert not other.ended_by(ended[0])
    assert conn.next_deadline() is None
    assert conn.in_flight == (other.id,)
    assert conn.lose_request(lost.id, "again", now=2) == []
    assert sent(conn) == []
    (ignored,) = feed(conn, tools_result(lost.id, revision))
    assert isinstance(ignored, ResponseIgnored)
    assert ignored.reason is late


@pytest.mark.parametrize("steps", [["server/discover"], ["server/discover", "server/discover"]])
def test_a_lost_probe_says_nothing_about_the_era(steps: list[str]) -> None:
    conn = client()
    conn.connect()
    for method in steps[:-1]:
        (message,) = sent(conn)
        assert message["method"] == method
        versions = {"supported": [MODERN], "requested": MODERN}
        assert feed(conn, error(message["id"], -32022, data=versions)) == []
    (message,) = sent(conn)
    (failed,) = conn.lose_request(message["id"], "HTTP 503")
    assert failed == NegotiationFailed(reason=FailureReason.LOST, detail="HTTP 503")
    assert sent(conn) == []


def test_a_probe_that_was_answered_with_no_message_leads_to_initialize() -> None:
    conn = client()
    conn.connect()
    (probe,) = sent(conn)
    assert conn.lose_request(probe["id"], "HTTP 400", answered=True) == []
    (initialize,) = sent(conn)
    assert initialize["method"] == "initialize"
    (failed,) = conn.lose_request(initialize["id"], "HTTP 404", answered=True)
    assert failed == NegotiationFailed(reason=FailureReason.INVALID, detail="HTTP 404")


def test_it_is_an_input_like_others() -> None:
    conn = open_client(MODERN)
    handle = conn.request(t.ListToolsRequest(), timeout=5, now=0)
    assert isinstance(raises(lambda: conn.lose_request(handle.id, "HTTP 502")), LocalProtocolError)
    assert conn.in_flight == (handle.id,)
    conn.receive_eof(now=1)
    assert isinstance(raises(lambda: conn.lose_request(handle.id, "HTTP 502", now=2)), LocalProtocolError)
    conn.close()
    assert conn.lose_request(handle.id, "HTTP 502", now=3) == []


def test_ids_go_on_from_where_another_connection_stopped() -> None:
    conn = client("modern", first_id=7)
    conn.connect()
    (probe,) = sent(conn)
    assert probe["id"] == 7
