"""Run where only the package is installed: it brings attrs and cattrs, and the command says what it lacks."""

import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

found = {d.metadata["Name"].lower().replace("-", "_") for d in distributions()}
allowed = {"mcp_sansio", "attrs", "cattrs", "typing_extensions", "pip", "setuptools"}
assert {"mcp_sansio", "attrs", "cattrs"} <= found <= allowed, f"unexpected: {found ^ allowed}"

command = Path(sys.executable).with_name("mcp-sansio")
done = subprocess.run([command, "demo"], capture_output=True, text=True, check=False)
assert done.returncode != 0, done
assert "pip install 'mcp_sansio[cli]'" in done.stderr, done.stderr
print(f"installed: {', '.join(sorted(found - {'pip', 'setuptools'}))}; without its extra the command says:")
print(done.stderr.strip())
