"""Write the logs in ``inspect/chat`` and ``inspect/stopped`` with inspect_ai and its mock model.

Run ``python make_inspect_logs.py FOLDER`` where inspect_ai, pandas and pyarrow are installed; the
logs that the tests read were written by inspect_ai 0.3.285. Parts that no reader looks at (events,
messages, settings) are cut out of them, so that they stay small.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import anyio
from inspect_ai import Task, eval
from inspect_ai._util.zipfile import zipfile_compress_kwargs
from inspect_ai.analysis import EvalModel, EvalTask, SampleSummary, samples_df
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    ContentText,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.scorer import Score, accuracy, match, mean, scorer, stderr
from inspect_ai.solver import generate, solver

ANSWERS = {
    "small": ["1", "2", "x", "y z", "5", "no"],
    "large": ["1", "2", "3", "4", "5", "no idea"],
}
KEPT = ("_journal/start.json", "header.json", "summaries.json")


@scorer(metrics={"fluency": [mean(), stderr()], "correct": [accuracy(), stderr()]})
def multi():
    async def score(state, target):
        answer = state.output.completion
        return Score(value={"fluency": len(answer), "correct": int(target.text in answer)})

    return score


@solver
def fail():
    async def solve(state, generate):
        raise RuntimeError("the endpoint is gone")

    return solve


@solver
def hang():
    async def solve(state, generate):
        if state.sample_id == "q0":
            return await generate(state)
        print("hanging", flush=True)
        await anyio.sleep(600)

    return solve


def question(number):
    text = f"What is {number} + 1?"
    content = [ContentText(text=text)] if number == 3 else text
    messages = [ChatMessageSystem(content="Be brief."), ChatMessageUser(content=content)]
    return Sample(id=f"q{number}", input=messages, target=str(number + 1))


def output(model, answer):
    found = ModelOutput.from_content(model, answer)
    found.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return found


def run(name, model, folder, kind, solve=generate):
    outputs = [output(model, answer) for answer in ANSWERS[model]]
    return eval(
        Task(
            name=name,
            dataset=[question(number) for number in range(6)],
            solver=solve(),
            scorer=[multi(), match()],
        ),
        model=get_model(f"mockllm/{model}", custom_outputs=outputs, memoize=False),
        log_dir=str(folder),
        log_format=kind,
        display="none",
        max_samples=1,
    )


def stop(folder, kind, how):
    """Interrupt an evaluation in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, __file__, str(folder), kind], stdout=subprocess.PIPE, text=True
    )
    for line in process.stdout:
        if "hanging" in line:
            process.send_signal(how)
            break
    process.wait()


def cut(path):
    if path.suffix == ".json":
        log = json.loads(path.read_text())
        path.write_text(json.dumps(without(log), indent=1) + "\n")
        return
    with zipfile.ZipFile(path) as archive:
        found = {name: archive.read(name) for name in archive.namelist() if name in KEPT}
    with zipfile.ZipFile(path, "w", **zipfile_compress_kwargs) as archive:
        for name, data in found.items():
            archive.writestr(name, json.dumps(without(json.loads(data))))


def without(log):
    """Leave out what is long and not read."""
    if isinstance(log, list):
        return [sample(one) for one in log]
    for name in ("plan", "stats"):
        log.pop(name, None)
    for name in ("model_args", "scorers", "config", "packages"):
        log["eval"].pop(name, None)
    if log.get("error"):
        log["error"] = {"message": log["error"]["message"]}
    for one in (log.get("results") or {}).get("scores", ()):
        one.pop("params", None)
    if log.get("samples"):
        log["samples"] = [sample(one) for one in log["samples"]]
    log.pop("reductions", None)
    return log


def sample(log):
    kept = ("id", "epoch", "input", "target", "scores", "uuid", "error", "completed")
    found = {name: log[name] for name in kept if name in log}
    if isinstance(found.get("error"), dict):
        found["error"] = {"message": found["error"]["message"]}
    return found


def main(folder):
    for kind in ("eval", "json"):
        for model in ANSWERS:
            (log,) = run("arith", model, folder / "chat" / kind, kind)
            values = {one.name: one.metrics for one in log.results.scores}
            shown = {name: next(iter(of.values())).value for name, of in values.items()}
            print(model, log.status, shown)
        run("mcq", "large", folder / "stopped", kind, solve=fail)
        stop(folder / "stopped", kind, signal.SIGKILL)
    stop(folder / "stopped", "eval", signal.SIGINT)
    columns = EvalTask + EvalModel + SampleSummary
    table = samples_df(str(folder / "chat" / "eval"), columns=columns)
    names = ["task_name", "model", "id", "epoch", "input", "target", "score_match", "score_multi"]
    table = table[names]
    table.to_csv(folder / "chat.csv", index=False)
    table.to_parquet(folder / "chat.parquet", index=False)
    for path in sorted(folder.rglob("*_*_*")):
        if path.suffix in (".eval", ".json"):
            cut(path)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        run("mcq", "small", Path(sys.argv[1]), sys.argv[2], solve=hang)
    else:
        main(Path(sys.argv[1]))
