"""Both codecs, held against each other and against RFC 8259 where Python's own decoder is laxer."""

from __future__ import annotations

import datetime
import enum
import json
import os
import pickle
import re
import subprocess
import sys
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcp_sansio import codec as codec_module
from mcp_sansio.codec import ORJSON, STDLIB, Codec, DecodeError, EncodeError
from mcp_sansio.errors import LocalProtocolError, Reason
from mcp_sansio.limits import Limits

from .timing import assert_linear

quick = settings(deadline=None)
both = pytest.mark.parametrize("codec", [STDLIB, ORJSON], ids=lambda codec: codec.name)

LIMITS = Limits()
LEAST, MOST = -(2**63), 2**64 - 1

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(LEAST, MOST)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([LEAST, MOST, -0.0, 1e16, 5e-324, "\u2028\u2029\u0085\x7f\x00\n\r", "\U0001f600", "\ufeff", ""])
    | TEXT
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=7,
)


def outcome(codec: Codec, data: bytes, limits: Limits = LIMITS) -> str:
    """What becomes of bytes: the exact value (repr tells 1, 1.0 and True apart), or why there's none."""
    try:
        return repr(codec.decode(data, limits))
    except DecodeError as error:
        return f"{error.reason}, truncated={error.truncated}: {error}"


def short(value: object) -> str:
    return repr(value)[:30]


def has_large_integer(text: str) -> bool:
    return re.search(r"\d{19}", text) is not None


# Reading ----------------------------------------------------------------------------------------------------

VALID = [
    (b"null", None),
    (b"true", True),
    (b"false", False),
    (b"0", 0),
    (b"-0", 0),
    (b"-0.0", -0.0),
    (b"1.0", 1.0),
    (b"1e0", 1.0),
    (b"1E+2", 100.0),
    (b"1e-400", 0.0),
    (b"1.7976931348623157e308", 1.7976931348623157e308),
    (b"9007199254740993", 2**53 + 1),
    (b"18446744073709551615", MOST),
    (b"-9223372036854775808", LEAST),
    (b'""', ""),
    (b'"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"', '"\\/\b\f\n\r\té'),
    (b'"\\ud83d\\ude00\\uD83D\\uDE00"', "\U0001f600\U0001f600"),
    (b'"\\\\ud83d"', "\\ud83d"),
    (b'"\\\\\\ud83d\\ude00"', "\\\U0001f600"),
    ('"\u2028\u2029\u0085\x7f\u8bfb\U0001f600"'.encode(), "\u2028\u2029\u0085\x7f\u8bfb\U0001f600"),
    (b'"\xef\xbb\xbf\\ufeff"', "\ufeff\ufeff"),
    (b'{"a":1,"A":2,"a":3,"param\xc5\xbf":4}', {"a": 3, "A": 2, "param\u017f": 4}),
    (b'{"":[]}', {"": []}),
    (b"\xef\xbb\xbf{}", {}),
    (b" \t\r\n[ 1 ,\t2\r,\n3 ] \t\r\n", [1, 2, 3]),
    (b"\xef\xbb\xbf \r{}\r", {}),
    (b"1\r", 1),
]


@pytest.mark.parametrize(("data", "value"), VALID, ids=short)
def test_valid_json_is_read_exactly(data: bytes, value: object) -> None:
    assert outcome(STDLIB, data) == outcome(ORJSON, data) == repr(value)


# fmt: off
NOT_JSON = [
    b"NaN", b"Infinity", b"-Infinity", b'{"a":NaN}', b"[Infinity]", b"[-Infinity]", b"nan", b"True", b"nul1",
    b"1e400", b"-1e400", b"1E400", b"[1e309]", b"1" * 400 + b".0", b"1" * 5000,
    b"01", b"-01", b"+1", b".5", b"1.e5", b"1.5.1", b"0x1", b"1_0", b"1 2", b"--1", b"1e5.0", b"1e5e1",
    b'"\\ud83d"', b'"\\ude00"', b'"\\udc80"', b'"\\ud83dx"', b'"\\ud83d\\u0041"', b'"\\ude00\\ud83d"',
    b'"\\ud83d\\ud83d\\ude00"', b'"\\ud83d\\ude00\\ude00"', b'"\\ud83d\\\\ude00"', b'"\\uD83D \\uDE00"',
    b'{"\\uDFFF":1}', b'"\\\\\\ud83d"', b'"\\ud83d\\\\\\ude00"', b'"\\ud83d\\n\\ude00"',
    b'"\\x41"', b'"\\u12g4"', b'"\t"', b'"\x00"', b'"\x1f"', b"'a'", b'"a" "b"', b'"\n"',
    b"[1,]", b'{"a":1,}', b"{,}", b"{1:2}", b"{a:1}", b"[1 2]", b"]", b"[}", b'{"a"}', b"{}{}", b"{} x",
    b"//\n1", b"1/**/", b"X1", b"1X", b"{}\x00", b"\x00{}", b"\x0b1", b"1\x0c", b"\xc2\xa01", b"1\xe2\x80\xa8",
    b" \xef\xbb\xbf1", b"1\xef\xbb\xbf", b"\xef\xbb\xbf\xef\xbb\xbf1",
    b"> pkg@1.0 start", b"Content-Length: 36\r",
    '"a"'.encode("utf-16-le"), '"a"'.encode("utf-32-be"),
]
NOT_UTF_8 = [
    b'"\xff\xfe"', b'"\xc0\xaf"', b'"\xed\xa0\x80"', b'"\xed\xa0\xbd\xed\xb8\x80"', b'"\xf4\x90\x80\x80"',
    b'"\xe8\xaf"', b'{"a":1}\x80', b"\x80", '"a"'.encode("utf-16"),
]
# fmt: on
INVALID = [(data, "json") for data in NOT_JSON] + [(data, "utf-8") for data in NOT_UTF_8]


@pytest.mark.parametrize(("data", "reason"), INVALID, ids=short)
def test_what_is_not_json_is_refused_by_both_codecs_alike(data: bytes, reason: str) -> None:
    assert outcome(STDLIB, data).startswith(f"{reason}, truncated=False")
    assert outcome(STDLIB, data) == outcome(ORJSON, data)


@both
@pytest.mark.parametrize(
    "data", [b"", b" ", b"\r", b"\xef\xbb\xbf", b"{", b'{"a":1 ', b'"\xe2\x80', b"\xef\xbb", b'"\\']
)
def test_a_text_that_ends_early_is_truncated(codec: Codec, data: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        codec.decode(data, LIMITS)
    assert caught.value.truncated


@both
@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (b'{"a":b}', "Expecting value at character 5"),
        (b'\xef\xbb\xbf"\xff"', "invalid start byte at byte 4"),
        (b"{} {}", "Extra data at character 2"),
        (b"[NaN]", "NaN is not JSON"),
        (b"1e999", "a number is too large for a float"),
        (b'"\\ud800"', "a string has a lone surrogate"),
        (b"1" * 5000, "an integer has too many digits"),
    ],
    ids=short,
)
def test_the_error_says_what_and_where(codec: Codec, data: bytes, detail: str) -> None:
    with pytest.raises(DecodeError, match=f"^{detail}$"):
        codec.decode(data, LIMITS)


def test_a_decode_error_can_be_pickled() -> None:
    error = pickle.loads(pickle.dumps(DecodeError("json", "why", truncated=True)))
    assert (error.reason, error.detail, error.truncated, str(error)) == ("json", "why", True, "why")


JSON_STYLES = st.sampled_from(
    [
        {},
        {"ensure_ascii": False},
        {"indent": 1},
        {"separators": (",", ":")},
        {"ensure_ascii": False, "indent": "\t"},
    ]
)
JSON_TEXTS = st.builds(lambda value, style: json.dumps(value, **style), VALUES, JSON_STYLES)
# fmt: off
TOKENS = st.sampled_from([
    "{", "}", "[", "]", ",", ":", '"', "\\", "null", "true", "false", "NaN", "-Infinity", "0", "1", "-1",
    "1.5", "1e5", "1e400", "18446744073709551615", ".", "e", "-", "+", '"a"', '""', '"a":', '"b":[',
    "\\u", "\\ud83d", "\\ude00", '"\\ud83d', "d83d", " ", "\t", "\r", "\n", "\x00", "\x0b", "\ufeff",
    "\u2028", "\U0001f600",
])
# fmt: on


@st.composite
def nearly_json(draw: st.DrawFn) -> bytes:
    """A JSON text in which a few bytes were cut, changed, repeated or put in."""
    data = bytearray(draw(JSON_TEXTS).encode())
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(start + 3, len(data))))
        data[start:end] = draw(st.binary(max_size=2) | TOKENS.map(str.encode) | st.just(bytes(data[start:end]) * 2))
    return bytes(data)


ANY_BYTES = st.binary(max_size=40) | nearly_json() | st.lists(TOKENS, max_size=12).map(lambda t: "".join(t).encode())


@settings(deadline=None, max_examples=200)
@given(ANY_BYTES, st.none() | st.integers(0, 4))
@example(b"\xef\xbb\xbf\xef\xbb\xbf", None)
@example(b"[[1", 1)
def test_any_bytes_raise_nothing_but_a_decode_error_and_codecs_agree(data: bytes, depth: int | None) -> None:
    limits = Limits(depth=depth)
    by_stdlib, by_orjson = outcome(STDLIB, data, limits), outcome(ORJSON, data, limits)
    if "truncated=" in by_stdlib:
        assert len(by_stdlib) < 100
    if not has_large_integer(data.decode(errors="replace")):
        assert by_stdlib == by_orjson


@quick
@given(ANY_BYTES)
def test_what_is_read_can_be_written(data: bytes) -> None:
    try:
        value = STDLIB.decode(data, LIMITS)
    except DecodeError:
        return
    assert repr(STDLIB.decode(STDLIB.encode(value), LIMITS)) == repr(value)


STRING_PIECES = st.lists(
    st.sampled_from(["\\\\", "\\ud83d", "\\uDE00", "\\ude00", "\\uDBFF", "\\uDC00", "\\ud7ff", "\\ue000"])
    | st.sampled_from(["\\u0041", "u", "d83d", "ud83d", "\\n", "\\\"", "x", "\U0001f600"]),
    max_size=8,
)  # fmt: skip


@quick
@given(STRING_PIECES)
@example(["\\ud83d", "\\\\", "\\ude00"])
@example(["\\ud83d", "\\ud83d", "\\ude00"])
@example(["\\ud83d", "\\ude00", "\\ude00"])
def test_lone_surrogates_are_refused_and_pairs_combined(pieces: list[str]) -> None:
    text = '["' + "".join(pieces) + '"]'
    (string,) = json.loads(text)
    lone = any("\ud800" <= character <= "\udfff" for character in string)
    for codec in (STDLIB, ORJSON):
        if lone:
            assert "surrogate" in outcome(codec, text.encode())
        else:
            assert codec.decode(text.encode(), LIMITS) == [string]


@settings(deadline=None, max_examples=40)
@given(
    st.lists(VALUES, min_size=1, max_size=3) | st.dictionaries(TEXT, VALUES, min_size=1, max_size=3),
    JSON_STYLES,
)
def test_every_start_of_a_text_is_truncated(value: Any, style: dict[str, Any]) -> None:
    data = json.dumps(value, **style).encode()
    for cut in range(len(data)):
        for codec in (STDLIB, ORJSON):
            assert "truncated=True" in outcome(codec, data[:cut]), data[:cut]


@both
def test_integers_of_64_bits_are_exact(codec: Codec) -> None:
    for integer in (2**53, 2**53 + 1, LEAST, MOST, -1, 0):
        assert codec.decode(b"%d" % integer, LIMITS) == integer
        assert codec.encode(integer) == b"%d" % integer


def test_larger_integers_are_the_documented_difference() -> None:
    for integer in (MOST + 1, LEAST - 1, 10**30):
        assert STDLIB.decode(b"%d" % integer, LIMITS) == integer
        assert STDLIB.encode(integer) == b"%d" % integer
        by_orjson = ORJSON.decode(b"%d" % integer, LIMITS)
        assert type(by_orjson) is float
        with pytest.raises(EncodeError, match="64-bit"):
            ORJSON.encode(integer)
    assert STDLIB.decode(b"1" * 400, LIMITS) == int("1" * 400)
    assert outcome(ORJSON, b"1" * 400) == "json, truncated=False: a number is too large for a float"
    with pytest.raises(EncodeError, match="digits"):
        STDLIB.encode(10**5000)


# Depth ------------------------------------------------------------------------------------------------------


def nesting(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(nesting, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(nesting, value), default=0)
    return 0


@quick
@given(VALUES, st.integers(0, 5))
@example([], 0)
@example([[]], 1)
@example({"a": {}}, 1)
@example(1, 0)
@example([1, {"a": [2]}], 2)
def test_depth_is_exact(value: Any, depth: int) -> None:
    data = json.dumps(value).encode()
    for codec in (STDLIB, ORJSON):
        result = outcome(codec, data, Limits(depth=depth))
        if nesting(value) <= depth:
            assert result == repr(value)
        else:
            assert result == f"depth, truncated=False: nested more than {depth} levels deep"


@both
@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
@pytest.mark.parametrize("levels", [2000, 200_000] if sys.version_info < (3, 12) else [200_000])
@pytest.mark.parametrize("depth", [None, 64, 10**6])
def test_what_is_too_deep_for_a_decoder_is_a_decode_error(
    codec: Codec, opening: bytes, levels: int, depth: int | None
) -> None:
    limits = Limits(depth=depth)
    closing = {b"[": b"]", b'{"a":': b"}", b'[{"a":': b"}]"}[opening]
    for data in (opening * levels, opening * levels + b"1" + closing * levels):
        with pytest.raises(DecodeError) as caught:
            codec.decode(data, limits)
        assert caught.value.reason == "depth"


def test_orjson_s_own_depth_is_called_depth_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the standard library reads deeper than orjson, as in later Pythons."""
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(5000)
        for levels in (1024, 1025, 1500):
            data = b"[" * levels + b"]" * levels
            assert nested_lists(STDLIB.decode(data, LIMITS)) == levels
            if levels <= 1024:
                assert nested_lists(ORJSON.decode(data, LIMITS)) == levels
            else:
                assert outcome(ORJSON, data).startswith("depth")
    finally:
        sys.setrecursionlimit(limit)


def nested_lists(value: Any) -> int:
    levels = 1
    while value:
        (value,) = value
        levels += 1
    return levels


@both
def test_depth_does_not_count_what_is_in_strings(codec: Codec) -> None:
    assert codec.decode(b'["[[[{\\"[["]', Limits(depth=1)) == ['[[[{"[[']


@both
def test_a_vast_depth_limit_costs_nothing(codec: Codec) -> None:
    assert codec.decode(b"[[1],{}]", Limits(depth=10**12)) == [[1], {}]


# Duplicate names --------------------------------------------------------------------------------------------

UNIQUE = Limits(forbid_duplicate_names=True)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b'{"a":1,"a":1}', '"a"'),
        (b'[{"b":{"a":1,"c":2,"b":3,"a":4}}]', '"a"'),
        (b'{"\\u0061":1,"a":2}', '"a"'),
        (b'{"":1,"":2}', '""'),
        (b'{"x":1,"' + b"n" * 99 + b'":1,"' + b"n" * 99 + b'":2}', '"n'),
    ],
)
def test_duplicate_names_are_refused_if_the_limits_say_so(data: bytes, name: str) -> None:
    with pytest.raises(DecodeError, match=name) as caught:
        STDLIB.decode(data, UNIQUE)
    assert caught.value.reason == "duplicate"
    assert not caught.value.truncated
    assert len(caught.value.detail) < 100


@quick
@given(VALUES)
@example({"a": 1, "A": 2, "\u00e9": 3, "e\u0301": 4, "s": 5, "\u017f": 6, "n": [{"a": 1}, {"a": 1}]})
def test_different_names_are_accepted(value: Any) -> None:
    assert repr(STDLIB.decode(STDLIB.encode(value), UNIQUE)) == repr(value)


@pytest.mark.parametrize("data", [b"[NaN]", b"1e400", b'"\\ud800"', b"[" * 100_000, b"[1,]", b'"\xff"', b"1" * 5000])
def test_the_rest_is_refused_alike_where_duplicates_are(data: bytes) -> None:
    assert outcome(STDLIB, data, UNIQUE) == outcome(STDLIB, data)


def test_a_codec_refuses_limits_that_it_cannot_keep() -> None:
    STDLIB.check(UNIQUE)
    STDLIB.check(Limits(depth=3))
    ORJSON.check(Limits(depth=3))
    with pytest.raises(LocalProtocolError, match="STDLIB") as caught:
        ORJSON.check(UNIQUE)
    assert caught.value.reason is Reason.CONFIGURATION


# Writing ----------------------------------------------------------------------------------------------------


@quick
@given(VALUES)
def test_what_is_written_is_read_exactly_by_both_codecs(value: Any) -> None:
    for writer in (STDLIB, ORJSON):
        data = writer.encode(value)
        assert b"\n" not in data
        assert b"\r" not in data
        for reader in (STDLIB, ORJSON):
            assert repr(reader.decode(data, LIMITS)) == repr(value)


@both
def test_output_is_compact_utf_8(codec: Codec) -> None:
    value = {"a": [1, 1.5, True, False, None, (), ("x",)], "é\u2028\U0001f600": '\n\r"\\/\x00\x7f'}
    text = '{"a":[1,1.5,true,false,null,[],["x"]],"é\u2028\U0001f600":"\\n\\r\\"\\\\/\\u0000\x7f"}'
    assert codec.encode(value) == text.encode()


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    ONE = 1


class Name(enum.StrEnum):
    ONE = "one"


class Text(str):
    __slots__ = ()


class Pair(NamedTuple):
    left: int


@dataclass
class Record:
    x: int = 1


CYCLE: list[Any] = []
CYCLE.append({"a": CYCLE})

UNWRITABLE = [
    (float("nan"), "nan"),
    (float("inf"), "inf"),
    (float("-inf"), "-inf"),
    ({1: 2}, "name of type int"),
    ({None: 2}, "name of type NoneType"),
    ({True: 2}, "name of type bool"),
    ({1.5: 2}, "name of type float"),
    ({Text("a"): 2}, "name of type Text"),
    (Colour.RED, "Colour"),
    (Level.ONE, "Level"),
    (Name.ONE, "Name"),
    (Text("a"), "Text"),
    (Pair(1), "Pair"),
    (Record(), "Record"),
    (OrderedDict(a=1), "OrderedDict"),
    (uuid.UUID(int=0), "UUID"),
    (datetime.date(2026, 7, 28), "date"),
    (b"a", "bytes"),
    (bytearray(b"a"), "bytearray"),
    ({1}, "set"),
    (1j, "complex"),
    (range(3), "range"),
    (object(), "object"),
    (int, "type"),
    ("\ud800", "surrogate"),
    ({"\udfff": 1}, "surrogate"),
    (CYCLE, "holds itself"),
]


@both
@pytest.mark.parametrize(("value", "why"), UNWRITABLE, ids=[why for _, why in UNWRITABLE])
def test_what_json_or_one_codec_lacks_is_refused(codec: Codec, value: object, why: str) -> None:
    for wrapped in (value, {"k": [0, value]}, ({"k": value},)):
        with pytest.raises(EncodeError, match=why):
            codec.encode(wrapped)


@both
def test_the_encode_error_says_where(codec: Codec) -> None:
    with pytest.raises(EncodeError, match=r"^\$\.params\.list\[1\]\.x is of type set, which JSON lacks$"):
        codec.encode({"id": 1, "params": {"a": {"b": 1.5}, "list": [[1], {"x": {1}}]}})
    with pytest.raises(EncodeError, match=r"^\$\[0\] has a name of type int, not str$"):
        codec.encode([{"a": 1, 2: 3}])
    with pytest.raises(EncodeError, match=r"^\$ is nan, which JSON lacks$"):
        codec.encode(float("nan"))


@pytest.mark.parametrize("levels", [300, 2000, 100_000])
def test_what_is_too_deep_for_an_encoder_is_an_encode_error(levels: int) -> None:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    with pytest.raises(EncodeError):
        ORJSON.encode(value)
    if levels > 1000:
        with pytest.raises(EncodeError, match="deep"):
            STDLIB.encode(value)


def test_whatever_depth_is_left_encoding_raises_nothing_else() -> None:
    """At each depth near the limit, so that every step of encoding is the one that goes too deep."""
    value: Any = 1
    outcomes = set()
    for depth in range(1000):
        value = {"a": value}
        for codec in (STDLIB, ORJSON):
            if 250 < depth < 256 or depth > 950:
                try:
                    outcomes.add(type(codec.encode(value)))
                except EncodeError as error:
                    outcomes.add(type(error))
    assert outcomes == {bytes, EncodeError}


def test_the_encoder_s_own_recursion_error_is_an_encode_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def encode(value: object) -> str:
        raise RecursionError

    monkeypatch.setattr(codec_module._ENCODER, "encode", encode)
    with pytest.raises(EncodeError, match="deep"):
        STDLIB.encode([])


# Choosing ---------------------------------------------------------------------------------------------------


def test_names() -> None:
    assert (STDLIB.name, ORJSON.name) == ("stdlib", "orjson")


def test_orjson_is_imported_only_when_it_is_asked_for() -> None:
    code = (
        "import sys, mcp_sansio.codec as c; assert 'orjson' not in sys.modules; c.ORJSON; "
        "assert 'orjson' in sys.modules"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def test_orjson_is_made_once() -> None:
    assert codec_module.ORJSON is codec_module.ORJSON


def test_without_orjson_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(codec_module.__dict__, "ORJSON")
    monkeypatch.setitem(sys.modules, "orjson", None)
    with pytest.raises(ImportError, match=re.escape("pip install 'mcp_sansio[orjson]'")):
        _ = codec_module.ORJSON


def test_the_module_has_no_other_attributes() -> None:
    with pytest.raises(AttributeError, match="SIMDJSON"):
        _ = codec_module.SIMDJSON


# Time -------------------------------------------------------------------------------------------------------


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "escapes": lambda size: b'"' + b"\\\\" * size + b'"',
    "pairs": lambda size: b'"' + b"\\ud83d\\ude00" * (size // 8) + b'"',
    "text": lambda size: b'"' + b"a\xc3\xa9" * size + b'"',
    "unterminated": lambda size: b'{"a":"' + b"\\n" * size,
    "openings": lambda size: b"[" * size,
    "wide": lambda size: b"[" + b"[],{}," * (size // 8) + b"1]",
    "names": lambda size: b"{" + b",".join(b'"%d":1' % i for i in range(size // 8)) + b"}",
    "late duplicate": lambda size: b"{" + b",".join(b'"%d":1' % i for i in range(size // 8)) + b',"9":1}',
    "one name": lambda size: b"{" + b",".join([b'"a":1'] * (size // 4)) + b"}",
    "float": lambda size: b"0." + b"1" * size * 8,
    "space": lambda size: b"{" + b" " * size * 8 + b"}" + b" " * size,
    "no value": lambda size: b" " * size * 8,
    "bad byte": lambda size: b'"' + b"a" * size * 8 + b"\xff",
}


@both
@pytest.mark.parametrize("kind", HOSTILE)
def test_decoding_time_is_linear(codec: Codec, kind: str) -> None:
    small, large = HOSTILE[kind](50_000), HOSTILE[kind](200_000)
    limits = Limits(depth=100)
    assert_linear(lambda size: outcome(codec, small if size == 1 else large, limits), 1)


@pytest.mark.parametrize("kind", ["names", "late duplicate", "one name"])
def test_decoding_time_is_linear_with_unique_names(kind: str) -> None:
    small, large = HOSTILE[kind](50_000), HOSTILE[kind](200_000)
    assert_linear(lambda size: outcome(STDLIB, small if size == 1 else large, UNIQUE), 1)


@both
def test_encoding_time_is_linear(codec: Codec) -> None:
    assert_linear(lambda size: codec.encode([{"a": [1, 2.5], "b": "x\n"}] * size), 1000)


def test_codecs_are_named_by_their_constants() -> None:
    assert (repr(STDLIB), repr(ORJSON)) == ("STDLIB", "ORJSON")
