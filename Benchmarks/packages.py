"""The packages from PyPI that the scripts of this folder need, in an environment of their own: .build/python."""
import importlib
import os
import pathlib
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent


def provide(*modules):
    """Returns if the modules can be imported; else installs the packages and runs the script again with them."""
    try:
        for module in modules:
            importlib.import_module(module)
    except ImportError:
        home = here / ".build" / "python"
        if sys.prefix == str(home):
            raise
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        pip = [str(home / "bin" / "python3"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run(pip + ["-r", str(here / "Peers" / "requirements.txt")], check=True)
        os.execv(str(home / "bin" / "python3"), [str(home / "bin" / "python3"), *sys.argv])
