"""What programs that agents control see of the environment: the names of the variables decide.

An agent program gets all but what looks like a credential; a plain command or a check gets the basics alone.
Of the values one thing is looked at: an address with a password inside is a credential under any name.
`pass_env` adds to both. This guards against mistakes, not against malice: agents can read your files.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator

BASICS = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TERM", "TMPDIR", "TZ", "VIRTUAL_ENV",
)  # fmt: skip
"""All that commands and checks get by themselves."""

MODEL_VARIABLES = (
    # Agents.
    "CLAUDE_*", "CODEX_*", "CURSOR_API_KEY", "GOOSE_PROVIDER__*", "OMP_*", "OPENCODE_*",
    # Providers of models: all of a name that nobody else uses, else the key alone.
    "AI_GATEWAY_*", "ANTHROPIC_*", "AWS_BEARER_TOKEN_BEDROCK", "AWS_CA_BUNDLE", "AWS_DEFAULT_REGION",
    "AWS_REGION", "AZURE_API_KEY", "AZURE_OPENAI_*", "AZURE_RESOURCE_NAME", "BASETEN_*", "CEREBRAS_*",
    "CODESTRAL_*", "COHERE_*", "DASHSCOPE_*", "DEEPINFRA_*", "DEEPSEEK_*", "FIREWORKS_API_KEY",
    "GEMINI_API_KEY*", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GROQ_*", "INCEPTION_API_KEY",
    "KILO_API_KEY", "KIMI_*", "LITELLM_API_KEY", "LLMGATEWAY_*", "LMSTUDIO_*", "MINIMAX_*", "MISTRAL_API_KEY",
    "MOONSHOT_*", "MORPH_API_KEY", "NEBIUS_*", "NOVITA_*", "NVIDIA_API_KEY", "OLLAMA_*", "OPENAI_*",
    "OPENROUTER_*", "PERPLEXITY_*", "POE_API_KEY", "QWEN_*", "REQUESTY_*", "SAMBANOVA_*", "SILICONFLOW_*",
    "STEPFUN_*", "SYNTHETIC_API_KEY", "TOGETHER_API_KEY", "UPSTAGE_*", "V0_API_KEY", "VENICE_API_KEY",
    "XAI_*", "ZAI_*", "ZHIPU_*",
    # The way to them, and limits of their tokens.
    "*_PROXY", "*MAX_*TOKENS",
)  # fmt: skip
"""What agents need to reach their models: handed on, although some of it looks like a credential."""

WITHHELD = (
    # Clouds and infrastructure.
    "ALIBABA_CLOUD_*", "ALICLOUD_*", "ARM_*", "AWS_*", "AZURE_*", "AZUREWEBJOBS*", "CLOUDFLARE_*",
    "CLOUDSDK_*", "CONSUL_*", "DIGITALOCEAN_*", "DOCKER_AUTH_*", "DOCKER_CONFIG", "GCLOUD_*", "GCP_*",
    "GOOGLE_OAUTH_*", "HCLOUD_*", "HEROKU_*", "KUBECONFIG*", "KUBE_CONFIG*", "LINODE_*", "NOMAD_*", "OCI_*",
    "PULUMI_*", "SCW_*", "SOPS_*", "TF_TOKEN_*", "TF_VAR_*", "VAULT_*",
    # Whatever hands out keys and passwords when it is asked. Not D-Bus: agents keep logins in its keyring.
    "BW_SESSION", "GIT_ASKPASS", "GPG_AGENT_INFO", "KRB5CCNAME", "KRB5_*KTNAME", "OP_SESSION_*",
    "SSH_AGENT_PID", "SSH_ASKPASS*", "SSH_AUTH_SOCK", "SUDO_ASKPASS", "VSCODE_GIT_*",
    # Registries of packages, and services.
    "AIRFLOW_CONN_*", "NPM_CONFIG_//*", "NPM_CONFIG__AUTH*", "OTEL_EXPORTER_OTLP_*HEADERS",
    "POETRY_HTTP_BASIC_*", "SENTRY_*", "SLACK_*", "STRIPE_*", "TWILIO_*", "TWINE_*", "UV_PUBLISH_*",
    # Git: another repository than that of the folder, and settings, which may be headers with a password.
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_*",
    "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_VALUE_*", "GIT_DIR", "GIT_INDEX_FILE", "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_WORK_TREE",
)  # fmt: skip
"""Kept from agents by name; `*` stands for anything."""

_STORES = (
    "AMQP", "BROKER", "CASSANDRA", "CLICKHOUSE", "COUCHDB", "DATABASE", "DB", "E?MAIL", "ELASTIC(SEARCH)?",
    "FTP", "JDBC", "KAFKA", "LDAP", "MARIADB", "MONGO(DB)?", "MSSQL", "MYSQL", "NATS", "NEO4J", "OPENSEARCH",
    "ORACLE", "PG", "POSTGRES(QL)?", "RABBITMQ", "REDIS", "SMTP", "SNOWFLAKE", "SQL", "VALKEY",
)  # fmt: skip
"""Databases and their like: their addresses hold passwords."""

_CREDENTIAL = re.compile(
    # Anywhere.
    r"SECRET|PASSW(OR)?D|PASSPHRASE|CREDENTIAL|(API|ACCESS|PRIVATE|SIGNING|ENCRYPTION)_?KEY"
    r"|SERVICE_?ACCOUNT|SERVICE_?ROLE|MNEMONIC|(SEED|RECOVERY)_?PHRASE|CONN(ECTION)?_?STR|DB_?STR|WEBHOOK"
    r"|SASL|JAAS"
    # As words.
    r"|TOKEN\d*(_|$)|TOKENS(_FILE)?$"  # not TOKENS_PER_MINUTE
    r"|(^|_)(KEYS?|CREDS?|PAT|AUTH|AUTHORIZATION|BEARER|JWT|COOKIES?|PEM|DSN|CONN)\d*"
    r"(_(BASE64|B64|DATA|FILE|HEADERS?|JSON|PATH|PEM|STRING|VALUE))*$"
    r"|(^|_|DB|SQL|MAIL|SMTP|FTP|USER|ROOT|ADMIN)(PASS|PW|(?<!^)PWD)\d*(_FILE)?$"  # not PWD itself
    r"|(^|_)HOOK_UR[IL]$"
    r"|^PG[A-Z]+$"  # of PostgreSQL's own library
    rf"|(^|_)({'|'.join(_STORES)})(_[A-Z0-9]+)*_UR[IL]S?(_|$)"
)
"""What names of credentials look like."""

_PASSWORD_INSIDE = re.compile(r"://[^/\s:@]*:[^/\s@]+@|https?://[^/\s@]+@", re.IGNORECASE)
"""What an address with a password or a token inside looks like."""

_OWN = "SEGUE_"
_CLOUD_MODELS = {
    "CLAUDE_CODE_USE_BEDROCK": ("AWS_*",),
    "CLAUDE_CODE_USE_VERTEX": ("GOOGLE_*", "GCLOUD_*", "CLOUDSDK_*"),
    "CLAUDE_CODE_USE_FOUNDRY": ("AZURE_*",),
}
"""The switches by which Claude Code reaches its model through a cloud, and the variables of that cloud."""


def checked_name(text: str) -> str:
    """The name of a variable, or the start of several and a `*`; `ValueError` if it is neither."""
    if not text or "=" in text or "\0" in text or "*" in text[:-1]:
        raise ValueError(f'"{text}" is not the name of a variable, nor the start of one and a *')
    return text


PassEnv = tuple[Annotated[str, AfterValidator(checked_name)], ...]
"""Names of variables to hand on, as options hold them."""


def agent_environment(
    inherited: Mapping[str, str],
    *,
    pass_env: Collection[str] = (),
    set_env: Mapping[str, str] | None = None,
    without: Collection[str] = (),
) -> dict[str, str]:
    """The environment of an agent program: what is inherited without credentials, and what is set for it.

    A variable that is set to nothing is taken away.
    """
    given = set_env or {}
    kept = {
        name: value
        for name, value in inherited.items()
        if name not in without and not is_withheld(name, pass_env, value=value)
    }
    return {name: value for name, value in {**kept, **given}.items() if value or name not in given}


def basic_environment(inherited: Mapping[str, str], *, pass_env: Collection[str] = ()) -> dict[str, str]:
    """The environment of a plain command or a check: the basics, and what is handed on by name."""
    return {
        name: value for name, value in inherited.items() if _fits(name, BASICS) or is_passed(name, pass_env)
    }


def is_withheld(name: str, pass_env: Collection[str] = (), *, value: str = "") -> bool:
    """True if agents do not get this variable."""
    if is_passed(name, pass_env):
        return False
    upper = name.upper()
    if upper.startswith(_OWN):
        return True
    return not _fits(name, MODEL_VARIABLES) and (
        _fits(name, WITHHELD)
        or _CREDENTIAL.search(upper) is not None
        or _PASSWORD_INSIDE.search(value) is not None
    )


def is_passed(name: str, pass_env: Collection[str]) -> bool:
    """True if this variable is handed on by name. Segue's own are not meant by a mere `*`."""
    is_own = name.upper().startswith(_OWN)
    return _fits(name, (each for each in pass_env if not is_own or each.upper().startswith(_OWN)))


def withheld_names(inherited: Mapping[str, str], pass_env: Collection[str] = ()) -> list[str]:
    """The variables that agents do not get, without Segue's own; names alone."""
    return sorted(
        name
        for name, value in inherited.items()
        if is_withheld(name, pass_env, value=value) and not name.upper().startswith(_OWN)
    )


def cloud_hint(given: Mapping[str, str], inherited: Mapping[str, str]) -> str:
    """What Claude Code lacks to reach its model through a cloud; empty if it lacks nothing that is there."""
    for switch, names in _CLOUD_MODELS.items():
        missing = [name for name in withheld_names(inherited) if name not in given and _fits(name, names)]
        if given.get(switch, "") not in ("", "0", "false") and missing:
            return (
                f"{switch} is set, but {', '.join(missing)} is withheld; if it needs that, hand it on with "
                f"`pass_env: [{', '.join(missing)}]` in the options"
            )
    return ""


def postgres_variables(inherited: Mapping[str, str]) -> dict[str, str]:
    """What PostgreSQL's own library reads: an address without a password may count on it."""
    return {name: value for name, value in inherited.items() if re.fullmatch("PG[A-Z]+", name)}


def _fits(name: str, patterns: Iterable[str]) -> bool:
    """True if one of the patterns means this name, whatever its case."""
    return _compiled(tuple(patterns)).fullmatch(name.upper()) is not None


@lru_cache(maxsize=64)
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    each = (".*".join(map(re.escape, pattern.upper().split("*"))) for pattern in patterns)
    return re.compile("|".join(each) or r"(?!)", re.DOTALL)
