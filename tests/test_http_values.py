"""HTTP requests, responses and header fields as values, and the statuses of errors."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mcp_sansio.http
from mcp_sansio.http.statuses import ERROR_STATUSES, MODERN_ERRORS, is_modern_error, status_of
from mcp_sansio.http.values import Headers, HTTPRequest, HTTPResponse
from mcp_sansio.spec import ErrorCode

NAMES = st.sampled_from(["Accept", "accept", "ACCEPT", "Mcp-Name", "mcp-name", "Host"])
ITEMS = st.lists(st.tuples(NAMES, st.text(max_size=5)), max_size=8)


@given(ITEMS, NAMES)
def test_names_match_in_any_case_and_repeats_stay(items: list[tuple[str, str]], name: str) -> None:
    headers = Headers(items)
    values = [value.strip(" \t") for given, value in items if given.lower() == name.lower()]
    assert headers.get_all(name) == tuple(values)
    assert headers.get(name) == (", ".join(values) if values else None)
    assert (name in headers) is bool(values)
    assert [given for given, _ in headers] == [given for given, _ in items]
    assert len(headers) == len(items)


@given(ITEMS, ITEMS)
def test_fields_are_replaced_by_name_in_a_copy(items: list[tuple[str, str]], added: list[tuple[str, str]]) -> None:
    headers = Headers(items)
    changed = headers.with_(added)
    assert headers == Headers(items)
    for name, _ in (*items, *added):
        assert changed.get_all(name) == (Headers(added).get_all(name) or headers.get_all(name))


def test_space_around_a_value_belongs_to_no_value() -> None:
    assert Headers([("A", " \t x\ty \t")]).get("a") == "x\ty"
    assert Headers([("A", "x\r\n ")]).get("a") == "x\r\n"  # that is no space, and for those who read it to refuse


def test_equal_by_value_whatever_they_were_made_from() -> None:
    headers = Headers({"Host": "h", "Accept": "a"})
    assert headers == Headers([("host", "h"), ("ACCEPT", " a")]) != Headers([("accept", "a"), ("host", "h")])
    assert hash(headers) == hash(Headers([("host", "h"), ("ACCEPT", "a")]))
    assert headers != Headers([("Host", "H"), ("Accept", "a")])
    assert Headers() == Headers([]) == Headers({})


def test_no_representation_shows_secrets() -> None:
    headers = Headers([("Authorization", "Bearer SECRET")])
    shown = repr(HTTPRequest("POST", "/messages?sessionId=SECRET", headers, b"SECRET"))
    shown += repr(HTTPResponse(200, headers, b"SECRET")) + repr(headers)
    assert "SECRET" not in shown
    assert "'/messages'" in shown
    assert "<6 bytes>" in shown
    assert "Authorization" in shown


def test_requests_and_responses_are_values() -> None:
    assert HTTPRequest("GET", "/mcp") == HTTPRequest("GET", "/mcp", Headers(), b"")
    assert HTTPResponse(202) == HTTPResponse(202, Headers(), b"") != HTTPResponse(200)


@given(ITEMS)
def test_headers_of_requests_and_responses_are_converted(items: list[tuple[str, str]]) -> None:
    assert HTTPRequest("GET", "/", items).headers == HTTPResponse(200, items).headers == Headers(items)
    assert HTTPRequest("GET", "/", dict(items)) == HTTPRequest("GET", "/", Headers(dict(items)))
    headers = Headers(items)
    assert HTTPRequest("GET", "/", headers).headers is headers


@given(st.lists(st.tuples(st.binary(max_size=5), st.binary(max_size=5))))
def test_bytes_in_headers_are_latin_1(items: list[tuple[bytes, bytes]]) -> None:
    text = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in items]
    assert list(Headers(items)) == list(Headers(text))
    assert list(Headers().with_(items)) == list(Headers(text))


@pytest.mark.parametrize("item", [("A", None), ("A", 1), (None, "a"), ("A", ["b"])])
def test_other_types_in_headers_are_refused(item: Any) -> None:
    with pytest.raises(TypeError, match=r"^names and values are str, not (NoneType|int|list)$"):
        Headers([item])
    with pytest.raises(TypeError, match="names and values are str"):
        Headers().with_(dict([item]))
    with pytest.raises(TypeError, match="names and values are str"):
        HTTPRequest("GET", "/", [item])


@pytest.mark.parametrize("body", ["{}", None, bytearray(b"{}"), {}])
def test_a_body_that_is_not_bytes_is_refused(body: Any) -> None:
    message = f"^body is bytes, not {type(body).__name__}$"
    with pytest.raises(TypeError, match=message):
        HTTPRequest("POST", "/", body=body)
    with pytest.raises(TypeError, match=message):
        HTTPResponse(200, body=body)


@pytest.mark.parametrize(
    ("code", "legacy", "modern"),
    [
        (ErrorCode.PARSE_ERROR, 400, 400),
        (ErrorCode.INVALID_REQUEST, 400, 400),
        (ErrorCode.METHOD_NOT_FOUND, 200, 404),
        (ErrorCode.INVALID_PARAMS, 200, 200),
        (ErrorCode.INTERNAL_ERROR, 200, 200),
        (ErrorCode.RESOURCE_NOT_FOUND, 200, 200),
        (ErrorCode.HEADER_MISMATCH, 400, 400),
        (ErrorCode.MISSING_REQUIRED_CLIENT_CAPABILITY, 400, 400),
        (ErrorCode.UNSUPPORTED_PROTOCOL_VERSION, 400, 400),
        (ErrorCode.URL_ELICITATION_REQUIRED, 200, 200),
        (-1, 200, 200),
    ],
)
def test_http_131_the_status_depends_on_the_era(code: int, legacy: int, modern: int) -> None:
    assert (status_of(code, modern=False), status_of(code, modern=True)) == (legacy, modern)


@given(st.integers(100, 599), st.sampled_from(sorted(ErrorCode)) | st.integers())
def test_only_some_answers_tell_that_a_server_is_modern(status: int, code: int) -> None:
    client_error = 400 <= status <= 499
    told = (client_error and code in (-32020, -32021, -32022)) or (status == 404 and code == -32601)
    assert is_modern_error(status, code) is told


def test_what_a_modern_server_answers_tells_what_it_is() -> None:
    told = {code for code, row in ERROR_STATUSES.items() if row.modern != 200 and is_modern_error(row.modern, code)}
    assert told == set(MODERN_ERRORS) == set(ERROR_STATUSES) - {ErrorCode.PARSE_ERROR, ErrorCode.INVALID_REQUEST}


def test_of_urllib_only_the_pure_part_is_used() -> None:
    found: set[str] = set()
    for path in Path(mcp_sansio.http.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found |= {f"{node.module}.{alias.name}" for alias in node.names} if node.level == 0 else set()
    used = {name for name in found if name.startswith("urllib")}
    assert all(f"{name}.".startswith("urllib.parse.") for name in used), used
