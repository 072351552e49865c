"""Ping. Source: page basic/utilities/ping."""

from __future__ import annotations

from typing import ClassVar

from .base import EmptyResult, Request, payload

__all__ = ["PingRequest"]


@payload(until="2025-11-25")
class PingRequest(Request[EmptyResult]):
    """Ask whether the other side is there."""

    method: ClassVar[str] = "ping"
