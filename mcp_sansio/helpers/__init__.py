"""What everybody needs around a connection and easily gets wrong, as pure as the rest.

Lists in pages (`Pages`), a cache of results (`ListCache`), the state of requests that need input (`seal_state`,
`open_state`), and the rules for names. Nothing in the library uses them: they work with any transport, and on payloads
that another parser made.
"""

from __future__ import annotations

from .cache import ListCache
from .names import extension_id_fault, is_reserved_meta_key, meta_key_fault, tool_name_fault
from .pagination import EndedBy, Pages
from .request_state import StateError, StateErrorReason, open_state, seal_state

__all__ = [
    "EndedBy",
    "ListCache",
    "Pages",
    "StateError",
    "StateErrorReason",
    "extension_id_fault",
    "is_reserved_meta_key",
    "meta_key_fault",
    "open_state",
    "seal_state",
    "tool_name_fault",
]
