"""The report evaluator for pydantic-evals, in real runs of a dataset."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

import outperform as op

pytest.importorskip("pydantic_evals")

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected, Evaluator
from pydantic_evals.reporting import EvaluationReportAdapter

from outperform.pydantic_evals import CompareWithBaseline

N = 60


@dataclass
class Length(Evaluator):
    def evaluate(self, ctx):
        return len(str(ctx.output))


def answers(every, lost=None):
    """Return a task that is wrong on every so many questions, and fails on one."""

    def task(question):
        k = int(question.split()[0])
        if k == lost:
            raise RuntimeError("the endpoint is gone")
        return Answer("[/red] no idea" if k % every == 0 else str(k + 1))

    return task


class Answer(str):
    """Output of a type that pydantic does not know."""

    __slots__ = ("model",)

    @classmethod
    def __get_pydantic_core_schema__(cls, source, handler):
        raise TypeError("an output cannot be written")


def dataset(*comparisons, n=N):
    cases = [
        Case(name=f"q{k}", inputs=f"{k} + 1", expected_output=str(k + 1), metadata={"text": k // 3})
        for k in range(n)
    ]
    return Dataset[str, str, dict](
        name="sums",
        cases=cases,
        evaluators=[EqualsExpected(), Length()],
        report_evaluators=list(comparisons),
    )


def run(data, task, **options):
    # Tests in a browser leave a running event loop in their thread.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, data.evaluate(task, progress=False, **options)).result()


@pytest.fixture(scope="module")
def baseline(tmp_path_factory):
    path = tmp_path_factory.mktemp("reports") / "baseline.json"
    path.write_bytes(EvaluationReportAdapter.dump_json(run(dataset(), answers(3), name="old")))
    return path


def decided(report):
    assert report.report_evaluator_failures == []
    return report.analyses[0]


def test_a_run_has_the_decision_and_its_numbers(baseline, tmp_path):
    compare = CompareWithBaseline(baseline, rope=0.02)
    report = run(dataset(compare), answers(20), name="new")
    table = decided(report)
    cells = dict(zip(table.columns, table.rows[0], strict=True))

    path = tmp_path / "new.json"
    path.write_bytes(EvaluationReportAdapter.dump_json(report))
    seen = op.read({"candidate": path, "baseline": baseline}, format="pydantic-evals")
    g = op.gate(seen, "candidate", "baseline", rope=0.02)
    assert table.title == "Gate passed: candidate is not worse than baseline in accuracy."
    assert table.description == g.report()
    assert cells["decision"] == "≫ better"
    assert cells["status"] == "pass"
    assert cells["mean"] == f"{g.main.mean:+.4f}"
    assert g.main.observed == pytest.approx((20 - 3) / N)
    printed = report.render(width=120)
    assert table.title in printed
    assert cells["95% HDI"] in printed


def test_a_worse_run_fails_and_findings_are_listed(baseline):
    report = run(dataset(CompareWithBaseline(baseline)), answers(1))
    assert decided(report).title.startswith("Gate failed: candidate is worse than baseline")
    findings = report.analyses[1]
    assert findings.columns == ["level", "message", "name"]
    assert "default_rope" in [row[2] for row in findings.rows]


def test_scores_groups_and_a_required_improvement(baseline):
    compare = CompareWithBaseline(
        baseline, score="Length", metric="mean", rope=(-0.5, 1.0), require="better", groups="text"
    )
    report = run(dataset(), answers(20))
    g = compare.gate(report)
    assert g.require == "better"
    assert g.main.rope == op.Rope(low=-0.5, high=1.0)
    assert g.main.to_dict()["n_groups"] == N // 3
    lengths = [len(str(case.output)) for case in report.cases]
    assert g.main.a.observed == pytest.approx(sum(lengths) / N)


def test_runs_that_do_not_match_are_among_the_failures(baseline):
    report = run(dataset(CompareWithBaseline(baseline), n=50), answers(20))
    (failure,) = report.report_evaluator_failures
    assert "of 60 items that some model answered, 'candidate' lacks 10" in failure.error_message
    assert report.analyses == []
    dropping = CompareWithBaseline(baseline, on_missing="drop")
    assert dropping.gate(report).main.to_dict()["n"] == 50


def test_a_failed_case_is_dropped_only_on_request(baseline):
    report = run(dataset(CompareWithBaseline(baseline)), answers(20, lost=7))
    (failure,) = report.report_evaluator_failures
    assert "on_null='drop'" in failure.error_message
    dropping = CompareWithBaseline(baseline, on_null="drop")
    assert dropping.gate(report).main.to_dict()["n"] == N - 1


def test_without_a_baseline_file_the_report_says_so(tmp_path):
    report = run(dataset(CompareWithBaseline(tmp_path / "none.json")), answers(20))
    assert "none.json" in report.report_evaluator_failures[0].error_message
    assert "none.json" in report.render(width=300)


def test_repeated_runs_of_a_case_are_groups(tmp_path):
    path = tmp_path / "old.json"
    data = dataset(n=12)
    path.write_bytes(EvaluationReportAdapter.dump_json(run(data, answers(3), repeat=2)))
    g = CompareWithBaseline(path).gate(run(data, answers(20), repeat=2))
    assert g.main.to_dict()["n"] == 24
    assert g.main.to_dict()["n_groups"] == 12


def test_a_dataset_in_a_file_names_the_evaluator(baseline, tmp_path):
    path = tmp_path / "sums.yaml"
    compare = CompareWithBaseline(str(baseline), score="EqualsExpected", rope=0.02)
    own = {
        "custom_evaluator_types": [Length],
        "custom_report_evaluator_types": [CompareWithBaseline],
    }
    dataset(compare).to_file(path, **own)
    again = Dataset[str, str, dict].from_file(path, **own)
    assert again.report_evaluators == [compare]
    assert decided(run(again, answers(20))).title.startswith("Gate passed")
