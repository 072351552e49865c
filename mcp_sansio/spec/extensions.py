"""Extensions: rows that hold where both sides declare them.

Source: basic/versioning#extension-negotiation of 2026-07-28.
"""

from __future__ import annotations

import attrs

from ..types import Result
from .methods import Method

__all__ = ["Extension", "ExtensionResult"]


@attrs.frozen
class ExtensionResult:
    """A ``resultType`` that an extension adds to a method.

    Attributes:
        method: the method that may be answered so.
        result_type: the value of ``resultType``.
        payload: the class of the result.
    """

    method: str
    result_type: str
    payload: type[Result]


@attrs.frozen
class Extension:
    """An extension of the protocol, as data: give it to `Spec`, and that to connections.

    Attributes:
        name: its identifier, which has a prefix, as in ``com.example/jobs``.
        methods: the rows of its methods.
        results: the result types that it adds.
    """

    name: str
    methods: tuple[Method, ...] = ()
    results: tuple[ExtensionResult, ...] = ()
