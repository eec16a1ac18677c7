"""Writes down how tests end. Python imports it at its start, from a private folder on PYTHONPATH.

It must load in any Python 3 and must never change what a program does. With pytest it only makes the name of
the report its own, so that two runs of one command do not write over each other; of unittest it listens to
results; of the tree that is checked, it lets no bytecode be imported that has no source; and at the end it
tells which files were imported.
"""

import os
import sys

_FOLDER = os.environ.get("SEGUE_TEST_REPORT", "")
_HERE = os.path.dirname(os.path.abspath(__file__))
_TREE = os.environ.get("SEGUE_TEST_TREE", "")
_INSTALLED = {"site-packages", "dist-packages"}
_IS_INSIDE_A_TEST = "PYTEST_CURRENT_TEST" in os.environ
_METHODS = {
    "addSuccess": "passed",
    "addFailure": "failed",
    "addError": "failed",
    "addUnexpectedSuccess": "failed",
    "addSkip": "skipped",
    "addExpectedFailure": "skipped",
}


def _name_pytest_report():
    """The programs that a test starts get no report: they are not tests of this project."""
    options = os.environ.get("PYTEST_ADDOPTS", "")
    words = options.split(" ")
    own = [word for word in words if word.startswith("--junitxml=" + _FOLDER)]
    if not own:
        return
    if _IS_INSIDE_A_TEST:
        os.environ["PYTEST_ADDOPTS"] = " ".join(word for word in words if word not in own)
        return
    name = "--junitxml=" + os.path.join(_FOLDER, "pytest-%d.xml" % os.getpid())
    os.environ["PYTEST_ADDOPTS"] = " ".join(name if word in own else word for word in words)


def _write(name, value):
    import json

    try:
        with open(os.path.join(_FOLDER, "%s-%d.jsonl" % (name, os.getpid())), "a") as file:
            file.write(json.dumps(value) + "\n")
    except (OSError, TypeError, ValueError):
        pass


def _record(test, outcome, reason):
    if "PYTEST_CURRENT_TEST" in os.environ:
        return
    try:
        kind = type(test)
        method = getattr(test, "_testMethodName", "")
        file = getattr(sys.modules.get(kind.__module__), "__file__", "") or ""
        is_own = method and kind.__name__ != "_FailedTest"
        names = kind.__qualname__.split(".") + [method] if is_own else [str(test.id())]
        value = {"file": file if is_own else "", "names": names, "outcome": outcome, "reason": reason}
        _write("unittest", value)
    except (AttributeError, TypeError, ValueError):
        pass


def _reason(arguments):
    error = arguments[0] if arguments else None
    if isinstance(error, tuple) and len(error) == 3 and isinstance(error[0], type):
        return ("%s: %s" % (error[0].__name__, error[1]))[:300]
    return ""


def _listen(module):
    """Note what the results of unittest are told, before they are told."""

    def noted(name, outcome):
        original = getattr(module.TestResult, name)

        def add(self, test, *arguments, **named):
            _record(test, outcome, _reason(arguments))
            return original(self, test, *arguments, **named)

        add.__name__, add.__doc__ = name, original.__doc__
        setattr(module.TestResult, name, add)

    for name, outcome in _METHODS.items():
        if hasattr(module.TestResult, name):
            noted(name, outcome)
    subtest = getattr(module.TestResult, "addSubTest", None)
    if subtest is not None:

        def add_subtest(self, test, part, error):
            if error is not None:
                _record(test, "failed", _reason((error,)))
            return subtest(self, test, part, error)

        module.TestResult.addSubTest = add_subtest


class _Finder:
    """Waits for unittest to be imported by somebody else."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != "unittest.result":
            return None
        from importlib.machinery import PathFinder

        sys.meta_path.remove(cls)
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_listen(module):
            load(module)
            _listen(module)

        spec.loader.exec_module = load_and_listen
        return spec


def _find_without_bytecode(path):
    """Finds modules in a folder of the tree, but for what is installed there: none without a source."""
    place = os.path.realpath(path)
    is_own = (place + os.sep).startswith(_TREE + os.sep) and not _INSTALLED & set(place.split(os.sep))
    if not is_own or not os.path.isdir(place):
        raise ImportError("not in the tree", path=path)
    return machinery.FileFinder(
        path,
        (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
        (machinery.SourceFileLoader, machinery.SOURCE_SUFFIXES),
    )


def _tell_imports():
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    ours = (sys.prefix, sys.base_prefix, _HERE)
    _write(
        "imports", [f for f in files if isinstance(f, str) and os.path.isabs(f) and not f.startswith(ours)]
    )


def _load_the_other():
    """The sitecustomize that this one hides, if there is one."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    others = [place for place in sys.path if os.path.abspath(place or ".") != _HERE]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if _FOLDER and not _IS_INSIDE_A_TEST:
    import atexit

    sys.meta_path.insert(0, _Finder)
    atexit.register(_tell_imports)
if _TREE:
    from importlib import machinery

    sys.path_hooks.insert(0, _find_without_bytecode)
    sys.path_importer_cache.clear()
if _FOLDER:
    _name_pytest_report()
sys.path[:] = [place for place in sys.path if place != _HERE]
_load_the_other()
