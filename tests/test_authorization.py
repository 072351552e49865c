"""What a server says to who may not, and what a client reads from it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcp_sansio.http.authorization import (
    Challenge,
    bearer_token,
    forbidden,
    metadata_path,
    parse_challenge,
    parse_challenges,
    protected_resource_metadata,
    unauthorized,
)
from mcp_sansio.http.values import Headers, HTTPResponse

from .timing import assert_linear

quick = settings(deadline=None)

METADATA = "https://mcp.example.com/.well-known/oauth-protected-resource"
QUOTABLE = st.text([chr(code) for code in range(0x20, 0x7F) if chr(code) not in '"\\'], max_size=20)
OPTIONAL = st.none() | QUOTABLE


def challenged(*values: str) -> Headers:
    return Headers([("Date", "now"), *(("www-authenticate", value) for value in values)])


# Servers


@quick
@given(OPTIONAL, OPTIONAL, OPTIONAL, OPTIONAL)
def test_what_a_server_says_a_client_reads(
    resource_metadata: str | None, scope: str | None, error: str | None, error_description: str | None
) -> None:
    response = unauthorized(
        resource_metadata=resource_metadata, scope=scope, error=error, error_description=error_description
    )
    assert (response.status, response.body) == (401, b"")
    challenge = parse_challenge(response.headers)
    assert challenge is not None
    assert challenge.scheme == "bearer"
    assert challenge.resource_metadata == resource_metadata
    assert challenge.scope == scope
    assert challenge.error == error
    assert challenge.error_description == error_description

    response = forbidden(scope=scope or "", resource_metadata=resource_metadata, error_description=error_description)
    assert (response.status, response.body) == (403, b"")
    challenge = parse_challenge(response.headers)
    assert challenge is not None
    assert challenge.error == "insufficient_scope"
    assert challenge.scope == (scope or "")
    assert challenge.resource_metadata == resource_metadata
    assert challenge.error_description == error_description


def test_how_it_is_written() -> None:
    assert unauthorized() == HTTPResponse(401, Headers({"WWW-Authenticate": "Bearer"}))
    assert unauthorized(resource_metadata=METADATA, scope="files:read").headers.get("WWW-Authenticate") == (
        f'Bearer scope="files:read", resource_metadata="{METADATA}"'
    )
    assert forbidden(scope="a b", error_description="No.").headers.get("WWW-Authenticate") == (
        'Bearer error="insufficient_scope", scope="a b", error_description="No."'
    )


@pytest.mark.parametrize("text", ['a"b', "a\\b", "a\r\nSet-Cookie: x", "é", "\t", "\x7f"])
@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda text: unauthorized(resource_metadata=text), "resource_metadata"),
        (lambda text: unauthorized(scope=text), "scope"),
        (lambda text: unauthorized(error=text), "error"),
        (lambda text: unauthorized(error_description=text), "error_description"),
        (lambda text: forbidden(scope=text), "scope"),
        (lambda text: forbidden(scope="", resource_metadata=text), "resource_metadata"),
        (lambda text: forbidden(scope="", error_description=text), "error_description"),
    ],
)
def test_what_no_challenge_can_carry_is_refused(build: Callable[[str], HTTPResponse], name: str, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} has other characters"):
        build(text)


def test_the_metadata_document() -> None:
    response = protected_resource_metadata("https://example.com/mcp", ["https://auth.example.com"])
    assert (response.status, response.headers) == (200, Headers({"Content-Type": "application/json"}))
    assert json.loads(response.body) == {
        "resource": "https://example.com/mcp",
        "authorization_servers": ["https://auth.example.com"],
    }
    response = protected_resource_metadata(
        "https://example.com",
        iter(["https://a.example", "https://b.example"]),
        scopes_supported=iter(["read", "write"]),
        members={"resource_name": "Wörld"},
    )
    assert json.loads(response.body) == {
        "resource": "https://example.com",
        "authorization_servers": ["https://a.example", "https://b.example"],
        "scopes_supported": ["read", "write"],
        "resource_name": "Wörld",
    }


@pytest.mark.parametrize(
    ("servers", "members", "reason"),
    [([], {}, "one authorization server"), (["https://a.example"], {"x": float("nan")}, "JSON compliant")],
)
def test_a_document_that_cannot_be_is_refused(servers: list[str], members: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        protected_resource_metadata("https://example.com", servers, members=members)


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("/public/mcp", "/.well-known/oauth-protected-resource/public/mcp"),
        ("/mcp/", "/.well-known/oauth-protected-resource/mcp/"),
        ("/mcp?tenant=1", "/.well-known/oauth-protected-resource/mcp?tenant=1"),
        ("?tenant=1", "/.well-known/oauth-protected-resource?tenant=1"),
        ("/", "/.well-known/oauth-protected-resource"),
        ("", "/.well-known/oauth-protected-resource"),
    ],
)
def test_where_the_document_is_served(target: str, path: str) -> None:
    assert metadata_path(target) == path


@pytest.mark.parametrize("target", ["mcp", "https://example.com/mcp"])
def test_a_target_is_a_path(target: str) -> None:
    with pytest.raises(ValueError, match="path, such as /mcp"):
        metadata_path(target)


@pytest.mark.parametrize(
    ("values", "token"),
    [
        (["Bearer abc"], "abc"),
        (["bEARER   a.b-c_d~e+f/g=="], "a.b-c_d~e+f/g=="),
        ([], None),
        ([""], None),
        (["Bearer"], None),
        (["Bearer "], None),
        (["Bearer a b"], None),
        (["Bearer a,b"], None),
        (["Bearer =a"], None),
        (["Bearer é"], None),
        (["Basic abc"], None),
        (["xBearer abc"], None),
        (["Bearer abc\n"], None),
        (["Bearer abc", "Bearer abc"], None),  # who is first would be for each reader to say
    ],
)
def test_the_token_of_a_request(values: list[str], token: str | None) -> None:
    assert bearer_token(Headers(("authorization", value) for value in values)) == token


# Clients

TOKENS = st.text("abcXYZ019!#$%&'*+-.^_`|~", min_size=1, max_size=6)
SPACE = st.sampled_from(["", " ", "  ", "\t"])


@st.composite
def written_challenges(draw: st.DrawFn) -> tuple[str, Challenge]:
    scheme, parameters, parts = draw(TOKENS | st.just("Bearer")), dict[str, str](), list[str]()
    for name in draw(st.lists(TOKENS | st.just("resource_metadata"), max_size=3)):
        text = draw(st.text(max_size=6))
        quoted = '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'
        if re.fullmatch(r"[A-Za-z0-9:/.]+", text) and draw(st.booleans()):
            quoted = text  # addresses aren't tokens, but some servers write them so
        parts.append(f"{name}{draw(SPACE)}={draw(SPACE)}{quoted}")
        parameters.setdefault(name.lower(), text)
    separator = draw(SPACE) + "," + draw(SPACE)
    return f"{scheme} {separator.join(parts)}".strip(" "), Challenge(scheme.lower(), parameters)


@quick
@given(st.lists(st.lists(written_challenges(), min_size=1, max_size=3), max_size=3), SPACE)
def test_any_challenges_are_read(fields: list[list[tuple[str, Challenge]]], space: str) -> None:
    headers = challenged(*(f"{space},{space}".join(text for text, _ in field) for field in fields))
    challenges = [challenge for field in fields for _, challenge in field]
    assert parse_challenges(headers) == tuple(challenges)
    best = sorted(challenges, key=lambda each: (each.scheme != "bearer", each.resource_metadata is None))
    assert parse_challenge(headers) == (best[0] if best else None)


@given(st.lists(st.text() | st.text('Bearer a="\\, =')))
@example(['Bearer error="insufficient_scope'])
@example(["=,=,Bearer =", "error=x"])
def test_any_text_is_read(values: list[str]) -> None:
    challenge = parse_challenge(challenged(*values))
    assert challenge is None or isinstance(challenge, Challenge)


@pytest.mark.parametrize(
    ("values", "challenge"),
    [
        ([], None),
        ([""], None),
        (['realm="x"'], None),
        (["Bearer"], Challenge("bearer")),
        (
            [f'Bearer resource_metadata="{METADATA}",\r\n     scope="files:read"'],
            Challenge("bearer", {"resource_metadata": METADATA, "scope": "files:read"}),
        ),
        (
            ['Basic realm="a, Bearer \\"b\\"", BEARER Error = invalid_token , error="second"'],
            Challenge("bearer", {"error": "invalid_token"}),
        ),
        (["Negotiate dG9rZW4=", "Bearer scope=a"], Challenge("bearer", {"scope": "a"})),
        (['DPoP algs="ES256"', 'Bearer realm="x"'], Challenge("bearer", {"realm": "x"})),
        ([f"Bearer resource_metadata={METADATA}"], Challenge("bearer", {"resource_metadata": METADATA})),
        (['Bearer realm="x" scope="a b"'], Challenge("bearer", {"realm": "x", "scope": "a b"})),
        (["Bearer, scope=a"], Challenge("bearer", {"scope": "a"})),
        (['Basic realm="x"', 'DPoP algs="ES256"'], Challenge("basic", {"realm": "x"})),
        (
            ['Basic realm="x"', 'DPoP resource_metadata="https://e"'],
            Challenge("dpop", {"resource_metadata": "https://e"}),
        ),
        (
            ['Bearer realm="proxy"', 'Bearer resource_metadata="https://e"'],
            Challenge("bearer", {"resource_metadata": "https://e"}),
        ),
        (
            ['DPoP resource_metadata="https://e"', "Bearer"],
            Challenge("bearer"),
        ),
    ],
)
def test_the_challenge_that_a_client_can_meet(values: list[str], challenge: Challenge | None) -> None:
    assert parse_challenge(challenged(*values)) == challenge


@pytest.mark.parametrize("unit", ["a", " ", "a ", "=", '"', 'a="', "\\", 'a="\\', "a=b,", ',a="b"'])
def test_reading_takes_linear_time(unit: str) -> None:
    def run(count: int) -> None:
        parse_challenges(challenged("Bearer " + unit * count, 'Bearer x="' + unit * count))
        bearer_token(Headers({"Authorization": "Bearer " + unit * count}))

    assert_linear(run, 5000)
