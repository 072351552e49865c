"""Bounds on what one peer can make a connection hold."""

from __future__ import annotations

import attrs

__all__ = ["Limits"]


@attrs.frozen(kw_only=True)
class Limits:
    """How much a connection accepts. The defaults suit a trusted local peer."""

    frame_bytes: int = 16 * 2**20
    """Longest line in bytes, its newline not counted. A longer one is skipped and costs one event."""
    depth: int | None = None
    """Deepest nesting of arrays and objects in a message; None leaves it to the decoder."""
    forbid_duplicate_names: bool = False
    """Refuse objects that name a member twice (needs the standard library's codec). Else the last one wins."""
    id_length: int = 1024
    """Longest string that is taken as a request id or progress token, in characters."""
    batch_length: int = 256
    """Most messages in one batch (2025-03-26)."""
    requests: int = 10_000
    """Most requests of this side in flight."""
    peer_requests: int = 1000
    """Most requests of the peer in flight; one more is answered with an error."""
    subscribed_uris: int = 10_000
    """Most resources that a client may subscribe to in a legacy session."""
    input_rounds: int = 16
    """How often a request that needs input may be asked again."""
    queued_bytes: int = 64 * 2**20
    """How much output may wait for ``data_to_send()``; above it, calls are refused until it was taken."""
    remembered_ids: int = 1024
    """How many ended requests of each side are remembered, to tell late and duplicate answers from unknown ones."""
