"""The catalog from its files, read again when one of them changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_args

import structlog
from pydantic import BaseModel, ValidationError

from segue.adapters.catalog.positions import Loc, LocatedYaml
from segue.adapters.catalog.project import (
    BUILTIN,
    Project,
    find_project,
    read_bytes,
    read_project,
    read_yaml,
    scripts_are_as_trusted,
    scripts_in_copy,
    yaml_files,
)
from segue.adapters.catalog.trust_store import TrustStore
from segue.application.ports.backend import ChosenBackend
from segue.domain.catalog import AUTO, AgentProfile, Catalog
from segue.domain.errors import CatalogError, NotTrusted, SegueError, UnsafeProject, describe_known
from segue.domain.template import PipelineTemplate
from segue.domain.trust import SETTINGS_FILE, CarriedProject, ProjectContent

log = structlog.get_logger()

Options = Mapping[str, Any]
_Files = tuple[tuple[Path, bytes], ...]


class _CatalogState(NamedTuple):
    """What a catalog is made of."""

    default: ChosenBackend | None
    files: _Files = ()


class _Good(NamedTuple):
    """A catalog that serves, and what it was made of."""

    state: _CatalogState
    catalog: Catalog
    trusted: ProjectContent | None


class YamlCatalog:
    """Three levels, the later ones over the earlier: built in, the user's folder, the project's `.segue`.

    A project's files are used only if the user trusts them as they are. While a file is broken, or is changed
    and not trusted yet, the last good version serves, and `problem` says what is wrong.
    """

    def __init__(  # noqa: PLR0913  # called in one place, which knows all of it
        self,
        *,
        user_dir: Path,
        trust: TrustStore,
        options_model: Callable[[str], type[BaseModel]],
        default_backend: str | None = None,
        default_options: Mapping[str, Options] | None = None,
        default_checks: tuple[str, ...] = (),
        choose: Callable[[], ChosenBackend | None] = lambda: None,
        locate: Callable[[str, Options], Options] = lambda _backend, options: options,
    ) -> None:
        self._user_dir = user_dir
        self._trust = trust
        self._options_model = options_model
        self._default_backend = default_backend
        self._default_options = default_options or {}
        self._default_checks = default_checks
        """What is run after the steps of templates that name no checks."""
        self._choose = choose
        """The default back end where none is set; asked anew at each load."""
        self._locate = locate
        """Adds to options where the program of a back end is."""
        self._good: dict[Path | None, _Good] = {}
        self._bad: dict[Path | None, tuple[_CatalogState, CatalogError]] = {}

    def load(self, working_dir: str | None = None) -> Catalog:
        """The present catalog for a project folder; the last good one if a file is broken now."""
        key = find_project(Path(working_dir)) if working_dir else None
        default = self.default_backend()
        try:
            project = self._trusted_project(working_dir)
            state = _CatalogState(default, self._files(project))
        except UnsafeProject:
            raise
        except CatalogError as error:
            if not self._is_trusted_still(key, error):
                raise
            return self._keep_last_good(key, _CatalogState(default), error)
        good, bad = self._good.get(key), self._bad.get(key)
        if good and good.state == state:
            self._bad.pop(key, None)
            return good.catalog
        try:
            if bad and bad[0] == state:
                raise bad[1]
            catalog = self._read(state)
        except CatalogError as error:
            return self._keep_last_good(key, state, error)
        self._good[key] = _Good(state, catalog, project.content if project else None)
        self._bad.pop(key, None)
        return catalog

    def carry(self, working_dir: str) -> CarriedProject | None:
        """What the user trusts of the project around a folder."""
        project = self._trusted_project(working_dir)
        if project is None:
            return None
        root = Path(project.content.folder)
        return CarriedProject(
            folder=project.content.folder,
            files=project.content.files,
            documents={
                str(path.relative_to(root)): text.decode(errors="surrogateescape")
                for path, text in project.documents.items()
            },
        )

    def check_carried(self, project: CarriedProject, working_dir: str, copy: str, branch: str | None) -> None:
        """`NotTrusted` unless the scripts of a project that was trusted elsewhere are like that in a copy."""
        root = Path(project.folder)
        content = ProjectContent(folder=project.folder, files=project.files)
        documents = {
            root / name: text.encode(errors="surrogateescape") for name, text in project.documents.items()
        }
        carried = Project(content=content, documents=documents)
        scripts = scripts_in_copy(carried, Path(working_dir), Path(copy))
        if changed := sorted(name for name, each in scripts.items() if project.files.get(name) != each):
            raise NotTrusted(content, tuple(changed), branch=branch)

    def check_copy(self, working_dir: str, copy: str, branch: str | None) -> None:
        """`NotTrusted` unless the project is trusted, and its scripts as they are in a copy of the folder."""
        folder = Path(working_dir)
        if (project := read_project(folder)) is not None:
            scripts = scripts_in_copy(project, folder, Path(copy))
            self._trust.check_scripts(project.content, scripts, branch)

    def problem(self, working_dir: str | None = None) -> str | None:
        """What is wrong with the files now, or none."""
        try:
            self.load(working_dir)
        except CatalogError as error:
            return str(error)
        found = self._bad.get(find_project(Path(working_dir)) if working_dir else None)
        return str(found[1]) if found else None

    def why_backend(self, agent_name: str, working_dir: str | None = None) -> str:
        """Why an agent has its back end, in a few words."""
        key = find_project(Path(working_dir)) if working_dir else None
        if key not in self._good:
            self.load(working_dir)
        for path, text in reversed(self._good[key].state.files):  # what a run was just planned with
            if (profile := _validate(read_yaml(path, text)).agents.get(agent_name)) is not None:
                if _named(profile):
                    return "named in its profile"
                return (
                    default.why if (default := self.default_backend()) else "none is set, and none was found"
                )
        return ""

    def default_backend(self) -> ChosenBackend | None:
        """The back end of agents whose profile names none; none if none is set and none is found."""
        if self._default_backend is None or self._default_backend == AUTO:
            return self._choose()
        return ChosenBackend(
            name=self._default_backend, label=self._default_backend, why="set as the default back end"
        )

    def without_profile(self, backend: str) -> AgentProfile:
        """An agent on a back end as it is; `auto` for the default back end."""
        chosen = self.default_backend() if backend == AUTO else None
        name = chosen.name if chosen else backend
        if name == AUTO:
            return AgentProfile(backend=None)
        options = {**(chosen.options if chosen else {}), **self._default_options.get(name, {})}
        return AgentProfile(backend=name, options=dict(self._locate(name, options)))

    def _trusted_project(self, working_dir: str | None) -> Project | None:
        project = read_project(Path(working_dir)) if working_dir else None
        if project is not None:
            self._trust.check(project.content)
        return project

    def _is_trusted_still(self, key: Path | None, error: CatalogError) -> bool:
        """True if the last good version may serve although the project as it is now cannot be used."""
        if (good := self._good.get(key)) is None or good.trusted is None:
            return not isinstance(error, NotTrusted)  # nothing of a project is in it
        try:
            self._trust.check(good.trusted)
        except NotTrusted:
            return False
        return True

    def _keep_last_good(self, key: Path | None, state: _CatalogState, error: CatalogError) -> Catalog:
        good = self._good.get(key)
        if good is None or (good.trusted is not None and not scripts_are_as_trusted(good.trusted)):
            raise error
        if key not in self._bad or self._bad[key][0] != state:
            log.warning("catalog_broken", error=str(error), using="the last good version")
        self._bad[key] = (state, error)
        return good.catalog

    def _files(self, project: Project | None) -> _Files:
        """Every file with its bytes, the later ones over the earlier."""
        own = [path for path in yaml_files(self._user_dir) if path.name != SETTINGS_FILE]
        read = [(path, read_bytes(path)) for path in (BUILTIN, *own)]
        return (*read, *(project.catalog if project else ()))

    def _read(self, state: _CatalogState) -> Catalog:
        agents: dict[str, AgentProfile] = {}
        templates: dict[str, PipelineTemplate] = {}
        origin: dict[str, LocatedYaml] = {}
        for path, text in state.files:
            source = read_yaml(path, text)
            catalog = _validate(source)
            agents |= {
                name: self._complete(source, name, profile, state.default)
                for name, profile in catalog.agents.items()
            }
            templates |= catalog.templates
            origin |= dict.fromkeys(catalog.templates, source)
        for name, template in templates.items():
            for index, step in enumerate(template.steps):
                if step.agent is not None and step.agent not in agents:
                    raise origin[name].wrong(
                        ("templates", name, "steps", index, "agent"),
                        f'template "{name}" names an agent "{step.agent}" that does not exist. '
                        f"{describe_known(step.agent, agents)}",
                    )
        checked = {
            name: template.with_default_checks(self._default_checks) for name, template in templates.items()
        }
        return Catalog(agents=agents, templates=checked)

    def _complete(
        self, source: LocatedYaml, name: str, profile: AgentProfile, default: ChosenBackend | None
    ) -> AgentProfile:
        """The profile with the defaults of the settings, its options checked by its back end."""
        backend = _named(profile) or (default.name if default else None)
        if backend is None:
            return profile.model_copy(update={"backend": None})
        try:
            model = self._options_model(backend)
        except SegueError as error:
            if _named(profile) is None:
                raise CatalogError(f'the setting "backend" (SEGUE_BACKEND) is wrong: {error}') from error
            raise source.wrong(("agents", name, "backend"), f'agent "{name}": {error}') from error
        chosen = default.options if default and _named(profile) is None else {}
        options = {**chosen, **self._default_options.get(backend, {}), **profile.options}
        options = dict(self._locate(backend, options))
        try:
            model.model_validate(options)
        except ValidationError as error:
            raise self._wrong_option(source, error, name, profile, backend, model) from error
        return profile.model_copy(update={"backend": backend, "options": options})

    def _wrong_option(
        self,
        source: LocatedYaml,
        error: ValidationError,
        name: str,
        profile: AgentProfile,
        backend: str,
        model: type[BaseModel],
    ) -> CatalogError:
        """Points at the profile, or at the settings if the profile says nothing about it."""
        first = error.errors()[0]
        key = str(first["loc"][0]) if first["loc"] else ""
        is_default = _named(profile) is None or key in self._default_options.get(backend, {})
        if is_default and key not in profile.options:
            return CatalogError(
                f'agent "{name}" runs on the back end "{backend}", but in the setting "backend_options" '
                f'"{key}" is wrong: {_lower_first(first["msg"])}. {describe_known(key, model.model_fields)}'
            )
        return _translate(source, error, ("agents", name, "options"), model)


def _named(profile: AgentProfile) -> str | None:
    """The back end that the profile itself names."""
    return None if profile.backend == AUTO else profile.backend


def _validate(source: LocatedYaml) -> Catalog:
    # `agents:` with nothing below it means none.
    filled = {
        name: v for name, v in source.value.items() if v is not None or name not in Catalog.model_fields
    }
    try:
        return Catalog.model_validate(filled)
    except ValidationError as error:
        raise _translate(source, error, (), Catalog) from error


def _translate(
    source: LocatedYaml, error: ValidationError, base: Loc, model: type[BaseModel]
) -> CatalogError:
    """The first thing that is wrong, with its place and the nearest key that would be right."""
    first = error.errors()[0]
    loc: Loc = (*base, *first["loc"])
    key = str(loc[-1]) if loc else ""
    place = _describe(loc[:-1])
    if first["type"] == "template_key":
        context = first.get("ctx", {})
        step = ("steps", context["step"]) if "step" in context else ()
        loc = (*loc, *step, str(context["key"]))
        return source.wrong(loc, f"{context['message'].rstrip('.')}{_describe(loc[:-1])}")
    if first["type"] == "extra_forbidden":
        owner = _model_at(model, first["loc"][:-1])
        known = f" {describe_known(key, owner.model_fields)}" if owner else ""
        return source.wrong(loc, f'unknown key "{key}"{place}.{known}')
    if first["type"] in ("model_type", "model_attributes_type", "mapping_type", "dict_type"):
        return source.wrong(loc, f'"{key}"{place}: a list of `key: value` lines is expected here')
    if first["type"] == "missing":
        return source.wrong(loc, f'"{key}" is missing{place}')
    return source.wrong(loc, f'"{key}"{place}: {_lower_first(first["msg"])}')


def _model_at(model: type[BaseModel], loc: Loc) -> type[BaseModel] | None:
    """The model that a place in a file is read into: fields by name, the inside of mappings and lists."""
    kind: Any = model
    for part in loc:
        if _is_model(kind):
            field = kind.model_fields.get(str(part))
            kind = field.annotation if field else None
            if type(None) not in get_args(kind):
                continue
        kind = next((inner for inner in get_args(kind) if _is_model(inner)), None)
    return kind if _is_model(kind) else None


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _describe(loc: Loc) -> str:
    if len(loc) < 2:
        return ""
    text = f' in {str(loc[0]).removesuffix("s")} "{loc[1]}"'
    if len(loc) >= 4 and loc[2] == "steps" and isinstance(loc[3], int):
        text += f", step {loc[3] + 1}"
    elif len(loc) >= 3:
        text += f", {loc[2]}"
    return text


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
