"""What a server wants back with the answers to its questions, sealed so that the client can't change it.

Source: 2026-07-28, page basic/patterns/mrtr, "Server Requirements": ``requestState`` is attacker-controlled input, its
integrity MUST be protected where it influences anything, and it SHOULD name the principal, an expiry and the request
that it belongs to, all of which are verified here. That it is used only once they don't guarantee: a server for which
that matters must remember what it has taken.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

from ..codec import STDLIB, EncodeError
from ..errors import LocalProtocolError, Reason
from ..jsonrpc import JSONObject, is_object
from ..limits import Limits
from ..spec import LATEST_MODERN
from ..types import Request, unstructure

__all__ = ["StateError", "StateErrorReason", "open_state", "seal_state"]

_VERSION = b"\x01"
"""The first byte of a state, and of what the seal is about."""

_SEAL = 32
"""How long an HMAC-SHA256 is in bytes, and the shortest key that does not weaken it (RFC 2104, section 3)."""

_ANSWERS = ("_meta", "inputResponses", "requestState")
"""The params in which a request and its retry differ."""

_LONGEST = 2**53
"""Times beyond this are none."""


class StateErrorReason(Enum):
    """Why a state is refused."""

    MALFORMED = "malformed"
    """It is no state of this format at all."""
    SEAL = "seal"
    """It was changed, or sealed with none of these keys."""
    EXPIRED = "expired"
    """Its lifetime is over."""
    PRINCIPAL = "principal"
    """It was given to somebody else."""
    REQUEST = "request"
    """It belongs to another request: to another method, or to other params."""


class StateError(Exception):
    """A client sent a state that is not to be trusted. Answer its request with ``ErrorCode.INVALID_PARAMS``.

    Attributes:
        reason: why, for programs.
        hint: the same for people. It holds nothing of the state.
    """

    def __init__(self, reason: StateErrorReason, hint: str) -> None:
        super().__init__(f"{reason.value}: {hint}")
        self.reason = reason
        self.hint = hint


def seal_state(
    data: JSONObject, *, key: bytes, now: float, lifetime: float, principal: str, request: Request[Any]
) -> str:
    """Make the ``state`` of ``request_input`` out of data.

    It is sealed (HMAC-SHA256), **not encrypted: the client can read it**, so put no secrets in it.

    Args:
        data: what is wanted back; JSON, and small, since it travels twice.
        key: 32 or more random bytes that only servers know. Give all servers that may get the retry the same.
        now: the time in seconds, on a clock that those servers share, such as ``time.time()``.
        lifetime: for how many seconds the state is good; as long as a person may need to answer.
        principal: who is authenticated, as the server names them; "" where nobody is.
        request: the request that needs input, from `RequestReceived`. Its method and params, ``_meta`` aside, are what
            a retry must repeat.

    Returns:
        ASCII letters, digits, hyphens and underscores.

    Raises:
        LocalProtocolError: the key is too short (``Reason.CONFIGURATION``), a time is none (``Reason.INVALID_TIME``),
            the principal is no string, or JSON can't hold the data or the request (``Reason.INVALID_PAYLOAD``).
    """
    _check_keys([key])
    _check_time("now", now)
    _check_time("lifetime", lifetime)
    if lifetime <= 0:
        raise LocalProtocolError(Reason.INVALID_TIME, f"lifetime is more than 0 seconds, not {lifetime!r:.60}")
    if not is_object(data):
        raise LocalProtocolError(Reason.INVALID_PAYLOAD, f"data is a JSON object, not {type(data).__name__}")
    content = [now + lifetime, _digest_of_principal(principal), _digest_of_request(request), data]
    try:
        sealed = _VERSION + STDLIB.encode(content)
    except EncodeError as error:
        raise LocalProtocolError(Reason.INVALID_PAYLOAD, f"JSON cannot hold the data: {error}") from None
    return _text(_seal(key, sealed) + sealed)


def open_state(state: str, *, keys: Iterable[bytes], now: float, principal: str, request: Request[Any]) -> JSONObject:
    """Give back the data of a state that a client sent, if it is to be trusted.

    Args:
        state: the ``request_state`` of the request.
        keys: the key that new states are sealed with; while keys change, also those that older ones were sealed with.
        now: the time in seconds, on the clock of `seal_state`.
        principal: who is authenticated now.
        request: the request that carries the state.

    Raises:
        StateError: it is not to be trusted. Nothing else is raised, whatever the client sent as state.
        LocalProtocolError: as for `seal_state`.
    """
    known = list(keys)
    _check_keys(known)
    _check_time("now", now)
    raw = _bytes(state)
    seal, sealed = raw[:_SEAL], raw[_SEAL:]
    if not sealed.startswith(_VERSION):
        raise StateError(StateErrorReason.MALFORMED, "this is no state that a server of this version made")
    if not any(hmac.compare_digest(seal, _seal(key, sealed)) for key in known):
        raise StateError(StateErrorReason.SEAL, "the state was changed, or sealed with another key")
    expires, sealed_principal, sealed_request, data = STDLIB.decode(sealed.removeprefix(_VERSION), Limits())
    if now >= expires:
        raise StateError(StateErrorReason.EXPIRED, "it is too late to answer; start the request anew")
    if sealed_principal != _digest_of_principal(principal):
        raise StateError(StateErrorReason.PRINCIPAL, "the state was given to somebody else")
    if sealed_request != _digest_of_request(request):
        raise StateError(StateErrorReason.REQUEST, "the state belongs to a request with another method or other params")
    trusted: JSONObject = data
    return trusted


def _check_keys(keys: Sequence[object]) -> None:
    if not keys:
        raise LocalProtocolError(Reason.CONFIGURATION, "keys is a list of one key or more")
    for key in keys:
        if not isinstance(key, bytes) or len(key) < _SEAL:
            raise LocalProtocolError(
                Reason.CONFIGURATION, f"a key is {_SEAL} or more random bytes: secrets.token_bytes({_SEAL})"
            )


def _check_time(name: str, seconds: float) -> None:
    if type(seconds) not in (int, float) or not -_LONGEST <= seconds <= _LONGEST:
        raise LocalProtocolError(Reason.INVALID_TIME, f"{name} is a finite number of seconds, not {seconds!r:.60}")


def _seal(key: bytes, sealed: bytes) -> bytes:
    return hmac.digest(key, sealed, "sha256")


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    """The inverse of `_text`; what it never gives is no state, though other decoders may read it."""
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raw = b""
    if not raw or _text(raw) != text:
        raise StateError(StateErrorReason.MALFORMED, "the state is not in the alphabet that a server writes")
    return raw


def _digest_of_principal(principal: str) -> str:
    if type(principal) is not str:
        raise LocalProtocolError(Reason.INVALID_PAYLOAD, "principal is a string; empty where nobody is authenticated")
    return hashlib.sha256(principal.encode("utf-8", "surrogatepass")).hexdigest()


def _digest_of_request(request: Request[Any]) -> str:
    """A digest of what a request and its retry have in common, however their members are ordered."""
    try:
        params = unstructure(request, LATEST_MODERN)
        same = {name: value for name, value in params.items() if name not in _ANSWERS}
        written = json.dumps([request.method, same], sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise LocalProtocolError(Reason.INVALID_PAYLOAD, f"the request can't be written as JSON ({error})") from None
    return hashlib.sha256(written.encode()).hexdigest()
