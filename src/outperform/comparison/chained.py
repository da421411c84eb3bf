"""The engine that walks: the same questions, answered by a Markov chain of PyMC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from outperform._typing import FloatArray
from outperform.comparison.engine import Answer, measure, refuse_undefined
from outperform.comparison.question import Question
from outperform.posterior import Chain
from outperform.posterior import pymc as chains


def answer_by_chain(
    questions: Sequence[Question], *, n_draws: int, seed: np.random.SeedSequence, n_jobs: int | None
) -> list[Answer]:
    """Answer questions that share a view and a model from one chain."""
    first = questions[0]
    view, sampler = first.view, first.given.engine.sampler
    assert sampler is not None
    sampler = replace(sampler, n_draws=n_draws)
    model = first.given.engine.own
    if model is None:
        model = chains.model_of(view, model=first.model.name, prior=first.prior)
    trace = chains.sample(model, sampler, seed=seed, n_jobs=n_jobs)
    drawn = chains.confusions(trace.posterior, n_models=len(view.models), n_classes=view.n_classes)
    kept = sampler.n_chains * sampler.draws_of_chain
    values = np.empty((len(questions) * len(view.models), kept))
    measure(drawn, questions, values)
    refuse_undefined(values, questions)
    lost = chains.count_divergences(trace)
    return [
        _answer(one, str(sampler), sampler.n_chains, lost)
        for one in np.split(values, len(questions))
    ]


def _answer(values: FloatArray, sampler: str, n_chains: int, divergences: int) -> Answer:
    """Return the answer from draws ``(n_models, n_draws)``, chains one after the other."""

    def said(draws: FloatArray) -> Chain:
        by_chain = draws.reshape(n_chains, -1)
        return chains.diagnose(by_chain, sampler=sampler, divergences=divergences)

    found = [said(one) for one in values]
    if len(values) == 2:
        found.append(said(values[0] - values[1]))
    return Answer(
        values=values,
        of_models=(None,) * len(values),
        of_difference=None,
        chains=tuple(found),
    )
