"""What the usual complaints come from, as a table: what shows it, and the words for whoever has to mend it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import attrs

from ..spec import LEGACY_REVISIONS, Side
from .facts import Facts, Unanswered
from .observation import seconds

__all__ = ["COMPLAINTS", "Complaint", "Diagnosis", "diagnose"]

Values = Mapping[str, object]
Test = Callable[[Facts], Iterator[Values]]


@attrs.frozen
class Diagnosis:
    """What a complaint comes from.

    Attributes:
        name: the complaint, a row of `COMPLAINTS`.
        words: what it comes from, whose fault it is and what to do, for a person. What they quote is ASCII.
    """

    name: str
    words: str


@attrs.frozen
class Complaint:
    """One row.

    Attributes:
        name: what people complain of.
        test: what to fill in for each time that the facts show it.
        words: where it comes from, whose fault it is and what to do, with places to fill in.
    """

    name: str
    test: Test
    words: str


def diagnose(facts: Facts) -> list[Diagnosis]:
    """All that the facts show, in the order of the table."""
    return [Diagnosis(row.name, row.words.format_map(values)) for row in COMPLAINTS for values in row.test(facts)]


# Tests ----------------------------------------------------------------------------------------------------------------

_SHOWN = 5
"""How many of a kind the words name."""


def _shown(condition: object, **values: object) -> Iterator[Values]:
    if condition:
        yield values


def _sampled(topic: str) -> Test:
    """For each side about which there is something to say."""

    def test(facts: Facts) -> Iterator[Values]:
        for side in Side:
            sample = facts.samples.get((topic, side))
            if sample is not None:
                times = "once" if sample.count == 1 else f"{sample.count} times"
                yield {
                    "side": side.value,
                    "other": side.other.value,
                    "times": times,
                    "record": sample.record,
                    "detail": sample.detail,
                }

    return test


def _nothing(facts: Facts) -> Iterator[Values]:
    return _shown(facts.messages == 0 and not facts.samples)


def _beginning(facts: Facts) -> Iterator[Values]:
    return _shown(facts.missing_beginning)


def _one_side(facts: Facts) -> Iterator[Values]:
    if facts.only is not None:
        yield {"side": facts.only.value, "other": facts.only.other.value}


def _unknown_version(facts: Facts) -> Iterator[Values]:
    version = facts.session.answered
    return _shown(_went_on(facts) and version not in LEGACY_REVISIONS, version=ascii(version))


def _went_on(facts: Facts) -> bool:
    """Whether the client took the answer to its handshake."""
    session = facts.session
    return session.answered is not None and (session.initialized or session.went_on)


def _other_version(facts: Facts) -> Iterator[Values]:
    session = facts.session
    differs = session.answered is not None and session.answered != session.asked
    return _shown(differs and not _went_on(facts), asked=ascii(session.asked), answered=ascii(session.answered))


def _refused_version(facts: Facts) -> Iterator[Values]:
    session = facts.session
    named = ", ".join(map(ascii, session.supported)) or "none"
    return _shown(_is_refused(facts) and _is_about_version(facts), refusal=session.refusal, named=named)


def _refused(facts: Facts) -> Iterator[Values]:
    return _shown(_is_refused(facts) and not _is_about_version(facts), refusal=facts.session.refusal)


def _is_refused(facts: Facts) -> bool:
    session = facts.session
    return session.refusal is not None and session.answered is None and not session.modern


def _is_about_version(facts: Facts) -> bool:
    session = facts.session
    return bool(session.supported) or "version" in (session.refusal or "").lower()


def _not_initialized(facts: Facts) -> Iterator[Values]:
    session = facts.session
    agreed = session.answered is not None and (session.answered == session.asked or session.went_on)
    return _shown(agreed and not session.initialized)


def _tools_undeclared(facts: Facts) -> Iterator[Values]:
    session = facts.session
    found = session.declared
    missing = found is not None and "server.tools" not in found and not session.tools.filled
    names = ", ".join(sorted(name.removeprefix("server.") for name in found or ())) or "nothing"
    where = "server/discover" if session.answered is None else "initialize"
    return _shown(missing, where=where, names=ascii(names[:200])[1:-1])


def _tools_empty(facts: Facts) -> Iterator[Values]:
    tools = facts.session.tools
    return _shown(tools.empty is not None and not tools.filled, record=tools.empty)


def _tools_not_asked_for(facts: Facts) -> Iterator[Values]:
    session = facts.session
    ready = session.initialized or session.answered is None
    declares = session.declared is not None and "server.tools" in session.declared
    return _shown(declares and ready and not session.tools.asked and not session.called)


def _changed(facts: Facts, *, promised: bool) -> Iterator[Values]:
    session = facts.session
    sample, found = session.tools.silent, session.declared or frozenset()
    if sample is None or (session.answered is None and not session.listening):
        return iter(())
    declares = "server.tools.listChanged" in found or session.listening
    return _shown(declares is promised, record=sample.record, detail=sample.detail)


def _changed_against_promise(facts: Facts) -> Iterator[Values]:
    return _changed(facts, promised=True)


def _changed_without_promise(facts: Facts) -> Iterator[Values]:
    return _changed(facts, promised=False)


def _unlisted(facts: Facts) -> Iterator[Values]:
    for name, sample in list(facts.unlisted.items())[:_SHOWN]:
        yield {"method": sample.method, "name": ascii(name), "record": sample.record}


def _unanswered(facts: Facts, *, over: bool) -> Iterator[Values]:
    for side in Side:
        found = [each for each in facts.unanswered if each.asked.sender is side and each.over is over]
        if found:
            shown = "; ".join(map(_request, found[:_SHOWN]))
            more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            yield {"side": side.value, "other": side.other.value, "requests": shown + more}


def _request(found: Unanswered) -> str:
    asked = found.asked
    subject = "" if asked.subject is None else f" {asked.subject[:40]!a}"
    waited = f", waited {seconds(found.waited)}" if found.waited else ""
    return f"{ascii(asked.method[:60])[1:-1]}{subject} (id {ascii(asked.id)[:40]}, record {asked.record}{waited})"


def _unanswered_at_end(facts: Facts) -> Iterator[Values]:
    return _unanswered(facts, over=True)


def _unanswered_so_far(facts: Facts) -> Iterator[Values]:
    return _unanswered(facts, over=False)


def _unfinished(facts: Facts) -> Iterator[Values]:
    for side in facts.unfinished:
        yield {"side": side.value}


# The table ------------------------------------------------------------------------------------------------------------

# A row is what people complain of, the test, and the words.
# fmt: off
COMPLAINTS: tuple[Complaint, ...] = (
    Complaint("nothing was recorded", _nothing,
        "Neither side wrote anything. Is the command the right one, and does the client use it?"),
    Complaint("the beginning is missing", _beginning,
        "The recording shows no handshake. If it begins in the middle of a session, all may be well: which "
        "revision and which capabilities are in force is unknown, and what depends on them or on earlier messages "
        "was not judged. If this is all that was said, the client is at fault: it must begin with initialize "
        "(LIFE-001)."),
    Complaint("one side only", _one_side,
        "Only what the {side} wrote was judged, message by message. Whether it fits what the {other} wrote, and "
        "in which revision, is unknown; record both sides with mcp-sansio tap."),
    Complaint("version mismatch", _other_version,
        "The client asked for version {asked}, the server answered {answered}, and the client went no further. A "
        "server may answer another version, and a client that does not speak it should disconnect and say so. "
        "Bring the older of the two up to date, or let the newer one speak an older version, too."),
    Complaint("version mismatch", _refused_version,
        "The server refused the version that the client asked for: {refusal}. It names as its own: {named}. "
        "Client: ask for one of these. A server with a handshake answers initialize with a version that it "
        "speaks, not an error."),
    Complaint("unknown version", _unknown_version,
        "Client and server agreed on version {version}, which is not known here: what depends on the version was "
        "judged only where all versions agree. If it is none of the specification's, the server is at fault: it "
        "answers with a version that it speaks."),
    Complaint("handshake refused", _refused,
        "The server answered the handshake with an error, and no later one succeeded: {refusal}. Mend in the "
        "client what it names; if the request was right, the server is at fault."),
    Complaint("malformed initialize", _sampled("initialize"),
        "The {side} is at fault: its part of the handshake has the wrong form ({times}, first in record "
        "{record}): {detail}. Strict peers end the session there."),
    Complaint("initialized never sent", _not_initialized,
        "The client never sent notifications/initialized after the initialize result, so the server may still "
        "wait for it and serve nothing. Client: send it as soon as the result has come."),
    Complaint("talking before initialized", _sampled("early"),
        "The {side} is at fault: it talks before the handshake is over ({times}, first in record {record}): "
        "{detail}. The order is: initialize, its result, notifications/initialized, then everything else."),
    Complaint("no tools: not declared", _tools_undeclared,
        "The server does not declare tools in its {where} result (it declares {names}), so clients do not ask for "
        'them. If it has tools, the server is at fault: add "tools": {{}} to its capabilities.'),
    Complaint("no tools: listed empty", _tools_empty,
        "The client asked, and the server answered with an empty list (record {record}). Look in the server: are "
        "the tools registered before it answers, and not filtered out by its configuration?"),
    Complaint("no tools: never asked for", _tools_not_asked_for,
        "The server declares tools, but the client never sent tools/list. The server is ready; look in the "
        "client: are tools switched off for this server, or did it stop before?"),
    Complaint("tools changed without notice", _changed_against_promise,
        "The server is at fault: two answers to tools/list differ (record {record}: {detail}), and it sent no "
        "notifications/tools/list_changed between them, though it said that it would. Send it after each change."),
    Complaint("tools changed without notice", _changed_without_promise,
        "Two answers to tools/list differ (record {record}: {detail}), and clients that keep the list cannot "
        'know. Server: declare "tools": {{"listChanged": true}}, and send notifications/tools/list_changed after '
        "each change."),
    Complaint("log lines among the messages", _sampled("log"),
        "The {side} is at fault: it writes text among its messages ({times}, first in record {record}): {detail}. "
        "Some peers give up there. Write logs to stderr: print(..., file=sys.stderr), console.error; look for "
        "banners of frameworks and package managers, too."),
    Complaint("damaged messages", _sampled("damaged"),
        "The {side} is at fault: it writes lines that look like messages and are none ({times}, first in record "
        "{record}): {detail}."),
    Complaint("messages over several lines", _sampled("spread"),
        "The {side} is at fault: it spreads messages over several lines ({times}, first in record {record}). Each "
        "message is one line: write JSON without indentation."),
    Complaint("headers before messages", _sampled("headers"),
        "The {side} is at fault: it writes Content-Length headers, as language servers do ({times}, first in "
        "record {record}). MCP has no headers: write each message as one line that ends with a newline."),
    Complaint("not UTF-8", _sampled("encoding"),
        "The {side} is at fault: it writes text that is not UTF-8 ({times}, first in record {record}): {detail}. "
        "Set the encoding of its output, rather than rely on the locale."),
    Complaint("no newline at the end", _unfinished,
        "The last thing that the {side} wrote has no newline at its end, so the other side still waits for the "
        "rest. If it is a whole message, the {side} is at fault: write a newline after each message, and flush."),
    Complaint("ids that do not match", _sampled("ids"),
        "The {side} is at fault: it answers with ids that the {other} did not use ({times}, first in record "
        "{record}): {detail}. So the {other} still waits. Copy the id of the request as it stands, its JSON type "
        "too."),
    Complaint("use of what was not declared", _sampled("undeclared"),
        "The {side} uses what was not declared ({times}, first in record {record}): {detail}. Let the side that "
        "has it declare it, or do not use it."),
    Complaint("call of what is not listed", _unlisted,
        "The client is at fault: it sent {method} for {name} (record {record}), which is not in the list that the "
        "server gave, and it failed. Take names from the list; ask for it anew when it has changed."),
    Complaint("requests never answered", _unanswered_at_end,
        "The {other} ended without an answer to: {requests}. Look at what it wrote to stderr; did it crash?"),
    Complaint("requests never answered", _unanswered_so_far,
        "The {other} owes the {side} an answer to: {requests}. Each request needs one, an error where it failed; "
        "look in the {other} for a handler that waits or fails silently."),
)
# fmt: on
