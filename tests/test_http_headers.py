"""What the headers of Streamable HTTP mirror, how values are written, and media types."""

from __future__ import annotations

import copy
import re
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from mcp_sansio.http.headers import (
    METHOD,
    NAME,
    NAME_SOURCES,
    PARAM_PREFIX,
    PROTOCOL_VERSION,
    TASKS_NAME_SOURCES,
    HeaderError,
    ParameterHeader,
    ToolHeaderError,
    accepts,
    content_type,
    decode_value,
    encode_value,
    has_media_type,
    header_fault,
    parameter_headers,
    request_headers,
)
from mcp_sansio.http.values import Headers
from mcp_sansio.jsonrpc import JSONRPCNotification, JSONRPCRequest

from .strategies import REVISIONS
from .timing import assert_linear

quick = settings(deadline=None)

JSON_TYPE, STREAM_TYPE = "application/json", "text/event-stream"
MODERN = "2026-07-28"
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)

# Values


@quick
@given(TEXTS | st.text("=?base64 \t\0é", max_size=12) | st.binary(max_size=9).map(lambda b: f"=?base64?{b.hex()}?="))
@example("=?base64?=")
@example("=?base64??=")
@example("a\tb")
def test_what_is_written_is_read_back(text: str) -> None:
    value = encode_value(text)
    assert decode_value(value) == text
    assert re.fullmatch("[ -~]*", value)
    assert value == value.strip()
    assert decode_value(f" \t{value} ") == text


@given(st.text("abc XYZ019-_./:%?=", max_size=12))
def test_what_is_safe_is_written_as_it_is(text: str) -> None:
    assume(text == text.strip(" "))
    assert encode_value(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("us-west1", "us-west1"),
        ("", ""),
        ("us west 1", "us west 1"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("tööl", "=?base64?dMO2w7Zs?="),
        ("\tindented", "=?base64?CWluZGVudGVk?="),
    ],
)
def test_the_examples_of_the_specification(text: str, value: str) -> None:
    assert (encode_value(text), decode_value(value)) == (value, text)


@pytest.mark.parametrize("value", ["SGVsbG8=", "=?base64?SGVsbG8=", "SGVsbG8=?=", "=?BASE64?SGVsbG8=?=", "a\tb"])
def test_what_lacks_a_part_of_the_sentinel_is_taken_literally(value: str) -> None:
    assert decode_value(value) == value


@pytest.mark.parametrize(
    "value",
    [
        "=?base64?SGVsbG8?=",  # without its padding
        "=?base64?SGVs!!!bG8=?=",
        "=?base64?SGVsbG9=?=",  # bits that nothing wrote
        "=?base64?SGVs bG8=?=",
        "=?base64?/w==?=",  # not UTF-8
        "=?base64?é?=",
        "=?base64?=",
        "caf\xe9",
        "a\x00b",
        "a\x7fb",
        "a\r\n b",  # obs-fold
    ],
)
def test_what_nothing_can_be_made_of_is_refused(value: str) -> None:
    with pytest.raises(HeaderError, match=r"invalid characters|base64"):
        decode_value(value)


@given(st.text() | st.text("=?base64SGVsbG8 ").map(lambda text: f"=?base64?{text}?="))
def test_any_value_is_read_or_refused(value: str) -> None:
    try:
        decode_value(value)
    except HeaderError:
        return


def test_lone_surrogates_are_refused() -> None:
    with pytest.raises(HeaderError, match="surrogates"):
        encode_value("\ud800")


# Media types

TOKENS = st.text("abcXYZ019!#$%&'*+-.^_`|~", min_size=1, max_size=5)
SPACE = st.sampled_from(["", " ", "\t ", "  "])


@quick
@given(TOKENS, TOKENS, st.lists(st.tuples(TOKENS, st.text(max_size=5), SPACE, SPACE, st.booleans()), max_size=4), SPACE)
def test_any_media_type_is_read(
    kind: str, subtype: str, parameters: list[tuple[str, str, str, str, bool]], space: str
) -> None:
    value, expected = f"{space}{kind}/{subtype}", dict[str, str]()
    for name, text, before, after, bare in parameters:
        bare = bare and re.fullmatch(r"[a-zA-Z0-9]+", text) is not None
        quoted = text if bare else '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'
        if "\n" in text:
            continue
        value += f"{before};{after}{name}={quoted}"
        expected.setdefault(name.lower(), text)
    assert content_type(value + space) == (f"{kind}/{subtype}".lower(), expected)


@given(st.text() | st.text('a/;="\\ ,q'))
def test_any_text_is_read_as_a_media_type_or_not(text: str) -> None:
    content_type(text)
    accepts([text], JSON_TYPE)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("application/json; charset=utf-8", True),
        ("Application/JSON", True),
        ('application/json;charset="UTF-8"', True),
        ('application/json; charset="utf\\-8" ; x="a;b"', True),
        ("application/json;", True),
        ("application/json ; ; a=b", True),
        ("application/jsonp", False),
        ("application/json; charset=latin-1", False),
        ("application/json, text/plain", False),
        ("application/json charset=utf-8", False),
        ("application/json;charset", False),
        ("application/json;charset=", False),
        ('application/json;charset="utf-8', False),
        ("application/json;\r\n charset=utf-8", False),
        ("application/json\n", False),
        ("application", False),
        ("/json", False),
        ("", False),
        (None, False),
    ],
)
def test_http_125_type_and_subtype_count_in_any_case(value: str | None, found: bool) -> None:
    assert has_media_type(value, JSON_TYPE) is found


@pytest.mark.parametrize(
    ("values", "json", "stream"),
    [
        (["*/*"], True, True),
        (["text/event-stream"], False, True),
        (["application/json;q=0.9,text/event-stream;q=0.1"], True, True),
        (["APPLICATION/JSON, Text/Event-Stream"], True, True),
        (["application/json", "text/event-stream"], True, True),
        (["text/*"], False, True),
        ([], True, True),
        ([""], False, False),
        (["application/json;q=0"], False, False),
        (["application/json;q=0, */*"], False, True),
        (["*/*, application/json; q=0.000"], False, True),
        (["text/*;q=0, text/event-stream;q=.2"], False, True),
        (["application/json;q=0, application/json"], True, False),
        (['application/json; x="a, text/event-stream"'], True, False),
        (['application/json; x="a'], False, False),
        (["application/json;q=high, text/event-stream"], False, True),
        (["text, , text/event-stream; charset=utf-8;q=1"], False, True),
        (["application/json,\r\n text/event-stream"], True, False),
    ],
)
def test_http_124_ranges_are_matched_in_any_case_and_order(values: list[str], json: bool, stream: bool) -> None:
    assert (accepts(values, JSON_TYPE), accepts(values, STREAM_TYPE)) == (json, stream)
    assert (accepts(iter(values), JSON_TYPE), accepts(values[::-1], STREAM_TYPE)) == (json, stream)


RANGES = ["application/json", "text/event-stream", "application/*", "text/*", "*/*", "image/png"]


@quick
@given(st.dictionaries(st.sampled_from(RANGES), st.sampled_from(["0", "0.0", "0.1", "1", "1.000"]), min_size=1))
def test_the_most_specific_range_decides(weights: dict[str, str]) -> None:
    value = " , ".join(f"{each.upper()} ; Q={weight}" for each, weight in weights.items())
    for media_type in (JSON_TYPE, STREAM_TYPE):
        matching = [each for each in (media_type, media_type.split("/")[0] + "/*", "*/*") if each in weights]
        assert accepts([value], media_type) is (bool(matching) and float(weights[matching[0]]) > 0)


@pytest.mark.parametrize("unit", [" ", ";", ",", '"', "\\", "a", 'a="', " ;a=b", '"\\', "=?"])
def test_reading_takes_linear_time(unit: str) -> None:
    def run(count: int) -> None:
        for text in ("a/b" + unit * count, "a/b;c=" + unit * count + "\0", 'a/b;c="' + unit * count + "\0"):
            content_type(text)
            accepts([text], JSON_TYPE)
            decode = f"=?base64?{text}?="
            for value in (decode, text + "\0"):
                with pytest.raises(HeaderError):
                    decode_value(value)
            encode_value(text)

    assert_linear(run, 5000)


# Parameters of tools

HEADER_NAMES = st.text("abcXYZ019-_", min_size=1, max_size=4)
MIRRORED = st.sampled_from(["string", "integer", "boolean"])
PROPERTY_NAMES = st.sampled_from(["a", "b", "items", "$ref", "x-mcp-header", "properties", "oneOf", "type", ""])

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["string", "x-mcp-header", "A"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["x-mcp-header", "type", "properties", "items", "anyOf", "$defs", "default"]), inner
        )
    ),
    max_leaves=20,
)

PLAIN_SCHEMAS: st.SearchStrategy[Any] = st.sampled_from(
    [
        True,
        {},
        {"type": "number"},
        {"type": ["string", "null"]},
        {"const": {"x-mcp-header": "Data"}},
        {"type": "object", "default": {"x-mcp-header": ""}, "examples": [{"x-mcp-header": 1}]},
        {"enum": [{"type": "string", "x-mcp-header": "Data"}]},
        {"$ref": "#/$defs/other"},
        {"items": {"type": "string"}, "allOf": [{}, True]},
        {"properties": ["no", "schemas"]},
    ]
)


@st.composite
def objects(draw: st.DrawFn, depth: int = 2) -> tuple[dict[str, Any], list[tuple[tuple[str, ...], dict[str, Any]]]]:
    """A schema whose annotations are valid, but for equal names, and the annotated ones with their paths, in order."""
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    found: list[tuple[tuple[str, ...], dict[str, Any]]] = []
    for name in draw(st.lists(PROPERTY_NAMES, unique=True, max_size=3)):
        kind = draw(st.sampled_from(["annotated", "nested", "plain"] if depth else ["annotated", "plain"]))
        inner: Any
        if kind == "annotated":
            inner = {"type": draw(MIRRORED), "x-mcp-header": draw(HEADER_NAMES)}
            found.append(((name,), inner))
        elif kind == "nested":
            inner, below = draw(objects(depth - 1))
            found += [((name, *path), annotated) for path, annotated in below]
        else:
            inner = draw(PLAIN_SCHEMAS)
        schema["properties"][name] = inner
    return schema, found


def has_equal_names(found: list[tuple[tuple[str, ...], dict[str, Any]]]) -> bool:
    names = [schema["x-mcp-header"].lower() for _, schema in found]
    return len(set(names)) < len(names)


@quick
@given(objects())
def test_each_annotation_on_a_chain_of_properties_is_found(
    made: tuple[dict[str, Any], list[tuple[tuple[str, ...], dict[str, Any]]]],
) -> None:
    schema, found = made
    if has_equal_names(found):
        with pytest.raises(ToolHeaderError, match="same x-mcp-header"):
            parameter_headers(schema)
        return
    assert parameter_headers(schema) == tuple(
        ParameterHeader(PARAM_PREFIX + inner["x-mcp-header"], path, inner["type"]) for path, inner in found
    )


OTHER_KEYWORDS = ["items", "contains", "additionalProperties", "not", "if", "then", "else", "x-other", "contentSchema"]


@quick
@given(
    objects(),
    st.sampled_from(
        [
            *(lambda schema, each=each: {each: schema} for each in OTHER_KEYWORDS),
            *(lambda schema, each=each: {each: [True, schema]} for each in ("allOf", "anyOf", "oneOf", "prefixItems")),
            *(
                lambda schema, each=each: {each: {"default": schema}}
                for each in ("$defs", "definitions", "patternProperties", "dependentSchemas", "dependencies")
            ),
        ]
    ),
)
def test_http_136_an_annotation_anywhere_else_is_refused(made: Any, wrap: Any) -> None:
    schema, found = made
    assume(found)
    for broken in (wrap(schema), {"properties": {"a": wrap(schema)}}):
        with pytest.raises(ToolHeaderError, match="chain of properties"):
            parameter_headers(broken)


@quick
@given(ANYTHING)
def test_any_schema_is_read_or_refused(value: Any) -> None:
    before = copy.deepcopy(value)
    try:
        parameter_headers({"properties": {"a": value}})
    except ToolHeaderError as error:
        assert len(str(error)) < 300
    assert value == before


@pytest.mark.parametrize(
    "annotation", ["", "Re gion", "A\r\nB", "Region:Primary", "Région", "Region\t1", "a\0", None, 1, True, ["A"], {}]
)
def test_http_136_a_name_is_a_token(annotation: Any) -> None:
    with pytest.raises(ToolHeaderError, match=r"'a\.b' is no HTTP token"):
        parameter_headers({"properties": {"a": {"properties": {"b": {"type": "string", "x-mcp-header": annotation}}}}})


@pytest.mark.parametrize("kind", ["number", "object", "array", "null", ["string", "null"], ["string"], None, 7])
def test_http_137_a_type_is_string_integer_or_boolean(kind: Any) -> None:
    with pytest.raises(ToolHeaderError, match="'rate' has an x-mcp-header, but not the type"):
        parameter_headers({"properties": {"rate": {"type": kind, "x-mcp-header": "Rate"}}})
    with pytest.raises(ToolHeaderError, match="not the type"):
        parameter_headers({"properties": {"rate": {"x-mcp-header": "Rate"}}})


def test_http_136_names_are_unique_in_any_case() -> None:
    schema = {
        "a": {"type": "string", "x-mcp-header": "Dup"},
        "b": {"properties": {"c": {"type": "string", "x-mcp-header": "dUP"}}},
    }
    with pytest.raises(ToolHeaderError, match=r"'b\.c' and 'a' have the same"):
        parameter_headers({"properties": schema})


def test_an_annotation_of_the_whole_schema_is_refused() -> None:
    with pytest.raises(ToolHeaderError, match="chain of properties"):
        parameter_headers({"type": "string", "x-mcp-header": "All"})


def test_a_schema_may_be_as_deep_as_it_likes() -> None:
    schema: dict[str, Any] = {"type": "string", "x-mcp-header": "Deep"}
    for _ in range(3000):
        schema = {"properties": {"a": schema}}
    [header] = parameter_headers(schema)
    assert header.path == ("a",) * 3000
    for _ in range(3000):
        schema = {"items": [schema]}
    with pytest.raises(ToolHeaderError):
        parameter_headers(schema)


def test_what_it_says_is_short_and_ascii() -> None:
    with pytest.raises(ToolHeaderError) as caught:
        parameter_headers({"properties": {"é" * 9999: {"x-mcp-header": ""}}})
    assert str(caught.value).isascii()
    assert len(str(caught.value)) < 400


# Requests

SAFE = 2**53 - 1
VALUES = TEXTS | st.integers(-SAFE, SAFE) | st.booleans() | st.none() | st.integers(-SAFE, SAFE).map(float)
ODD = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not x.is_integer()) | st.just([]) | st.just({})
PARAMETERS = (
    ParameterHeader("Mcp-Param-A", ("a",), "string"),
    ParameterHeader("Mcp-Param-B", ("n", "b"), "integer"),
    ParameterHeader("Mcp-Param-C", ("n", "m", "c"), "boolean"),
)
META = {"_meta": {"io.modelcontextprotocol/protocolVersion": MODERN}}


@st.composite
def requests(draw: st.DrawFn, values: st.SearchStrategy[Any] = VALUES) -> JSONRPCRequest:
    method = draw(st.sampled_from([*NAME_SOURCES, "tools/list", "x/y"]))
    params: dict[str, Any] = dict(META)
    if method in NAME_SOURCES:
        params[NAME_SOURCES[method]] = draw(TEXTS)
    if draw(st.booleans()):
        arguments: dict[str, Any] = {}
        places = [arguments]
        if draw(st.booleans()):
            places.append(arguments.setdefault("n", {}))
            if draw(st.booleans()):
                places.append(places[-1].setdefault("m", {}))
        for place, name in zip(places, "abc", strict=False):
            if draw(st.booleans()):
                place[name] = draw(values)
        params["arguments"] = arguments
    return JSONRPCRequest(1, method, params)


def sent(message: JSONRPCRequest, **options: Any) -> Headers:
    return Headers(request_headers(message, MODERN, PARAMETERS, **options))


@quick
@given(requests(VALUES | ODD))
def test_what_a_client_sends_a_server_takes(message: JSONRPCRequest) -> None:
    headers = sent(message)
    assert header_fault(headers, message, PARAMETERS) is None
    in_other_case = Headers((name.swapcase(), value) for name, value in reversed(list(headers)))
    assert header_fault(in_other_case, message, PARAMETERS) is None
    more = (("Mcp-Param-Unknown", "\0"), ("Mcp-Session-Id", "x"), *headers, *headers)
    assert header_fault(Headers(more), message, PARAMETERS) is None


@quick
@given(requests(), st.data())
def test_any_mismatch_is_found(message: JSONRPCRequest, data: st.DataObject) -> None:
    headers = list(sent(message))
    place = data.draw(st.integers(0, len(headers) - 1))
    name, value = headers[place]
    fault = header_fault(Headers(headers[:place] + headers[place + 1 :]), message, PARAMETERS)
    assert fault is not None
    assert fault.startswith(f"{name} is missing; the body has ")

    other = data.draw(TEXTS | st.sampled_from([value + "0", value.upper(), "0" + value, value + ".5", "-" + value]))
    if name in (PROTOCOL_VERSION, METHOD):
        assume(other.strip(" \t") != value)
    else:
        assume(other != decode_value(value))
        assume(not re.fullmatch(r"-?[0-9]+", value))  # numbers have many forms
        other = encode_value(other)
    for changed in (headers[:place] + headers[place + 1 :], headers):  # instead of it, and besides
        fault = header_fault(Headers([*changed, (name, other)]), message, PARAMETERS)
        assert fault is not None
        assert fault.startswith(name)
        assert fault.isascii()
        assert len(fault) < 2000


@quick
@given(requests(ODD | st.none()), st.sampled_from(PARAMETERS), TEXTS.map(encode_value))
def test_a_header_for_which_the_body_has_nothing_is_a_fault(
    message: JSONRPCRequest, parameter: ParameterHeader, value: str
) -> None:
    headers = Headers([*sent(message), (parameter.name, value)])
    assert header_fault(headers, message, PARAMETERS) == (
        f"{parameter.name} is sent, but the body has no value that it mirrors"
    )


def call(value: Any, **params: Any) -> JSONRPCRequest:
    return JSONRPCRequest(1, "tools/call", {"name": "tööl", "arguments": {"a": value}, **META, **params})


@pytest.mark.parametrize(
    ("value", "header", "same"),
    [
        (42, "42", True),
        (42, "42.0", True),
        (42, "0042.000", True),
        (42.0, "42", True),
        (42, "=?base64?NDI=?=", True),
        (-7, "-7", True),
        (0, "-0", True),
        (0, "00", True),
        (SAFE, str(SAFE), True),
        (42, "+42", False),
        (42, "42.5", False),
        (42, "42.", False),
        (42, "4.2e1", False),
        (42, "", False),
        (42, "forty-two", False),
        (42, "1" * 5000, False),
        (1, "true", False),
        (SAFE, str(SAFE + 1), False),
        (42, "=?base64?2aTZog==?=", False),  # digits, but not ASCII
        ("42", "42.0", False),
        ("42", "42", True),
        (True, "true", True),
        (True, "True", False),
        (True, "1", False),
        (False, "false", True),
        ("True", "True", True),
        ("", "", True),
        ("x", "", False),
        ("caf\xe9", "caf\xe9", False),
        ("a b", "a\r\n b", False),
    ],
)
def test_http_134_integers_are_compared_as_numbers_and_booleans_exactly(value: Any, header: str, same: bool) -> None:
    message = call(value)
    headers = sent(message).with_([("mcp-param-a", header)])
    assert (header_fault(headers, message, PARAMETERS) is None) is same


@pytest.mark.parametrize("value", [SAFE + 1, -SAFE - 1, 2.0**60, 10**5000], ids=["above", "below", "a float", "huge"])
def test_integers_beyond_the_safe_range_are_refused(value: float) -> None:
    with pytest.raises(HeaderError, match="Mcp-Param-A can't mirror"):
        sent(call(value))
    headers = sent(call(1)).with_([("Mcp-Param-A", "1")])
    fault = header_fault(headers, call(value), PARAMETERS)
    assert fault == "Mcp-Param-A mirrors an integer beyond 2**53 - 1 in the body, which is not allowed"


def test_http_133_names_are_decoded_before_they_are_compared() -> None:
    message = call("x")
    assert dict(sent(message)) == {
        PROTOCOL_VERSION: MODERN,
        METHOD: "tools/call",
        NAME: "=?base64?dMO2w7Zs?=",
        "Mcp-Param-A": "x",
    }
    assert header_fault(sent(message), message, PARAMETERS) is None
    fault = header_fault(sent(message).with_({NAME: "=?base64?dMO2w7Z?="}), message, PARAMETERS)
    assert fault is not None
    assert fault.startswith("Mcp-Name can't be read: it begins as =?base64?")


def test_only_names_and_parameters_may_be_encoded() -> None:
    message = JSONRPCRequest(1, "tools/list", dict(META))
    for name, value in ((METHOD, "tools/list"), (PROTOCOL_VERSION, MODERN)):
        encoded = f"=?base64?{b64encode(value.encode()).decode()}?="
        assert header_fault(sent(message).with_({name: encoded}), message) is not None
    odd = JSONRPCRequest(1, "=?base64?eA==?=", dict(META))
    assert header_fault(sent(odd), odd) is None


@pytest.mark.parametrize("method", ["métier", " x", "x\n"])
def test_a_method_that_no_header_can_carry_is_refused(method: str) -> None:
    with pytest.raises(HeaderError, match="Mcp-Method can't carry the method"):
        sent(JSONRPCRequest(1, method, dict(META)))


def test_http_133_notifications_mirror_nothing_but_the_version() -> None:
    assert request_headers(JSONRPCNotification("notifications/x"), MODERN) == [(PROTOCOL_VERSION, MODERN)]


@pytest.mark.parametrize("revision", REVISIONS[:-1])
def test_a_legacy_revision_has_the_version_header_at_most(revision: str) -> None:
    expected = [(PROTOCOL_VERSION, revision)] if revision >= "2025-06-18" else []
    message = call("x")
    assert request_headers(message, revision, PARAMETERS) == expected
    assert request_headers(JSONRPCNotification("notifications/initialized"), revision) == expected
    assert request_headers(JSONRPCRequest(1, "initialize"), revision) == []


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_http_166_extensions_say_what_names_their_requests(method: str) -> None:
    message = JSONRPCRequest(1, method, {"taskId": "t1", **META})
    assert NAME not in sent(message)
    assert header_fault(sent(message), message) is None
    names = {**NAME_SOURCES, **TASKS_NAME_SOURCES}
    headers = sent(message, names=names)
    assert headers.get(NAME) == "t1"
    assert header_fault(headers, message, names=names) is None
    assert header_fault(sent(message), message, names=names) == "Mcp-Name is missing; the body has 't1'"
    assert set(NAME_SOURCES) == {"tools/call", "prompts/get", "resources/read"}


@pytest.mark.parametrize("params", [None, {}, {"name": 1}, {"name": None}, {"_meta": 1}, {"_meta": {}, "arguments": 1}])
def test_what_the_body_lacks_is_for_others_to_judge(params: dict[str, Any] | None) -> None:
    message = JSONRPCRequest(1, "tools/call", params)
    assert header_fault(Headers({METHOD: "tools/call"}), message, PARAMETERS) is None
    fault = header_fault(Headers({METHOD: "tools/call", NAME: "x"}), message, PARAMETERS)
    assert fault == "Mcp-Name is sent, but the body has no value that it mirrors"
    fault = header_fault(Headers({METHOD: "tools/call", PROTOCOL_VERSION: MODERN}), message, PARAMETERS)
    assert fault == "MCP-Protocol-Version is sent, but the body has no value that it mirrors"


def test_a_mismatch_says_both_values() -> None:
    message = JSONRPCRequest(1, "tools/call", {"name": "bar", **META})
    headers = sent(message)
    assert header_fault(headers.with_({NAME: "foo"}), message) == (
        "Mcp-Name header value 'foo' does not match body value 'bar'"
    )
    fault = header_fault(headers.with_({METHOD: "tools/" + "x" * 9999}), message)
    assert fault == f"Mcp-Method header value 'tools/{'x' * 54}'... does not match body value 'tools/call'"
