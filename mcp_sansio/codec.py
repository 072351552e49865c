"""Strict JSON: one message's bytes to decoded values and back, by the standard library or by orjson.

Both codecs accept and refuse the same, but for two things. Integers outside -2**63 to 2**64-1: the standard
library has them exact; orjson reads a float and writes none. Depth: what the decoder and the encoder can do
(orjson 1024 and 254 levels, the standard library about as many as Python's recursion limit).
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Literal, NoReturn, Protocol, TypeAlias

from .errors import LocalProtocolError, Reason
from .limits import Limits

__all__ = ["ORJSON", "STDLIB", "Codec", "DecodeError", "DecodeReason", "EncodeError"]

DecodeReason: TypeAlias = Literal["utf-8", "json", "depth", "duplicate"]


class DecodeError(ValueError):
    """Bytes are not the JSON that a codec accepts.

    Attributes:
        reason: the kind of fault.
        detail: where and what, in a few words that quote next to nothing.
        truncated: whether the text only ended too early, as far as its end tells.
    """

    def __init__(self, reason: DecodeReason, detail: str, truncated: bool = False) -> None:
        super().__init__(reason, detail, truncated)
        self.reason: DecodeReason = reason
        self.detail = detail
        self.truncated = truncated

    def __str__(self) -> str:
        return self.detail


class EncodeError(ValueError):
    """A value is not one that JSON can hold and that both codecs write alike."""


class Codec(Protocol):
    """Turns bytes into JSON values and back. `STDLIB` and `ORJSON` are the ones there are."""

    @property
    def name(self) -> str: ...

    def decode(self, data: bytes, limits: Limits) -> Any:
        """Decode one JSON text, in UTF-8, with a byte order mark or white space around it or not.

        Refused are NaN and infinities, numbers that overflow and lone surrogates. Of two members with one
        name the last wins. Raises nothing but `DecodeError`.
        """
        ...

    def encode(self, value: Any) -> bytes:
        """Encode a value in compact UTF-8 without a newline.

        It may hold dicts with string keys, lists, tuples, strings, integers, finite floats, booleans and
        None; all of exactly these types, so no enums. Raises `EncodeError` for anything else.
        """
        ...

    def check(self, limits: Limits) -> None:
        """Raise `LocalProtocolError` (``Reason.CONFIGURATION``) if the limits ask what it can't do."""
        ...


_type: Callable[[object], Any] = type  # so annotated, it doesn't narrow Any to half-known types

# What both codecs decode by ---------------------------------------------------------------------------------

_BYTE_ORDER_MARK = "\ufeff"
_SPACE = " \t\r\n"

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_LONE_SURROGATE = re.compile(
    r"\\u[dD](?:[89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..\\u[dD])[c-fC-F])", re.DOTALL
)
"""Finds an escaped surrogate without its other half, in valid JSON that has no escaped backslash."""

_CUT = re.compile(
    r"""(?: -                                       # at the start of a number, after its integer part
          | (?<=\d) (?: \. | [eE][+-]? )            # or fraction,
          | t(?:ru?)? | f(?:a(?:ls?)?)? | n(?:ul?)? # in a literal,
          | (?<=\\) u[0-9a-fA-F]{0,4}               # in an escape,
        )?\Z                                        # or between two tokens.
    """,
    re.VERBOSE,
)
"""Matches what follows the place of an error if the text is only cut (and a few that aren't: 1.5.)."""


def _refuse_constant(name: str) -> NoReturn:
    raise DecodeError("json", f"{name} is not JSON")


def _finite_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise DecodeError("json", "a number is too large for a float")
    return value


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        name, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise DecodeError("duplicate", f"a member is named twice: {json.dumps(name[:40])[:60]}")
    return members


def _deeper_than(value: Any, depth: int) -> bool:
    """Tell whether arrays and objects are nested more than ``depth`` levels deep; a scalar has none."""
    level: list[Any] = [value]
    for _ in range(depth):
        level = [item for each in level for item in _items(each)]
        if not level:
            return False
    return any(type(item) in (dict, list) for item in level)


def _items(value: Any) -> Iterable[Any]:
    kind = _type(value)
    return value.values() if kind is dict else value if kind is list else ()


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite_float)
_UNIQUE_DECODER = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_finite_float, object_pairs_hook=_unique_names
)

# What both codecs encode by ---------------------------------------------------------------------------------

_PLAIN = frozenset({str, int, bool, type(None)})

_ENCODER = json.JSONEncoder(
    ensure_ascii=False,
    check_circular=False,  # a cycle has ended in a RecursionError before
    separators=(",", ":"),
)


def _refuse_unwritable(value: Any) -> None:
    """Raise `EncodeError` for what JSON lacks, or one codec writes and another doesn't."""
    try:
        fault = _fault(value)
    except RecursionError:
        raise EncodeError("$ is nested too deeply, or holds itself") from None
    if fault is not None:
        raise EncodeError(f"${fault}")


def _fault(value: Any) -> str | None:
    kind = _type(value)
    if kind is dict:
        for name, member in value.items():
            if type(name) is not str:
                return f" has a name of type {type(name).__qualname__}, not str"
            if type(member) not in _PLAIN and (fault := _fault(member)) is not None:
                return f".{name}{fault}"
    elif kind is list or kind is tuple:
        for index, item in enumerate(value):
            if type(item) not in _PLAIN and (fault := _fault(item)) is not None:
                return f"[{index}]{fault}"
    elif kind is float:
        if not math.isfinite(value):
            return f" is {value}, which JSON lacks"
    elif kind not in _PLAIN:
        return f" is of type {kind.__qualname__}, which JSON lacks"
    return None


# The codecs -------------------------------------------------------------------------------------------------


class _StandardLibrary:
    name = "stdlib"

    def __repr__(self) -> str:
        return "STDLIB"

    def decode(self, data: bytes, limits: Limits) -> Any:
        decoder = _UNIQUE_DECODER if limits.forbid_duplicate_names else _DECODER
        try:
            text = data.decode().removeprefix(_BYTE_ORDER_MARK).strip(_SPACE)
            value, end = decoder.raw_decode(text)
            if end != len(text):
                raise json.JSONDecodeError("Extra data", text, end)
        except UnicodeDecodeError as error:
            cut = error.reason == "unexpected end of data"
            raise DecodeError("utf-8", f"{error.reason} at byte {error.start}", cut) from None
        except json.JSONDecodeError as error:
            cut = error.msg.startswith("Unterminated string") or _CUT.match(error.doc, error.pos) is not None
            raise DecodeError("json", f"{error.msg} at character {error.pos}", cut) from None
        except RecursionError:
            raise DecodeError("depth", "nested too deeply for this decoder") from None
        except DecodeError:
            raise
        except ValueError:
            raise DecodeError("json", "an integer has too many digits") from None
        # Looked for in the text: cheaper than a walk of the value, and nothing at all for most messages.
        if "\\" in text and _SURROGATE.search(text) and _LONE_SURROGATE.search(text.replace("\\\\", "  ")):
            raise DecodeError("json", "a string has a lone surrogate")
        if limits.depth is not None and _deeper_than(value, limits.depth):
            raise DecodeError("depth", f"nested more than {limits.depth} levels deep")
        return value

    def encode(self, value: Any) -> bytes:
        _refuse_unwritable(value)
        try:
            return _ENCODER.encode(value).encode()
        except UnicodeEncodeError:
            raise EncodeError("a string has a lone surrogate") from None
        except RecursionError:
            raise EncodeError("$ is nested too deeply") from None
        except ValueError:
            raise EncodeError("an integer has too many digits") from None

    def check(self, limits: Limits) -> None:
        pass


class _Orjson:
    name = "orjson"

    def __repr__(self) -> str:
        return "ORJSON"

    def __init__(self) -> None:
        try:
            import orjson
        except ImportError:
            raise ImportError("the ORJSON codec needs orjson: pip install 'mcp_sansio[orjson]'") from None
        self._loads = orjson.loads
        self._dumps = orjson.dumps

    def decode(self, data: bytes, limits: Limits) -> Any:
        try:
            value = self._loads(data.removeprefix(b"\xef\xbb\xbf"))
        except ValueError as error:
            # The standard library says what is wrong in the same words, unless it could read this.
            value = STDLIB.decode(data, limits)
            if _deeper_than(value, 1024):
                raise DecodeError("depth", "nested too deeply for this decoder") from None
            raise DecodeError("json", "a number is too large for a float") from error
        if limits.depth is not None and _deeper_than(value, limits.depth):
            raise DecodeError("depth", f"nested more than {limits.depth} levels deep")
        return value

    def encode(self, value: Any) -> bytes:
        _refuse_unwritable(value)
        try:
            return self._dumps(value)
        except TypeError as error:
            raise EncodeError(str(error)) from None

    def check(self, limits: Limits) -> None:
        if limits.forbid_duplicate_names:
            raise LocalProtocolError(
                Reason.CONFIGURATION,
                "orjson doesn't report duplicate names: use STDLIB or leave forbid_duplicate_names off",
            )


STDLIB: Codec = _StandardLibrary()
ORJSON: Codec
"""Made when it is first asked for; raises ImportError where orjson isn't installed."""


def __getattr__(name: str) -> Codec:
    if name != "ORJSON":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    codec = globals()[name] = _Orjson()
    return codec
