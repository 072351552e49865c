"""Requests that turn out to need input: what each side remembers until it has come.

Source: basic/patterns/mrtr of 2026-07-28; server/utilities and client/ of the older revisions, whose servers send
requests of their own instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import attrs

from ..errors import LocalProtocolError, Reason
from ..jsonrpc import JSONObject, RequestId
from ..spec import Level, Side, Spec, Violation
from ..types import InputRequiredResult, InputResponse, Result
from ..types.converter import PayloadError, structure, unstructure
from .state import OpenRequest

__all__ = ["Asking", "Retry", "result_class"]


def result_class(spec: Spec, method: str) -> type[Result]:
    """The class that answers a request for input."""
    return spec.rows(Side.SERVER, method)[0].result


@attrs.frozen
class Retry:
    """What a client needs to send a request once more.

    Attributes:
        method: its method.
        revision: the revision in whose terms it is sent.
        params: its params, without what answered the time before; of ``_meta`` only the progress token will change.
        asked: the methods of what the server asks for, by its keys.
        state: the server's state, to be sent back as it is.
        progress: whether the request asked for progress.
        rounds: how often it was sent once more already.
    """

    method: str
    revision: str
    params: JSONObject
    asked: dict[str, str]
    state: str | None
    progress: bool
    rounds: int

    @classmethod
    def of(cls, request: OpenRequest, result: InputRequiredResult) -> Retry:
        """What is needed to send *request* once more after *result*."""
        params = {k: v for k, v in (request.params or {}).items() if k not in ("inputResponses", "requestState")}
        asked = {key: each.method for key, each in (result.input_requests or {}).items()}
        return cls(
            request.method,
            request.revision,
            params,
            asked,
            result.request_state,
            request.token is not None,
            request.rounds,
        )

    def answered(self, responses: Mapping[str, InputResponse], spec: Spec) -> JSONObject:
        """The params with the answers in them; raises `LocalProtocolError` unless there is one for each key."""
        if not isinstance(cast(object, responses), Mapping) or responses.keys() != self.asked.keys():
            raise LocalProtocolError(
                Reason.INVALID_PAYLOAD,
                f"the server asks for {', '.join(map(repr, self.asked)) or 'nothing'}: give a response to each, and no "
                f"others, not {', '.join(map(repr, responses)) or 'none'}",
            )
        params = dict(self.params)
        if self.asked:
            params["inputResponses"] = {
                key: self._written(key, response, result_class(spec, self.asked[key]))
                for key, response in responses.items()
            }
        if self.state is not None:
            params["requestState"] = self.state
        return params

    def _written(self, key: str, response: object, expected: type[Result]) -> JSONObject:
        if type(response) is not expected:
            detail = f"{self.asked[key]} is answered with {expected.__name__}, not {type(response).__name__}"
            raise LocalProtocolError(Reason.INVALID_PAYLOAD, f"{key!r}: {detail}")
        try:
            return unstructure(response, self.revision)
        except PayloadError as error:
            raise LocalProtocolError(Reason.INVALID_PAYLOAD, f"{key!r}: {error}") from None


@attrs.define(eq=False)
class Asking:
    """What a server has asked a legacy client, on behalf of a request of the client's.

    Attributes:
        methods: what it asks for, by its keys.
        state: what it wants back with the answers.
        waiting: the keys of the requests that are not answered yet, by their ids.
        responses: the answers that came, by key.
        violations: the rules that the client broke with them.
    """

    methods: dict[str, str]
    state: str | None
    waiting: dict[RequestId, str]
    responses: dict[str, Result] = attrs.field(factory=dict[str, Result])
    violations: tuple[Violation, ...] = ()

    def to_json(self, revision: str) -> JSONObject:
        """All of it as plain JSON."""
        return {
            "methods": self.methods,
            "state": self.state,
            "waiting": [[*item] for item in self.waiting.items()],
            "responses": {key: unstructure(response, revision) for key, response in self.responses.items()},
            "violations": [[each.rule, each.level.value, each.detail] for each in self.violations],
        }

    @classmethod
    def from_json(cls, data: JSONObject, revision: str, spec: Spec) -> Asking:
        """The inverse of `to_json`."""
        methods: dict[str, str] = data["methods"]
        responses: dict[str, Any] = {
            key: structure(response, result_class(spec, methods[key]), revision)
            for key, response in data["responses"].items()
        }
        violations = tuple(Violation(rule, Level(level), detail) for rule, level, detail in data["violations"])
        return cls(methods, data["state"], dict(data["waiting"]), responses, violations)
