"""What looks like a secret is found and taken out; what only talks about one stays."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.domain.handoff.checking.secrets import allow_everywhere, find_secrets, redact

# Put together at run time, so that no scanner takes this file for a leak.
LETTERS = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"
KEY = "\n".join(
    [
        "-----BEGIN RSA " + "PRIVATE KEY-----",
        "MIIEpAIBAAKCAQEA7",
        "bq3x",
        "-----END RSA " + "PRIVATE KEY-----",
    ]
)
SECRETS = {
    "AWS access key id": "AKIA" + "IOSFODNN7EXAMPLE",
    "AWS secret access key": "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
    "GitHub token": "ghp_" + LETTERS + "1234",
    "GitLab token": "glpat-" + LETTERS[:20],
    "Slack token": "xoxb-" + "123456789012-abcdefABCDEF",
    "Anthropic key": "sk-ant-" + "api03-" + LETTERS,
    "OpenAI key": "sk-" + "proj-" + LETTERS,
    "Stripe key": "sk_live_" + LETTERS[:24],
    "Google key": "AIza" + LETTERS + "abc",
    "JSON web token": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + LETTERS,
    "private key": KEY,
}
CONTEXTS = {"AWS secret access key": "aws_secret_access_key = "}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_taken_out_and_its_kind_is_named(kind: str) -> None:
    secret = SECRETS[kind]
    text, findings = redact(f"Use {CONTEXTS.get(kind, '')}{secret} for now.")
    assert secret not in text
    assert text == f"Use {CONTEXTS.get(kind, '')}[redacted: {kind}] for now."
    assert [each.kind for each in findings] == [kind]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer " + LETTERS, "Authorization: Bearer [redacted: bearer token]"),
        ("DB_PASSWORD=hunter2!", "DB_PASSWORD=[redacted: password]"),
        ('password: "s3cr3t-value", next', 'password: "[redacted: password]", next'),
        ("postgres://app:kT7wpq@db/app", "postgres://app:[redacted: password in an address]@db/app"),
        ("API_KEY=" + LETTERS, "API_KEY=[redacted: key or token]"),
    ],
)
def test_only_the_secret_itself_is_taken_out(text: str, expected: str) -> None:
    assert redact(text)[0] == expected


@pytest.mark.parametrize(
    "text",
    [
        "The token: refreshed every hour",
        "password: required",
        "password=${DB_PASSWORD}",
        "password: <your password>",
        "PASSWORD=os.environ['X']",
        "Bearer token authentication",
        "basic authentication-middleware",
        "postgres://user:password@localhost/db",
        "sk-learn-style-pipelines-everywhere",
        "api_key: process.env.OPENAI_API_KEY_2",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "token: src/auth/token_store_v2.py",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "The secret is to test first.",
        "key=value",
        "see https://example.com:8080/a@b",
    ],
)
def test_talk_about_secrets_is_no_secret(text: str) -> None:
    assert redact(text) == (text, ())


def test_a_key_that_lost_its_end_is_taken_out_as_far_as_it_goes() -> None:
    text, _ = redact(KEY.rpartition("-----END")[0])
    assert "MIIEpAIBAAKCAQEA7" not in text


def test_known_values_are_allowed() -> None:
    secret = SECRETS["AWS access key id"]
    assert find_secrets(secret, allow={secret}) == []


@given(st.text(max_size=200))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once, _ = redact(text + " " + SECRETS["GitHub token"])
    assert redact(once) == (once, ())


@pytest.mark.parametrize(
    "piece",
    [
        "eyJ-",
        "-----BEGIN PRIVATE KEY-----",
        "a_",
        "password",
        "sk-",
        "a://b:",
        "aws secret ",
        "bearer ",
        "=" * 9,
    ],
)
def test_long_texts_are_read_once(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    begin = time.process_time()
    find_secrets(text)
    assert time.process_time() - begin < 4


def test_what_the_settings_call_harmless_is_kept_everywhere() -> None:
    key = "sk-" + "ant-api03-" + "A1b2C3d4E5f6G7h8" * 2
    assert redact(f"It is {key}.")[0] == "It is [redacted: Anthropic key]."
    allow_everywhere([key])
    try:
        assert redact(f"It is {key}.") == (f"It is {key}.", ())
    finally:
        allow_everywhere(())
