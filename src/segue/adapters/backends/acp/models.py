"""The model of a session, chosen in whatever way the agent offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from segue.adapters.backends.acp.options import AcpOptions
from segue.domain.errors import BackendUnavailable


def choose_model(
    session: Mapping[str, Any], model: str | None, options: AcpOptions
) -> tuple[str, Mapping[str, Any]] | None:
    """The request that sets the model; none if there is nothing to set."""
    if model is None:
        return None
    found = _config_option(session) or _model_list(session)
    if found is None:
        if options.known.model_variable:
            return None  # its environment names the model already
        raise BackendUnavailable(
            f"the agent {options.label} lets nobody choose its model; set it in the agent's own settings, "
            'and leave "model" out of its step and profile'
        )
    current, offered, method, params = found
    if model == current:
        return None
    if model in offered:
        return method, {**params, "value" if "configId" in params else "modelId": model}
    if options.known.model_variable:
        return None
    raise BackendUnavailable(
        f'the agent {options.label} offers no model "{model}"; on offer: {", ".join(offered[:20]) or "none"}'
    )


_Choice = tuple[str, list[str], str, Mapping[str, Any]]


def _config_option(session: Mapping[str, Any]) -> _Choice | None:
    for option in session.get("configOptions") or ():
        if isinstance(option, Mapping) and "model" in (option.get("category"), option.get("id")):
            offered = [value for entry in option.get("options") or () for value in _values(entry)]
            current = str(option.get("currentValue"))
            return current, offered, "session/set_config_option", {"configId": option.get("id")}
    return None


def _values(entry: Mapping[str, Any]) -> list[str]:
    """The values of an option, or of a group of options."""
    if "options" in entry:
        return [str(inner.get("value")) for inner in entry["options"]]
    return [str(entry.get("value"))]


def _model_list(session: Mapping[str, Any]) -> _Choice | None:
    models = session.get("models")
    if not isinstance(models, Mapping):
        return None
    offered = [str(entry.get("modelId")) for entry in models.get("availableModels") or ()]
    return str(models.get("currentModelId")), offered, "session/set_model", {}
