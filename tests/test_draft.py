"""A made-up draft is added by rows alone; `docs/adding-a-revision.md` says where they go."""

from __future__ import annotations

from typing import ClassVar

import pytest

from mcp_sansio import (
    ALL_REVISIONS,
    ClientConnection,
    LocalProtocolError,
    Negotiated,
    Reason,
    RequestMessage,
    RequestReceived,
    ServerConnection,
    Side,
    parse_message,
    serialize_message,
)
from mcp_sansio import types as t
from mcp_sansio.spec import METHODS, REVISIONS, Era, Kind, Method, Revision, Spec
from mcp_sansio.types.base import member, payload

from .samples import CLIENT_INFO, META, SERVER_INFO

DRAFT = "2099-01-01"


@payload(since=DRAFT)
class GreetRequest(t.Request[t.EmptyResult]):
    """A method that the draft adds."""

    method: ClassVar[str] = "greetings/send"
    name: str


@payload()
class Postcard(t.Request[t.EmptyResult]):
    """A method that there always was, to which the draft adds a field."""

    method: ClassVar[str] = "example/postcard"
    text: str
    stamp: str | None = member(default=None, since=DRAFT)


SPEC = Spec(
    (
        *METHODS,
        Method(GreetRequest.method, Kind.REQUEST, Side.CLIENT, GreetRequest, t.EmptyResult, since=DRAFT),
        Method(Postcard.method, Kind.REQUEST, Side.CLIENT, Postcard, t.EmptyResult),
    )
)


@pytest.fixture(autouse=True)
def draft(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one row that a revision needs."""
    monkeypatch.setitem(REVISIONS, DRAFT, Revision(DRAFT, Era.MODERN))


def meet(client_revisions: set[str], server_revisions: set[str]) -> tuple[ClientConnection, ServerConnection]:
    client = ClientConnection(CLIENT_INFO, revisions=client_revisions, spec=SPEC)
    server = ServerConnection(SERVER_INFO, revisions=server_revisions, spec=SPEC)
    client.connect()
    events = []
    while data := client.data_to_send():
        server.receive_data(data)
        events += client.receive_data(server.data_to_send())
        assert all(event.violations == () for event in events)
    assert any(isinstance(event, Negotiated) for event in events)
    return client, server


EVERY = {*ALL_REVISIONS, DRAFT}


@pytest.mark.parametrize(
    ("client_has", "server_has", "agreed"),
    [
        (EVERY, EVERY, DRAFT),
        (EVERY, set(ALL_REVISIONS), "2026-07-28"),
        (set(ALL_REVISIONS), EVERY, "2026-07-28"),
        (EVERY, {"2025-11-25"}, "2025-11-25"),
        ({DRAFT}, {DRAFT}, DRAFT),
    ],
)
def test_it_is_negotiated_as_the_others_are(client_has: set[str], server_has: set[str], agreed: str) -> None:
    client, server = meet(client_has, server_has)
    assert client.revision == agreed
    if agreed == DRAFT:
        client.request(GreetRequest("bob"))
        (event,) = server.receive_data(client.data_to_send())
        assert isinstance(event, RequestReceived)
        assert (event.revision, event.violations) == (DRAFT, ())
        assert isinstance(event.request, GreetRequest)
    else:
        with pytest.raises(LocalProtocolError, match=DRAFT) as raised:
            client.request(GreetRequest("bob"))
        assert raised.value.reason is Reason.NOT_IN_REVISION
        client.request(Postcard("hi", "rare"))
        (event,) = server.receive_data(client.data_to_send())
        assert isinstance(event, RequestReceived)
        assert (event.revision, event.violations) == (agreed, ())
        assert isinstance(event.request, Postcard)
        assert event.request.stamp is None


def test_its_field_is_written_and_read_there_and_nowhere_else() -> None:
    message = RequestMessage(1, Postcard("hi", "rare", meta={**META, "io.modelcontextprotocol/protocolVersion": DRAFT}))
    new = serialize_message(message, revision=DRAFT)
    old = serialize_message(message, revision="2026-07-28")
    assert b'"stamp":"rare"' in new
    assert b"rare" not in old
    read = parse_message(new, revision=DRAFT, sender=Side.CLIENT, spec=SPEC)
    assert read == message
