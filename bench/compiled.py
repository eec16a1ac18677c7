"""The package with the compiled reading of handoffs: built by `./do build`, once for the same sources.

python bench/compiled.py    # prints the folder that PYTHONPATH must name
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def compiled() -> Path | None:
    """The unpacked wheel of the present sources; none if there is no C compiler."""
    sources = [ROOT / "pyproject.toml", *sorted((ROOT / "src" / "segue").rglob("*.py"))]
    digest = hashlib.sha256(sysconfig.get_config_var("EXT_SUFFIX").encode())
    for source in sources:
        digest.update(source.read_bytes())
    folder = ROOT / ".cache" / f"compiled-{digest.hexdigest()[:16]}"
    if folder.exists():
        return folder
    if shutil.which("cc") is None:
        return None
    print("compiling the reading of handoffs: a minute or two, once", file=sys.stderr)
    folder.parent.mkdir(exist_ok=True)
    for old in folder.parent.glob("compiled-*"):
        shutil.rmtree(old)
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([ROOT / "do", "build", made], check=True, stdout=sys.stderr)
        (wheel,) = Path(made).glob("*.whl")
        # Whole or not there: a folder that is found is taken as it is.
        unpacked = tempfile.mkdtemp(prefix="compiled-", dir=folder.parent)
        zipfile.ZipFile(wheel).extractall(unpacked)
        Path(unpacked).rename(folder)
    return folder


if __name__ == "__main__":
    place = compiled()
    sys.exit("there is no C compiler: install one, such as gcc") if place is None else print(place)
