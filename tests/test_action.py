"""``action.yml``: its shell runs here as on a runner, and the comments go to a server over HTTP."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.loops import each

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
TOKEN = "ghs_secret"
BOT = "github-actions[bot]"
pytestmark = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in ("bash", "curl", "jq")),
    reason="the action needs bash, curl and jq, as every runner has them",
)


# What a runner does


def filled(text: object, context: dict[str, str]) -> str:
    """Put values where an expression names them; an unknown name is a fault of the action."""
    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: context[found[1]], str(text))


def holds(condition: str | None, context: dict[str, str]) -> bool:
    """Read ``name == 'text' && name != 'text'``."""
    for part in (condition or "").split(" && ") if condition else ():
        name, sign, text = re.fullmatch(r"([\w.-]+) (==|!=) '(.*)'", part).groups()
        if (context[name] == text) is (sign == "!="):
            return False
    return True


def outputs_in(path: Path) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines)


def run(folder: Path, *, steps=STEPS, event=(), **inputs: str) -> SimpleNamespace:
    """Run the steps of the action one after the other, as a runner does."""
    temp = folder / "temp"
    temp.mkdir(exist_ok=True)
    given = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
    given |= {"python": sys.executable, "install": "false", "token": TOKEN}
    given |= {name.replace("_", "-"): value for name, value in inputs.items()}
    context = {f"inputs.{name}": value for name, value in given.items()}
    context |= {
        "runner.temp": str(temp),
        "github.action_path": str(ROOT),
        "github.server_url": "https://github.example",
        "github.api_url": "http://127.0.0.1:9",
        "github.repository": "someone/model",
        "github.run_id": "77",
        "github.event.pull_request.number": "",
        **dict(event),
    }
    summary = temp / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    log, code = "", 0
    for number, step in enumerate(steps):
        if not holds(step.get("if"), context):
            continue
        outputs = temp / f"outputs-{number}"
        outputs.touch()
        env = {name: filled(value, context) for name, value in step["env"].items()}
        files = {"GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(summary)}
        found = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder, env=os.environ | env | files, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        log += found.stdout + found.stderr
        told = outputs_in(outputs)
        outputs.unlink()
        context |= {f"steps.{step.get('id')}.outputs.{name}": one for name, one in told.items()}
        code = found.returncode
        if code:
            break
    unset = {name: "" for name in re.findall(r"steps[\w.-]+", json.dumps(ACTION["outputs"]))}
    told = {name: filled(one["value"], unset | context) for name, one in ACTION["outputs"].items()}
    return SimpleNamespace(
        code=code, log=log, summary=summary.read_text(encoding="utf-8"), outputs=told
    )


def write(folder: Path, new: int, old: int) -> Path:
    """Write 400 items of which the models get so many right, on the same ones."""
    rows = [
        f"{n},yes,{'yes' if n < old else 'no'},{'yes' if n < new else 'no'}" for n in range(300)
    ]
    rows += [f"{n},no,no,no" for n in range(300, 400)]
    path = folder / "preds.csv"
    path.write_text("\n".join(["id,label,old,new", *rows]) + "\n", encoding="utf-8")
    return path


ASKED = {
    "files": "preds.csv", "truth": "label", "baseline": "old", "candidate": "new",
    "metric": "accuracy", "rope": "0.01",
}  # fmt: skip


# The comments of a pull request


class Comments(BaseHTTPRequestHandler):
    """The endpoints of GitHub's issue comments, as far as the action needs them."""

    def log_message(self, *_: object) -> None: ...

    def answer(self, status: int, content: object) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def received(self) -> dict[str, str]:
        length = int(self.headers["Content-Length"])
        return json.loads(self.rfile.read(length))

    def handle_one(self, method: str) -> None:
        kept: list[dict] = self.server.comments
        self.server.requests.append(f"{method} {self.path}")
        address = urlsplit(self.path)
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            self.answer(401, {"message": "Bad credentials"})
        elif method != "GET" and self.server.read_only:
            self.answer(403, {"message": "Resource not accessible by integration"})
        elif method == "GET" and address.path == "/repos/someone/model/issues/12/comments":
            asked = {name: int(value) for name, (value,) in parse_qs(address.query).items()}
            first = (asked["page"] - 1) * asked["per_page"]
            self.answer(200, kept[first : first + asked["per_page"]])
        elif method == "POST" and address.path == "/repos/someone/model/issues/12/comments":
            new = {"id": 1000 + len(kept), "user": {"login": BOT}, **self.received()}
            kept.append(new)
            self.answer(201, new)
        elif method == "PATCH" and address.path.startswith("/repos/someone/model/issues/comments/"):
            number = int(address.path.rpartition("/")[2])
            (old,) = (one for one in kept if one["id"] == number)
            old |= self.received()
            self.answer(200, old)
        else:
            self.answer(404, {"message": "Not Found"})

    def do_GET(self) -> None:
        self.handle_one("GET")

    def do_POST(self) -> None:
        self.handle_one("POST")

    def do_PATCH(self) -> None:
        self.handle_one("PATCH")


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Comments) as served:
        served.comments, served.requests, served.read_only = [], [], False
        Thread(target=served.serve_forever, daemon=True).start()
        yield served
        served.shutdown()


def pull_request(server):
    return {
        "github.api_url": f"http://127.0.0.1:{server.server_port}",
        "github.event.pull_request.number": "12",
    }


# What it does


def test_inputs_are_never_part_of_a_script():
    for step in STEPS:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"


def test_a_pass_is_summarized_and_told(tmp_path):
    write(tmp_path, new=270, old=240)
    found = run(tmp_path, **ASKED)
    assert found.code == 0
    assert found.summary.startswith("before\n### ✅ Gate passed: new is not worse than old in acc")
    assert "::notice title=Gate accuracy%3A pass::" in found.log
    told = found.outputs
    assert (told["status"], told["decision"], told["exit-code"]) == ("pass", "better", "0")
    assert 0 < float(told["hdi-low"]) < float(told["difference"]) < float(told["hdi-high"])
    body = Path(told["comment-file"]).read_text(encoding="utf-8")
    assert body.startswith("<!-- outperform gate -->\n### ✅ Gate passed")
    assert "(https://github.example/someone/model/actions/runs/77)" in body


@pytest.mark.parametrize(("new", "old", "code"), [(200, 270, 1), (240, 243, 4)])
def test_a_failure_and_undecided_end_with_their_codes(tmp_path, new, old, code):
    write(tmp_path, new=new, old=old)
    found = run(tmp_path, **ASKED)
    assert found.code == code
    assert found.outputs["exit-code"] == str(code)
    assert found.outputs["status"] == {1: "fail", 4: "undecided"}[code]


def test_files_guards_and_other_options_are_lines(tmp_path):
    rows = write(tmp_path, new=270, old=240).read_text(encoding="utf-8").splitlines()[1:]
    for place, name in ((2, "old"), (3, "new")):
        lines = (
            ",".join(["id", "label", "prediction"]),
            *(",".join([*row.split(",")[:2], row.split(",")[place]]) for row in rows),
        )
        (tmp_path / f"{name} model.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = run(
        tmp_path,
        files="old model.csv\n\nnew model.csv\n", truth="label", label="prediction", id="id",
        baseline="old model", candidate="new model", metric="accuracy", rope="0.01",
        guards="recall:yes:0.02\nprecision:no:0.02\n", arguments="--hdi-prob=0.9\n--junit=j.xml\n",
    )  # fmt: skip
    assert found.code == 0, found.log
    assert "90% HDI" in found.summary
    assert (tmp_path / "j.xml").read_text(encoding="utf-8").count("<testcase") == 3


def test_what_an_input_holds_is_not_run(tmp_path):
    write(tmp_path, new=270, old=240)
    hostile = "$(touch owned); touch owned `touch owned` ${IFS} \"'\n; touch owned"
    names = ("files", "baseline", "truth", "guards", "metric", "rope", "require", "comment_key")
    found = run(tmp_path, **ASKED | dict.fromkeys(names, hostile))
    assert found.code == 2
    assert not (tmp_path / "owned").exists()
    body = Path(found.outputs["comment-file"]).read_text(encoding="utf-8")
    assert "The gate gave no answer" in body
    assert "exit code 2, which neither passes nor fails a model" in body


def test_an_option_is_no_file(tmp_path):
    write(tmp_path, new=270, old=240)
    found = run(tmp_path, **ASKED | {"files": "--output=owned"})
    assert found.code in (2, 3)
    assert not (tmp_path / "owned").exists()


# Files of the checkout

PASSING = """
import os, sys
if "GITHUB_OUTPUT" in os.environ:
    with open(os.environ["GITHUB_OUTPUT"], "a") as stream:
        print("status=pass", file=stream)
open("owned", "w").close()
os._exit(0)
"""
SHADOWED = ("typer", "typing", "pip", "json", "numpy", "runpy", "sitecustomize", "enum", "rich")


def plant(folder: Path, source: str) -> None:
    """Put modules into the working folder that have the names of what the gate needs."""
    for name in SHADOWED:
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    for name in ("outperform", "numpy", "pip", "typer"):
        (folder / name).mkdir()
        for file in ("__init__", "__main__"):
            (folder / name / f"{file}.py").write_text(source, encoding="utf-8")


@pytest.mark.parametrize(
    ("source", "new", "old", "code"),
    [(PASSING, 200, 270, 1), ("x = 1", 200, 270, 1), ("1 / 0", 270, 240, 0)],
)
def test_files_of_the_checkout_do_not_replace_modules(tmp_path, source, new, old, code):
    write(tmp_path, new=new, old=old)
    plant(tmp_path, source)
    ended = run(tmp_path, **ASKED)
    assert ended.code == code, ended.log
    assert not (tmp_path / "owned").exists()
    (install,) = (step for step in STEPS if step["name"] == "Install outperform")
    shown = subprocess.run(
        ["bash", "-c", install["run"].replace("pip install", "pip help install")],  # if it has pip
        cwd=tmp_path, env=os.environ | {"PYTHON": sys.executable, "TARGET": "t", "SOURCE": "s"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert not (tmp_path / "owned").exists()
    assert "ZeroDivisionError" not in shown.stderr


def test_every_python_of_the_action_runs_without_the_working_folder():
    for step in STEPS:
        calls = re.findall(r'"\$PYTHON" (\S+)', step["run"])
        assert set(calls) <= {"-P"}
        assert not calls or step["env"]["PYTHONSAFEPATH"] == "1"
        assert not re.search(r"\bpython3?\b", step["run"])


@each(
    "argument",
    [
        "--help",
        "--help-all",
        "-h",
        "--version",
        "--format=json",
        "-fjson",
        "--output=x",
        "-o",
        "--show-completion",
    ],
)
def test_arguments_without_an_answer_are_refused(tmp_path, argument):
    write(tmp_path, new=270, old=240)
    ended = run(tmp_path, **ASKED, arguments=argument)
    assert ended.code == 2
    assert f"The input arguments must not have {argument.split('=')[0]}" in ended.log
    assert (ended.outputs["status"], ended.outputs["exit-code"]) == ("", "2")


ENDINGS = {
    # what a program in place of Python writes and returns: what the action ends with
    ("", 0): 5, ("", 1): 5, ("", 4): 5, ("", 2): 2, ("", 3): 3, ("", 5): 5, ("", 137): 5,
    ("pass", 0): 0, ("pass", 1): 5, ("pass", 4): 5, ("pass", 5): 5, ("pass", 2): 2,
    ("fail", 1): 1, ("fail", 0): 5, ("fail", 4): 5,
    ("undecided", 4): 4, ("undecided", 0): 5, ("undecided", 1): 5,
    ("passed", 0): 5, ("pass ", 0): 5,
}  # fmt: skip


@each(("status", "returned"), ENDINGS)
def test_a_pass_and_a_failure_need_their_status(tmp_path, status, returned):
    write(tmp_path, new=270, old=240)
    program = tmp_path / "python"
    told = f"echo 'status={status}' >>\"$GITHUB_OUTPUT\"" if status else ""
    program.write_text(f"#!/bin/bash\n{told}\nexit {returned}\n", encoding="utf-8")
    program.chmod(0o755)
    ended = run(tmp_path, **ASKED, python=str(program))
    code = ENDINGS[status, returned]
    assert ended.code == code, ended.log
    if code in (0, 1, 4):
        assert ended.outputs["status"] == status
    elif returned in (0, 1, 4):
        assert "::error title=outperform gate::" in ended.log
        assert "an error of the run" in ended.log
        assert ended.outputs["exit-code"] == "5" or status == "undecided"


@pytest.mark.parametrize("asked", [{"allow": "undecided"}, {"arguments": "--allow=undecided"}])
def test_what_cannot_tell_yet_passes_only_if_it_may(tmp_path, asked):
    write(tmp_path, new=240, old=243)
    assert run(tmp_path, **ASKED).code == 4
    ended = run(tmp_path, **ASKED, **asked)
    assert (ended.code, ended.outputs["status"]) == (0, "undecided")


def test_the_comment_is_created_and_then_updated(tmp_path, server):
    # A hundred others on the first page, one of which pretends to be ours.
    mark = "<!-- outperform gate -->\n"
    server.comments += [{"id": n, "user": {"login": "eve"}, "body": mark} for n in range(100)]
    server.comments.append({"id": 500, "user": {"login": BOT}, "body": f"see {mark}"})
    write(tmp_path, new=270, old=240)
    found = run(tmp_path, event=pull_request(server), **ASKED)
    assert found.code == 0, found.log
    assert len(server.comments) == 102
    assert server.comments[-1]["body"].startswith(f"{mark}### ✅ Gate passed")
    assert [one.split()[0] for one in server.requests] == ["GET", "GET", "POST"]

    write(tmp_path, new=200, old=270)
    found = run(tmp_path, event=pull_request(server), **ASKED)
    assert found.code == 1
    assert len(server.comments) == 102
    assert server.comments[-1]["body"].startswith(f"{mark}### ❌ Gate failed")
    assert server.requests[-1].startswith("PATCH")
    assert all(one["body"] == mark for one in server.comments[:100])

    told = {"steps.gate.outputs.exit_code": "1", **pull_request(server)}
    run(tmp_path, steps=STEPS[2:4], event=told, **ASKED, comment_key="other")
    assert len(server.comments) == 103
    assert TOKEN not in found.log + json.dumps(server.comments)


def test_without_the_right_to_comment_the_gate_still_decides(tmp_path, server):
    server.read_only = True
    write(tmp_path, new=200, old=270)
    found = run(tmp_path, event=pull_request(server), **ASKED)
    assert found.code == 1
    assert "::warning title=outperform gate::The comment could not be posted" in found.log
    before = len(server.requests)
    run(tmp_path, steps=STEPS[3:4], event=pull_request(server), **ASKED, comment="false")
    assert len(server.requests) == before


def test_a_long_comment_fits(tmp_path, server):
    (post,) = (step for step in STEPS if step["name"] == "Post the comment")
    (tmp_path / "temp").mkdir()
    text = "<!-- outperform gate -->\n" + "é" * 70_000
    (tmp_path / "temp" / "outperform-comment.md").write_text(text, encoding="utf-8")
    run(tmp_path, steps=[post], event=pull_request(server), **ASKED)
    assert [len(one["body"]) for one in server.comments] == [65_000]


def test_the_guide_names_every_input_and_output():
    page = (ROOT / "docs/how-to/release-gate.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page.partition("## In GitHub Actions")[2], re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([\w-]+)`", row)]
    assert {*ACTION["inputs"], *ACTION["outputs"]} <= set(named)


@pytest.mark.slow
def test_it_installs_itself(tmp_path):
    """This step loads packages from PyPI."""
    write(tmp_path, new=270, old=240)
    found = run(tmp_path, **ASKED, install="true")
    assert found.code == 0, found.log
    assert (tmp_path / "temp" / "outperform" / "outperform" / "__init__.py").is_file()
