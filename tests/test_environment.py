"""What programs that agents control see of the environment, by the names of the variables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from segue.domain import environment
from segue.domain.environment import (
    agent_environment,
    basic_environment,
    checked_name,
    cloud_hint,
    is_withheld,
    postgres_variables,
    withheld_names,
)

WITHHELD = """
    AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE AWS_WEB_IDENTITY_TOKEN_FILE
    GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CREDENTIALS GOOGLE_OAUTH_ACCESS_TOKEN GCLOUD_SERVICE_KEY GCP_SA
    CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE AZURE_CLIENT_SECRET AZURE_TENANT_ID ARM_CLIENT_ID DIGITALOCEAN_ACCESS_TOKEN
    CLOUDFLARE_API_TOKEN CF_API_TOKEN HEROKU_API_KEY HCLOUD_TOKEN KUBECONFIG VAULT_ADDR VAULT_TOKEN
    TF_VAR_db_password TF_TOKEN_app_terraform_io DOCKER_AUTH_CONFIG DOCKER_PASSWORD PULUMI_ACCESS_TOKEN
    SSH_AUTH_SOCK SSH_AGENT_PID SSH_ASKPASS SSH_ASKPASS_REQUIRE GPG_AGENT_INFO GIT_ASKPASS VSCODE_GIT_IPC_HANDLE
    OP_SERVICE_ACCOUNT_TOKEN OP_SESSION_me BW_SESSION SOPS_AGE_KEY_FILE
    GITHUB_TOKEN GH_TOKEN GH_ENTERPRISE_TOKEN GITHUB_PAT GITLAB_TOKEN GITLAB_PRIVATE_TOKEN BITBUCKET_APP_PASSWORD
    CI_JOB_TOKEN CI_JOB_JWT ACTIONS_ID_TOKEN_REQUEST_URL HF_TOKEN
    NPM_TOKEN NODE_AUTH_TOKEN npm_config__auth npm_config__authToken PYPI_TOKEN TWINE_USERNAME TWINE_PASSWORD
    CARGO_REGISTRY_TOKEN CARGO_REGISTRIES_MINE_TOKEN UV_PUBLISH_USERNAME UV_INDEX_MINE_PASSWORD
    POETRY_PYPI_TOKEN_PYPI POETRY_HTTP_BASIC_MINE_USERNAME COMPOSER_AUTH GEM_HOST_API_KEY
    ORG_GRADLE_PROJECT_signingKey
    DATABASE_URL TEST_DATABASE_URL DATABASE_URL_TEST SQLALCHEMY_DATABASE_URI DB_PASS DB_URL POSTGRES_PASSWORD
    PGHOST PGPASSWORD PGPASSFILE PGSERVICE MYSQL_PWD MYSQL_ROOT_PASSWORD REDIS_URL REDIS_TLS_URL MONGODB_URI AMQP_URL
    CELERY_BROKER_URL AZURE_STORAGE_CONNECTION_STRING
    SLACK_WEBHOOK_URL SLACK_BOT_TOKEN STRIPE_SECRET_KEY STRIPE_KEY SENTRY_DSN SENTRY_AUTH_TOKEN TWILIO_ACCOUNT_SID
    DD_API_KEY OTEL_EXPORTER_OTLP_HEADERS OTEL_EXPORTER_OTLP_TRACES_HEADERS SENDGRID_API_KEY
    TOKEN SECRET PASSWORD API_KEY MY_SECRETS_FILE ACME_API_KEY ACME_APIKEY acme_api_key Some_Password RAILS_MASTER_KEY
    DJANGO_SECRET_KEY JWT_PRIVATE_KEY SIGNING_KEY_PASSPHRASE ANSIBLE_VAULT_PASSWORD_FILE SMTP_PASS DEPLOY_KEY
    GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 GIT_CONFIG_PARAMETERS
    DBPASS DB_PW DB_PASS_FILE MYSQLPASS SMTP_PWD DBPWD CREDS MY_CREDS MY_CRED API_TOKENS GITHUB_TOKENS KEYS SSH_KEYS
    AUTHORIZATION AUTH_HEADER PROXY_AUTH_HEADERS BEARER GITHUB_APP_PEM KEY_PEM TLS_KEY_BASE64 TLS_KEY_FILE
    SERVICE_ACCOUNT_JSON FIREBASE_SERVICE_ACCOUNT KUBE_CONFIG_DATA KUBECONFIG_BASE64 DOCKER_CONFIG SUPABASE_SERVICE_ROLE
    AzureWebJobsStorage KAFKA_SASL_JAAS_CONFIG MNEMONIC SEED_PHRASE WALLET_RECOVERY_PHRASE TEAMS_HOOK_URL
    DISCORD_WEBHOOK JDBC_URL CLICKHOUSE_URL ELASTICSEARCH_URL SMTP_URL EMAIL_URL PG_URL DB_CONN AIRFLOW_CONN_MINE
    ConnectionStrings__Default KRB5CCNAME KRB5_CLIENT_KTNAME
    PI_HOLE_PASSWORD SYNTHETIC_MONITORING_TOKEN TOGETHER_WE_STAND_SECRET NVIDIA_VPN_PASSWORD MORPH_DB_PASSWORD
    GOOSE_DBSTRING GEMINI_API_SECRET MISTRAL_DB_PASSWORD POE_TOKEN KILO_TOKEN VENICE_DB_URL V0_TOKEN
    SEGUE_DATABASE_URL SEGUE_DATA_DIR SEGUE_SESSION SEGUE_MCP_TOKEN segue_anything
"""  # noqa: E501  # a table
SEEN = """
    PATH HOME USER SHELL LANG LC_ALL TERM TMPDIR TZ PWD OLDPWD DISPLAY EDITOR COLORTERM NO_COLOR CI
    HTTP_PROXY HTTPS_PROXY NO_PROXY https_proxy SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE
    AWS_CA_BUNDLE AWS_REGION CURL_CA_BUNDLE GIT_SSL_CAINFO
    XDG_CONFIG_HOME XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS XAUTHORITY
    VIRTUAL_ENV CONDA_PREFIX PYTHONPATH LD_PRELOAD LD_LIBRARY_PATH JAVA_HOME GOPATH CARGO_HOME NVM_DIR NODE_OPTIONS
    PIP_INDEX_URL UV_INDEX_URL npm_config_registry DOCKER_HOST MAKEFLAGS PKG_CONFIG_PATH TOKENIZERS_PARALLELISM
    GIT_SSH_COMMAND GIT_AUTHOR_NAME GIT_CONFIG_GLOBAL GITHUB_REPOSITORY GITHUB_ACTIONS MAX_MCP_OUTPUT_TOKENS
    MAX_THINKING_TOKENS MAX_TOKENS MY_MAX_OUTPUT_TOKENS TOKENS_PER_MINUTE BYPASS SSH_CONNECTION SSH_TTY PYTHONHASHSEED
    RANDOM_SEED AUTH_TYPE GPG_KEY_ID BASE_URL SERVICE_URL SQL_MODE MAIL HOOKS PEMBROKE OMP_NUM_THREADS PI_OFFLINE
    NVIDIA_VISIBLE_DEVICES TOGETHER_API_KEY SYNTHETIC_API_KEY MORPH_API_KEY NVIDIA_API_KEY GOOSE_PROVIDER__API_KEY
    PGP_HOME KEYBOARD COMPASS PATTERN AUTHOR MONKEY
    ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL ANTHROPIC_MODEL CLAUDE_CODE_OAUTH_TOKEN
    CLAUDE_CODE_USE_BEDROCK CLAUDE_CONFIG_DIR AWS_BEARER_TOKEN_BEDROCK CODEX_HOME CODEX_API_KEY OPENAI_API_KEY
    OPENAI_BASE_URL GEMINI_API_KEY GOOGLE_API_KEY GOOGLE_GENERATIVE_AI_API_KEY GOOGLE_CLOUD_PROJECT
    OPENROUTER_API_KEY MISTRAL_API_KEY GROQ_API_KEY DEEPSEEK_API_KEY XAI_API_KEY AZURE_OPENAI_API_KEY AI_GATEWAY_API_KEY
    OPENCODE_API_KEY OPENCODE_CONFIG GOOSE_PROVIDER GOOSE_MODEL OLLAMA_HOST openai_api_key
"""  # noqa: E501  # a table


@pytest.mark.parametrize("name", WITHHELD.split())
def test_a_credential_is_withheld_from_agents(name: str) -> None:
    assert is_withheld(name)
    assert not is_withheld(name, [name])
    assert not is_withheld(name, [name.swapcase()])


@pytest.mark.parametrize("name", SEEN.split())
def test_all_else_is_seen_by_agents(name: str) -> None:
    assert not is_withheld(name)


@pytest.mark.parametrize(
    ("name", "value", "is_seen"),
    [
        ("PIP_INDEX_URL", "https://me:swordfish@packages.example/simple", False),
        ("UV_INDEX_URL", "https://packages.example/simple HTTPS://t0ken@packages.example/simple", False),
        ("MY_PLACE", "redis://:swordfish@cache.example:6379/0", False),
        ("MY_PLACE", "jdbc:postgresql://me:swordfish@db.example/shop", False),
        ("PIP_INDEX_URL", "https://packages.example:8443/@scope/simple", True),
        ("DOCKER_HOST", "ssh://me@builder.example", True),
        ("GIT_REMOTE", "git@github.com:me/shop.git", True),
        ("HTTPS_PROXY", "http://me:swordfish@proxy.example:3128", True),
        ("npm_config_https_proxy", "http://me:swordfish@proxy.example:3128", True),
        ("OPENAI_BASE_URL", "https://me:swordfish@models.example/v1", True),
    ],
)
def test_an_address_with_a_password_inside_is_withheld_unless_it_leads_to_the_model(
    name: str, value: str, is_seen: bool
) -> None:
    assert (name in agent_environment({name: value})) is is_seen
    assert withheld_names({name: value}) == ([] if is_seen else [name])
    assert agent_environment({name: value}, pass_env=[name]) == {name: value}


def test_pass_env_takes_a_name_or_the_start_of_several() -> None:
    own = {"AWS_PROFILE": "p", "AWS_REGION": "r", "NPM_TOKEN": "t", "SEGUE_DATABASE_URL": "d", "PATH": "/bin"}
    assert agent_environment(own) == {"AWS_REGION": "r", "PATH": "/bin"}
    assert agent_environment(own, pass_env=["aws_*"]) == {
        "AWS_PROFILE": "p",
        "AWS_REGION": "r",
        "PATH": "/bin",
    }
    assert "AWS_PROFILE" not in agent_environment(own, pass_env=["AWS"])
    assert {*own} - {*agent_environment(own, pass_env=["*"])} == {"SEGUE_DATABASE_URL"}
    assert agent_environment(own, pass_env=["SEGUE_DATABASE_URL"])["SEGUE_DATABASE_URL"] == "d"


def test_what_is_set_is_there_and_what_is_set_to_nothing_is_not() -> None:
    own = {"A": "1", "B": "2", "C": "", "INNER": "3"}
    given = agent_environment(own, set_env={"A": "", "B": "x", "MY_TOKEN": "t"}, without=["INNER"])
    assert given == {"B": "x", "C": "", "MY_TOKEN": "t"}


def test_a_command_and_a_check_see_the_basics_alone() -> None:
    own = dict.fromkeys(["PATH", "HOME", "LC_TIME", "TZ", "EDITOR", "ANTHROPIC_API_KEY", "SEGUE_X"], "x")
    assert {*basic_environment(own)} == {"PATH", "HOME", "LC_TIME", "TZ"}
    assert {*basic_environment(own, pass_env=["anthropic_api_key"])} - {*basic_environment(own)} == {
        "ANTHROPIC_API_KEY"
    }


@pytest.mark.parametrize("text", ["", "A=1", "A\0", "*_KEY", "A*B", "**"])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not the name of a variable"):
        checked_name(text)


def test_the_names_that_are_withheld_are_told_without_segues_own() -> None:
    names = dict.fromkeys(["SSH_AUTH_SOCK", "PATH", "AWS_PROFILE", "SEGUE_DATA_DIR"], "x")
    assert withheld_names(names) == ["AWS_PROFILE", "SSH_AUTH_SOCK"]
    assert withheld_names(names, ["AWS_*"]) == ["SSH_AUTH_SOCK"]


@pytest.mark.parametrize(
    ("given", "inherited", "named"),
    [
        ({"CLAUDE_CODE_USE_BEDROCK": "1"}, ["AWS_PROFILE", "AWS_REGION"], "pass_env: [AWS_PROFILE]"),
        ({"CLAUDE_CODE_USE_VERTEX": "1"}, ["GOOGLE_APPLICATION_CREDENTIALS"], "CREDENTIALS is withheld"),
        ({"CLAUDE_CODE_USE_FOUNDRY": "1"}, ["AZURE_CLIENT_ID"], "AZURE_CLIENT_ID is withheld"),
        ({"CLAUDE_CODE_USE_BEDROCK": "1"}, ["GOOGLE_APPLICATION_CREDENTIALS"], ""),
        ({"CLAUDE_CODE_USE_BEDROCK": "0"}, ["AWS_PROFILE"], ""),
        ({"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_PROFILE": "work"}, ["AWS_PROFILE"], ""),
        ({}, ["AWS_PROFILE"], ""),
    ],
)
def test_a_model_behind_a_cloud_without_its_keys_is_told(
    given: dict[str, str], inherited: list[str], named: str
) -> None:
    hint = cloud_hint(given, dict.fromkeys(inherited, "x"))
    assert named in hint
    assert bool(hint) is bool(named)


def test_postgresqls_own_variables_are_known() -> None:
    assert postgres_variables({"PGPASSWORD": "x", "PGP_HOME": "y", "PATH": "z"}) == {"PGPASSWORD": "x"}


def test_the_documentation_names_every_pattern_and_no_other() -> None:
    page = (Path(__file__).parents[1] / "docs" / "agents.md").read_text(encoding="utf-8")
    section = page.partition("## What agents see of your environment")[2]
    every = (*environment.WITHHELD, *environment.MODEL_VARIABLES, *environment.BASICS)
    assert [name for name in every if f"`{name}`" not in section] == []
    named = re.findall(r"`([A-Z0-9_*/]*\*[A-Z0-9_*/]*)`", section)
    assert {*named} - {*every, "*", "SEGUE_*", "XDG_*"} == set()
