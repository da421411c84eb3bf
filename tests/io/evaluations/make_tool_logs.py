"""Write the logs in ``promptfoo``, ``openai_evals``, ``pydantic_evals``, ``deepeval`` and ``helm``.

Run ``python make_tool_logs.py TOOL FOLDER`` where the tool is installed; no model and no network is
needed, because the answers are made up. What each tool reports goes into ``reported.json`` beside
its logs. Parts that no reader looks at are cut out, and versions are in ``reported.json``.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

N = 210
SHARES = {"small": 0.6, "large": 0.75}
TOPICS = ("sums", "products", "differences")
QUESTIONS = [
    {"question": f"What is {k} + {k % 7}?", "answer": str(k + k % 7), "topic": TOPICS[k % 3]}
    for k in range(N)
]


def answer(model, k, again=0):
    """Return what a model says, right as often as its share of the easy items."""
    easy = random.Random(f"easy {k}").random()
    chance = random.Random(f"{model} {k} {again}").random()
    right = 0.4 * easy + 0.6 * chance < SHARES[model]
    return QUESTIONS[k]["answer"] if right else "no idea"


def write(path, found, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    data = json.dumps(found, **options).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


# promptfoo: `npm install promptfoo`, and PROMPTFOO=node_modules/.bin/promptfoo


PROVIDER = """
import fs from 'fs';
const said = JSON.parse(fs.readFileSync(new URL('answers.json', import.meta.url)));
export default class {
  constructor(options) { this.label = options.label; this.model = options.config.model; }
  id() { return 'script:' + this.model; }
  async callApi(prompt, context) {
    const found = said[this.model][context.vars.question];
    if (found === null) throw new Error('the endpoint is gone');
    return { output: found, tokenUsage: { total: 2, prompt: 1, completion: 1 } };
  }
}
"""


PROMPTS = ["A: {{question}}", "B: {{question}}"]


def promptfoo(folder):
    def run(name, n, lost=(), repeat=1, prompts=("Answer: {{question}}",), providers=SHARES):
        place = folder / f"making-{name}"
        place.mkdir(parents=True, exist_ok=True)
        (place / "provider.mjs").write_text(PROVIDER)
        said = {
            model: {
                one["question"]: None if (model, k) in lost else answer(model, k)
                for k, one in enumerate(QUESTIONS[:n])
            }
            for model in SHARES
        }
        (place / "answers.json").write_text(json.dumps(said))
        config = {
            "description": "sums",
            "prompts": list(prompts),
            "providers": [
                {"id": "file://provider.mjs", "label": one, "config": {"model": one}}
                for one in providers
            ],
            "tests": [
                {
                    "vars": {"question": one["question"], "answer": one["answer"]},
                    "metadata": {"topic": one["topic"]},
                    "assert": [
                        {"type": "equals", "value": "{{answer}}", "metric": "exact"},
                        {"type": "javascript", "value": "output.length / 10", "metric": "length"},
                    ]
                    if n < N
                    else [{"type": "equals", "value": "{{answer}}", "metric": "exact"}],
                }
                for one in QUESTIONS[:n]
            ],
        }
        (place / "promptfooconfig.json").write_text(json.dumps(config))
        quiet = {
            "PROMPTFOO_DISABLE_TELEMETRY": "1",
            "PROMPTFOO_DISABLE_UPDATE": "1",
            "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
            "PROMPTFOO_DISABLE_SHARING": "1",
            "PROMPTFOO_CONFIG_DIR": str(place / "home"),
        }
        out = place / "out.json"
        words = ["eval", "-c", "promptfooconfig.json", "-o", str(out), "--no-cache", "--no-table"]
        subprocess.run(
            [os.environ["PROMPTFOO"], *words, "--no-progress-bar", "--repeat", str(repeat)],
            cwd=place, env={**os.environ, **quiet}, check=False,
        )  # fmt: skip
        return json.loads(out.read_text())

    def trimmed(found):
        """Leave out what is long and not read."""
        results = found["results"]
        for one in results["prompts"]:
            one["metrics"].pop("tokenUsage")
        for one in results["results"]:
            for key in ("tokenUsage", "metadata", "id", "promptId", "latencyMs", "cost"):
                one.pop(key, None)
            grading = one["gradingResult"]
            if grading:
                for key in ("tokensUsed", "componentResults", "namedScoreWeights", "reason"):
                    grading.pop(key, None)
            one["prompt"] = {"label": one["prompt"]["label"]}
            one["response"] = {"output": (one.get("response") or {}).get("output")}
            one["testCase"].pop("vars")
            if "error" in one:
                one["error"] = one["error"].partition("\n")[0]
        results["stats"].pop("tokenUsage")
        kept = ("evalId", "results", "shareableUrl", "metadata", "vars")
        return {key: found[key] for key in kept}

    reported = {}
    for name, options in {
        "two": {"n": N},
        "lost": {"n": 12, "lost": {("small", 3)}},
        "again": {"n": 12, "repeat": 2},
        "prompts": {
            "n": 12,
            "prompts": ["A: {{question}}", "B: {{question}}"],
            "providers": ["small"],
        },
    }.items():
        found = run(name, **options)
        write(folder / name / "out.json", trimmed(found), separators=(",", ":"))
        reported[name] = [
            {key: one["metrics"][key] for key in ("score", "testPassCount", "testErrorCount")}
            for one in found["results"]["prompts"]
        ]
        reported["promptfoo"] = found["metadata"]["promptfooVersion"]
    write(folder.parent / "promptfoo.json", reported, indent=1)


# openai-evals: `pip install evals`


def openai_evals(folder):
    import evals.base
    import evals.record
    from evals.elsuite.basic.match import Match
    from evals.registry import Registry

    class Result:
        def __init__(self, text):
            self.text = text

        def get_completions(self):
            return [self.text]

    def run(model, n, out):
        asked = {one["question"]: k for k, one in enumerate(QUESTIONS)}

        def complete(prompt, **kwargs):
            found = answer(model, asked[prompt])
            evals.record.record_sampling(prompt=prompt, sampled=found)
            return Result(found)

        samples = folder / "samples.jsonl"
        lines = [{"input": one["question"], "ideal": one["answer"]} for one in QUESTIONS[:n]]
        samples.write_text("".join(json.dumps(line) + "\n" for line in lines))
        spec = evals.base.RunSpec(
            completion_fns=[model],
            eval_name="sums.test.v1",
            base_eval="sums",
            split="test",
            run_config={"completion_fns": [model], "seed": 1},
            created_by="",
        )
        out.parent.mkdir(parents=True, exist_ok=True)
        recorder = evals.record.LocalRecorder(str(out), spec)
        asking = Match(
            completion_fns=[complete],
            samples_jsonl=str(samples),
            name="sums.test.v1",
            seed=1,
            eval_registry_path=folder,
            registry=Registry(),
        )
        report = asking.run(recorder)
        recorder.record_final_report(report)
        recorder.flush_events()
        samples.unlink()
        # What was sampled stands in the match as well.
        kept = [json.loads(line) for line in out.read_text().splitlines()]
        for one in kept:
            one.pop("created_by", None)
            if one.get("type") == "sampling":
                one["data"] = {}
        out.write_text("".join(json.dumps(one) + "\n" for one in kept))
        return report

    reported = {
        f"{name}/{model}": run(model, n, folder / name / f"{model}.jsonl")
        for name, n in (("two", N), ("few", 24))
        for model in SHARES
    }
    write(folder.parent / "openai_evals.json", {"evals": version("evals"), **reported}, indent=1)


# pydantic-evals: `pip install pydantic-evals`


def pydantic_evals(folder):
    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import EqualsExpected, Evaluator
    from pydantic_evals.reporting import EvaluationReportAdapter

    class Length(Evaluator):
        def evaluate(self, ctx):
            return len(ctx.output) / 10

    reported = {}
    for name, n, repeat, lost in (("two", N, 1, None), ("again", 12, 2, None), ("lost", 12, 1, 3)):
        dataset = Dataset(
            name="sums",
            cases=[
                Case(
                    name=f"q{k}",
                    inputs=one["question"],
                    expected_output=one["answer"],
                    metadata={"topic": one["topic"]},
                )
                for k, one in enumerate(QUESTIONS[:n])
            ],
            evaluators=[EqualsExpected(), Length()],
        )
        for model in SHARES:
            times = {}

            def solve(question, model=model, times=times, lost=lost):
                k = QUESTIONS.index(next(one for one in QUESTIONS if one["question"] == question))
                times[k] = times.get(k, -1) + 1
                if (model, k) == ("small", lost):
                    raise RuntimeError("the endpoint is gone")
                return answer(model, k, times[k])

            report = dataset.evaluate_sync(
                solve, name=model, repeat=repeat, progress=False, max_concurrency=1
            )
            averages = report.averages()
            reported[f"{name}/{model}"] = {
                "assertions": averages.assertions,
                "scores": averages.scores,
                "cases": len(report.cases),
                "failures": len(report.failures),
            }
            data = json.loads(EvaluationReportAdapter.dump_json(report))
            for one in (*data["cases"], *data["failures"]):
                one.pop("error_stacktrace", None)
                for result in (
                    *one.get("scores", {}).values(),
                    *one.get("assertions", {}).values(),
                ):
                    result.pop("source")
            write(folder / name / f"{model}.json", data, separators=(",", ":"))
    known = {"pydantic-evals": version("pydantic-evals")}
    write(folder.parent / "pydantic_evals.json", known | reported, indent=1)


# deepeval: `pip install deepeval`


def deepeval(folder):
    os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_DISABLE_DOTENV": "1"}
    from deepeval import evaluate
    from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase

    class Exact(BaseMetric):
        threshold = 0.5
        async_mode = False
        include_reason = False

        def measure(self, case, *args, **kwargs):
            if case.actual_output == "error":
                raise RuntimeError("the grader is gone")
            self.score = float(case.actual_output == case.expected_output)
            self.success = self.score >= self.threshold
            return self.score

        async def a_measure(self, case, *args, **kwargs):
            return self.measure(case)

        def is_successful(self):
            return bool(self.success)

        @property
        def __name__(self):
            return "Exact"

    class Length(Exact):
        threshold = 0.0

        def measure(self, case, *args, **kwargs):
            self.score = len(case.actual_output) / 10
            self.success = True
            return self.score

        @property
        def __name__(self):
            return "Length"

    reported = {}
    for name, n, lost in (("two", N, None), ("few", 24, None), ("lost", 12, 3)):
        for model in SHARES:
            cases = [
                LLMTestCase(
                    name=f"q{k}",
                    input=one["question"],
                    actual_output="error" if (model, k) == ("small", lost) else answer(model, k),
                    expected_output=one["answer"],
                    metadata={"topic": one["topic"]},
                )
                for k, one in enumerate(QUESTIONS[:n])
            ]
            place = folder / name / model
            place.mkdir(parents=True, exist_ok=True)
            os.environ["DEEPEVAL_RESULTS_FOLDER"] = str(place)
            found = evaluate(
                cases,
                [Exact(), Length()] if n < N else [Exact()],
                hyperparameters={"model": model},
                async_config=AsyncConfig(run_async=False),
                cache_config=CacheConfig(write_cache=False, use_cache=False),
                display_config=DisplayConfig(show_indicator=False, print_results=False),
                error_config=ErrorConfig(ignore_errors=True),
            )
            passed = [one.success for one in found.test_results]
            reported[f"{name}/{model}"] = {"passed": sum(passed), "n": len(passed)}
    write(folder.parent / "deepeval.json", {"deepeval": version("deepeval")} | reported, indent=1)


# HELM: `pip install crfm-helm`. A run needs a server of models, so what it writes is written here
# with its own classes and metrics, in the way of its runner.


def helm(folder):
    from helm.benchmark.adaptation.adapter_spec import AdapterSpec
    from helm.benchmark.adaptation.request_state import RequestState
    from helm.benchmark.adaptation.scenario_state import ScenarioState
    from helm.benchmark.augmentations.perturbation_description import PerturbationDescription
    from helm.benchmark.metrics.metric import Metric, MetricSpec
    from helm.benchmark.metrics.metric_name import MetricName
    from helm.benchmark.metrics.statistic import Stat
    from helm.benchmark.run_spec import RunSpec
    from helm.benchmark.scenarios.scenario import (
        CORRECT_TAG,
        Input,
        Instance,
        Output,
        Reference,
        ScenarioSpec,
    )
    from helm.common.general import asdict_without_nones
    from helm.common.request import GeneratedOutput, Request, RequestResult

    class Exact(Metric):
        def evaluate_generation(self, adapter_spec, request_state, *args):
            said = request_state.result.completions[0].text
            right = said == request_state.instance.first_correct_reference.output.text
            return [
                Stat(MetricName("exact_match")).add(right),
                Stat(MetricName("num_output_characters")).add(len(said)),
            ]

    def state(model, k, trial, perturbation):
        one = QUESTIONS[k]
        text = one["question"].lower() if perturbation else one["question"]
        instance = Instance(
            input=Input(text),
            references=[Reference(Output(one["answer"]), tags=[CORRECT_TAG])],
            split="test",
            id=f"id{k}",
            perturbation=perturbation,
            extra_data={"topic": one["topic"]},
        )
        said = GeneratedOutput(answer(model, k, 3 * trial + bool(perturbation)), 0.0, [])
        return RequestState(
            instance=instance,
            reference_index=None,
            request_mode=None,
            train_trial_index=trial,
            output_mapping=None,
            request=Request(model=f"made/{model}", prompt=text),
            result=RequestResult(success=True, embedding=[], completions=[said], cached=False),
            num_train_instances=0,
            prompt_truncated=False,
        )

    reported = {}
    lower = PerturbationDescription(name="lowercase", robustness=True)
    for name, n, trials, perturbations in (
        ("two", N, 1, [None]),
        ("again", 12, 2, [None]),
        ("perturbed", 12, 1, [None, lower]),
    ):
        for model in SHARES:
            states = [
                state(model, k, trial, how)
                for trial in range(trials)
                for how in perturbations
                for k in range(n)
            ]
            if trials > 1:  # the trials ask the same instances
                first = {one.instance.id: one.instance for one in states[:n]}
                states = [replace(one, instance=first[one.instance.id]) for one in states]
            adapter = AdapterSpec(
                method="generation",
                model=f"made/{model}",
                model_deployment=f"made/{model}",
                num_train_trials=trials,
            )
            found = ScenarioState(adapter, states)
            spec = RunSpec(
                name=f"sums:kind=plus,model=made_{model}",
                scenario_spec=ScenarioSpec(class_name="sums", args={"kind": "plus"}),
                adapter_spec=adapter,
                metric_specs=[MetricSpec(class_name="exact", args={})],
                groups=["sums"],
            )
            result = Exact().evaluate(found, None, "", 1)
            place = folder / name / spec.name.replace(":", "-")
            short = {"separators": (",", ":")}
            write(place / "run_spec.json", asdict_without_nones(spec), **short)
            per_instance = [asdict_without_nones(one) for one in result.per_instance_stats]
            write(place / "per_instance_stats.json", per_instance, **short)
            stats = [asdict_without_nones(one) for one in result.aggregated_stats]
            write(place / "stats.json", stats, **short)
            kept = asdict_without_nones(found)
            for one in kept["request_states"]:
                one.pop("request")
                one.pop("result")
            write(place / "scenario_state.json", kept, **short)
            means = {
                (one.name.name, one.name.perturbation): one.mean for one in result.aggregated_stats
            }
            reported[f"{name}/{model}"] = {
                "none": means["exact_match", None],
                "lowercase": means.get(("exact_match", lower)),
                "characters": means["num_output_characters", None],
            }
    write(folder.parent / "helm.json", {"crfm-helm": version("crfm-helm")} | reported, indent=1)


if __name__ == "__main__":
    globals()[sys.argv[1].replace("-", "_")](Path(sys.argv[2]).resolve())
