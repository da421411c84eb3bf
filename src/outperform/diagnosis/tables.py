"""What can be asked of a table, or of several joined on an id."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from outperform.diagnosis.calls import Call
from outperform.diagnosis.result import ClassCount, ColumnFacts, Diagnosis, Suggestion
from outperform.diagnosis.roles import Belief, Roles, n_missing, roles_of
from outperform.diagnosis.samples import Column, Sample
from outperform.errors import UsageError
from outperform.io.count_tables import FOLD_COLUMNS
from outperform.io.join import GOLD
from outperform.io.logs.samples import LONG
from outperform.io.paths import stem
from outperform.io.request import LongLayout, probable_roles

_MOST_CLASSES = 20
ROPE = 0.01
_LEAST_GROUPS = 10
_NAMES = {"csv": "CSV", "tsv": "TSV", "jsonl": "JSON Lines", "parquet": "Parquet", "arrow": "Arrow"}
ROPE_TEXT = (
    "The ROPE, ±{rope:g}, is the smallest difference that matters to you: set it before you see "
    "the result."
)
_METRICS = {"labels": "f1_macro", "label sets": "f1_macro", "correct": "accuracy", "grades": "mean"}
_WHAT = {
    "labels": "a table of labels: true labels and predictions of {models}",
    "label sets": "a table of label sets: several labels per item, predicted by {models}",
    "correct": "a table of right and wrong answers of {models}",
    "probabilities": "a table of true labels and scores of {models}",
    "targets": "a table of numeric targets and predictions of {models}",
    "grades": "a table of grades of {models}",
    "nothing": "a table",
}


def suggestion(question: str, call: Call, why: str = "") -> Suggestion:
    """Return a question with its call in every spelling."""
    arguments = call.arguments
    return Suggestion(
        question=question,
        command=call.command,
        python=call.python,
        why=why,
        tool=None if arguments is None else call.verb,
        arguments=arguments,
    )


def counted_models(models: Sequence[str]) -> str:
    """Return the number of models in words."""
    return "one model" if len(models) == 1 else f"{len(models)} models"


def questions(
    call: dict[str, Any], models: Sequence[str], question: dict[str, Any], why: str
) -> list[Suggestion]:
    """Return the usual questions about models: compare two, rank several, estimate one.

    Parameters
    ----------
    call
        Arguments of every :class:`Call`, other than verb, models and question.
    models
        Names of the models.
    question
        Metric and ROPE.
    why
        Assumptions of all calls.
    """
    names = tuple(models)
    if len(names) == 1:
        metric = {name: value for name, value in question.items() if name != "rope"}
        single = Call(verb="estimate", models=names, question=metric, **call)
        return [suggestion(f"How good is {names[0]}?", single, why)]
    pair = names[:2]
    compare = suggestion(
        f"Is {pair[0]} better than {pair[1]}, or worse, or practically equivalent?",
        Call(verb="compare", models=pair, question=question, **call),
        why if len(names) == 2 else "",
    )
    new, old = names[-1], names[0]
    gate = suggestion(
        f"Can {new} replace {old}?",
        Call(verb="gate", models=(new, old), question=question, **call),
        f"{old!r} is believed to be in use, because it comes first.",
    )
    if len(names) == 2:
        return [compare, gate]
    rank = suggestion(
        "Which model is the best, and which are practically tied with it?",
        Call(verb="rank", models=names, question=question, **call),
        why,
    )
    return [rank, compare, gate]


# One table


def diagnose_table(sample: Sample) -> Diagnosis:
    """Return the diagnosis of one table."""
    for find in (_fold_counts, _confusion, _long):
        diagnosis = find(sample)
        if diagnosis is not None:
            return diagnosis
    return _wide(sample)


def facts_of(sample: Sample, beliefs: dict[str, Belief]) -> dict[str, Any]:
    """Return the facts of a table as arguments of a diagnosis."""
    rows = zip(*(map(_hashable, column.values) for column in sample.columns.values()), strict=True)
    columns = tuple(
        ColumnFacts(
            name=name,
            type=column.kind,
            role=beliefs[name].role if name in beliefs else "unused",
            why=beliefs[name].why if name in beliefs else "no question needs it",
            n_missing=column.n_missing,
            n_distinct=None if column.kind in ("lists", "other") else len(column.counts),
        )
        for name, column in sample.columns.items()
    )
    return {
        "sources": (sample.source,),
        "format": _format_of(sample),
        "n_rows": sample.n_rows,
        "n_seen": sample.n_seen,
        "columns": columns,
        "n_repeated_rows": sample.n_seen - len(set(rows)),
    }


def _hashable(value: object) -> object:
    return str(value) if isinstance(value, (list, dict)) else value


def _format_of(sample: Sample) -> str:
    parts = [_NAMES[sample.format]]
    parts += [] if sample.encoding is None else [f"in {sample.encoding}"]
    parts += [] if sample.n_files == 1 else [f"{sample.n_files} files, the first of which was read"]
    return ", ".join(parts)


def _wide(sample: Sample) -> Diagnosis:
    roles = roles_of(sample)
    notes: list[str] = []
    call, why = _reading(sample, roles, notes)
    question, reason = _question_of(sample, roles, notes)
    call["scores"] = roles.content in ("probabilities", "targets", "grades")
    call["are_columns"] = roles.content != "correct"
    made: list[Suggestion] = []
    usable = roles.models if question is not None else []
    if usable and question is not None:
        reasons = " ".join(filter(None, [*why, reason]))
        made = questions(call, usable, question, reasons)
        made += _sliced(call, roles, question) + _by_score(sample, call, roles)
    if roles.others:
        made += _other_truths(call, roles, question or {})
    if not made:
        notes.insert(0, _lacking(sample, roles))
    facts = facts_of(sample, roles.beliefs)
    truth = None if roles.truth is None else sample.columns[roles.truth]
    if truth is not None and roles.content in ("labels", "probabilities"):
        top = truth.counts.most_common(_MOST_CLASSES)
        facts["n_classes"] = len(truth.counts)
        facts["classes"] = tuple(ClassCount(label=label, n=n) for label, n in top)
    if roles.id is not None:
        facts["n_repeated_ids"] = 0
    named = probable_roles(list(sample.columns)).get("id")
    if named is not None and named in roles.beliefs and named != roles.id:
        column = sample.columns[named]
        facts["n_repeated_ids"] = len(column.known) - len(column.counts)
        notes.append(
            f"Values of {named!r} repeat, so it cannot be the id. Rows with the same value belong "
            f"together (--groups {named}), unless they are copies, which must be removed."
        )
    content = roles.content if roles.models else "nothing"
    what = _WHAT[content].format(models=counted_models(roles.models))
    return Diagnosis(
        **facts, what=what, models=tuple(roles.models), suggestions=tuple(made), notes=tuple(notes)
    )


def _reading(sample: Sample, roles: Roles, notes: list[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments of calls that read the table, with their reasons."""
    reading: dict[str, Any] = {}
    why: list[str] = []
    if roles.truth is not None:
        reading["truth"] = roles.truth
        why.append(f"{roles.truth!r} is the truth: {roles.beliefs[roles.truth].why}.")
    if roles.content == "correct":
        reading["correct"] = tuple(roles.models)
    if roles.id is not None:
        reading["id"] = roles.id
    if roles.count is not None and roles.content in ("labels", "label sets"):
        reading["count"] = roles.count
        why.append(f"{roles.count!r} is the number of items per row.")
    elif roles.groups:
        group = min(roles.groups, key=lambda name: len(sample.columns[name].counts))
        if len(sample.columns[group].counts) >= _LEAST_GROUPS:
            reading["groups"] = group
            why.append(
                f"Rows with the same {group!r} count as one unit; if they are independent, remove "
                f"--groups."
            )
    if roles.weight is not None:
        notes.append(f"If {roles.weight!r} is how much an item matters, add --weight.")
    if roles.separator is not None:
        reading["label_separator"] = roles.separator
        why.append(f"Several labels in one cell are separated by {roles.separator!r}.")
    used = [roles.truth, *roles.models, reading.get("groups"), reading.get("count")]
    n_null = n_missing(sample, used)
    if n_null:
        reading["on_null"] = "drop"
        why.append(f"{n_null} rows have a missing value and are dropped.")
    if sample.encoding is not None:
        reading["encoding"] = sample.encoding
        why.append(f"The file is not UTF-8, so it is read as {sample.encoding}.")
    for name in filter(None, [roles.truth, *roles.models]):
        texts = sample.columns[name].look_missing
        if texts and roles.content in ("labels", "label sets"):
            notes.append(
                f"{texts[0]!r} in {name!r} is read as a class. If it means a missing value, add "
                f"--na {texts[0]} --on-null drop."
            )
    if not sample.is_whole and sample.n_files == 1:
        notes.append(
            f"Only the first {sample.n_seen:,} rows were read; later rows can contain missing "
            "values or other classes."
        )
    if roles.id is None and not roles.groups:
        notes.append("No column is an id, so items cannot be listed by name.")
    return {"sources": (sample.source,), "reading": reading}, why


def _question_of(
    sample: Sample, roles: Roles, notes: list[str]
) -> tuple[dict[str, Any] | None, str]:
    """Return metric and ROPE, with the reason; None if there is no metric for these columns."""
    if roles.content in ("labels", "label sets", "correct"):
        question = {"metric": _METRICS[roles.content], "rope": ROPE}
        return question, ROPE_TEXT.format(rope=ROPE)
    columns = [sample.columns[name] for name in roles.models]
    if roles.content == "probabilities" and roles.truth is not None:
        return _of_probabilities(sample.columns[roles.truth], columns, notes)
    values = [value for column in columns for value in column.known]
    if roles.content == "nothing" or not values:
        return None, ""
    if roles.content == "targets" and roles.truth is not None:
        values = sample.columns[roles.truth].known
    rope = _one_digit((max(values) - min(values)) / 100)
    metric = "rmse" if roles.content == "targets" else "mean"
    why = f"It is 1% of the range of the numbers. {ROPE_TEXT.format(rope=rope)}"
    if roles.content == "grades":
        notes.append(
            "Higher grades are taken to be better; if these are labels, or columns are not grades "
            "of models, name the right ones with --truth or --model."
        )
    return {"metric": metric, "rope": rope}, why


def _one_digit(value: float) -> float:
    """Return a positive number with one significant digit.

    Examples
    --------
    >>> _one_digit(0.0873), _one_digit(0.0)
    (0.09, 0.01)
    """
    if not value > 0 or not math.isfinite(value):
        return ROPE
    return float(f"{value:.0e}")


def _of_probabilities(
    truth: Column, columns: Sequence[Column], notes: list[str]
) -> tuple[dict[str, Any] | None, str]:
    """Return ROC AUC for two classes; scores of more classes need several columns per model."""
    if len(truth.counts) != 2:
        notes.append(
            f"Scores of {len(truth.counts)} classes need one column per model and class; compare "
            "them in Python with op.Scores.from_arrays(y, {'bert': probabilities}) and roc_auc_ovr."
        )
        return None, ""
    question: dict[str, Any] = {"metric": "roc_auc", "rope": ROPE}
    if set(truth.counts) <= {0, 1}:
        return question, ROPE_TEXT.format(rope=ROPE)
    means = {label: _mean_score(truth, columns, label) for label in truth.counts}
    positive = max(means, key=lambda label: means[label])
    question["pos_label"] = str(positive)
    return question, (
        f"{str(positive)!r} is the positive class, because its items have higher scores. "
        f"{ROPE_TEXT.format(rope=ROPE)}"
    )


def _mean_score(truth: Column, columns: Sequence[Column], label: object) -> float:
    scores = [
        score
        for column in columns
        for score, true in zip(column.values, truth.values, strict=True)
        if true == label and score is not None
    ]
    return math.fsum(scores) / max(len(scores), 1)


def _sliced(call: dict[str, Any], roles: Roles, question: dict[str, Any]) -> list[Suggestion]:
    """Return the question of slices, if two models and a column of categories are there."""
    if not roles.slices or len(roles.models) < 2 or roles.content not in ("labels", "correct"):
        return []
    by = roles.slices[0]
    reading = {**call["reading"], "by": by}
    models = tuple(roles.models[:2])
    made = Call(verb="slices", models=models, question=question, **{**call, "reading": reading})
    others = ", ".join(map(repr, roles.slices[1:]))
    why = f"Other columns with categories: {others}." if others else ""
    return [suggestion(f"In which {by} does one model do better?", made, why)]


def _by_score(sample: Sample, call: dict[str, Any], roles: Roles) -> list[Suggestion]:
    """Return the question about scores next to labels."""
    if roles.truth is None or not roles.scored or roles.content != "labels":
        return []
    columns = [sample.columns[name] for name in roles.scored]
    question, why = _of_probabilities(sample.columns[roles.truth], columns, [])
    if question is None:
        return []
    reading = {k: v for k, v in call["reading"].items() if k in ("truth", "id", "groups")}
    suggestions = questions(
        {**call, "reading": reading, "scores": True}, roles.scored, question, why
    )
    return suggestions[:1]


def _other_truths(call: dict[str, Any], roles: Roles, question: dict[str, Any]) -> list[Suggestion]:
    """Return the first call with each other column as the truth."""
    made = []
    for truth in roles.others[:3]:
        models = [name for name in (roles.truth, *roles.others) if name not in (None, truth)]
        reading = {**call["reading"], "truth": truth}
        names = [name for name in models if name is not None]
        suggestions = questions({**call, "reading": reading}, names, question, "")
        made.append(
            suggestion_with(suggestions[0], f"If {truth!r} is the truth: {suggestions[0].question}")
        )
    return made


def suggestion_with(made: Suggestion, question: str) -> Suggestion:
    """Return a suggestion with another question."""
    return Suggestion(
        question=question, command=made.command, python=made.python, why=made.why,
        tool=made.tool, arguments=made.arguments,
    )  # fmt: skip


def _lacking(sample: Sample, roles: Roles) -> str:
    """Return what is missing before something can be asked."""
    known = probable_roles(list(sample.columns))
    if roles.truth is not None and not roles.models:
        return (
            f"Only {roles.truth!r} has labels. Pass the files of the models too, e.g. outperform "
            "doctor gold.csv bert.csv gpt.csv."
        )
    if "id" in known and "label" in known:
        return (
            "These are labels of one model or the true labels. Pass the gold file and the files of "
            "the models together, e.g. outperform doctor gold.csv bert.csv gpt.csv."
        )
    return (
        "No columns of labels, scores, or right and wrong were found. Pass their names to compare, "
        "e.g. --truth label --a bert --b gpt."
    )


# Tables of other shapes


def _fold_counts(sample: Sample) -> Diagnosis | None:
    """Return the diagnosis of counts of cross-validation folds."""
    names = {name.strip() for name in sample.columns}
    kind = next((kind for kind, known in FOLD_COLUMNS.items() if names >= {"model", *known}), None)
    if kind is None:
        return None
    known = FOLD_COLUMNS[kind]
    beliefs = {
        name: Belief("count", f"the columns model, {', '.join(known)} are counts of folds")
        for name in sample.columns
        if name.strip() in known
    }
    column = next(column for name, column in sample.columns.items() if name.strip() == "model")
    beliefs[column.name] = Belief("model names", "it names the model of each row")
    models = [str(name) for name in column.counts]
    question: dict[str, Any] = {"metric": "f1", "rope": ROPE}
    reading = {} if len(models) < 3 else {"a": models[0], "b": models[1]}
    call = Call(verb="cv-counts", sources=(sample.source,), reading=reading, question=question)
    made = Suggestion(
        question="Is one model better over the folds?" if len(models) > 1 else "How good is it?",
        command=call.command,
        python=(
            f"op.compare_cv_counts(counts_a, counts_b, metric='f1', counts={kind!r}, rope={ROPE})"
        ),
        why=f"Two rows per model and repetition, in fold order. {ROPE_TEXT.format(rope=ROPE)}",
    )
    return Diagnosis(
        **facts_of(sample, beliefs),
        what=f"a table of fold counts of {counted_models(models)}",
        models=tuple(models),
        suggestions=(made,),
    )


def is_confusion(sample: Sample) -> bool:
    """Return whether a table is a confusion matrix: classes in the first row and column."""
    first, *others = sample.columns.values()
    if sample.format not in ("csv", "tsv") or not sample.is_whole or not others:
        return False
    square = {str(value) for value in first.values} == {column.name for column in others}
    return square and all(
        column.kind == "whole numbers" and not column.n_missing for column in others
    )


def _confusion(sample: Sample) -> Diagnosis | None:
    """Return the diagnosis of one confusion matrix."""
    return diagnose_confusions([sample]) if is_confusion(sample) else None


def diagnose_confusions(samples: Sequence[Sample]) -> Diagnosis:
    """Return the diagnosis of confusion matrices, one per model."""
    first, *others = samples[0].columns.values()
    beliefs = {column.name: Belief("predicted class", "it names a class") for column in others}
    beliefs[first.name] = Belief("true class", "it lists the classes of the first row")
    sources = tuple(sample.source for sample in samples)
    models = [stem(source) for source in sources]
    call = {"sources": sources, "reading": {"confusion": True}}
    why = f"Rows are taken to be true classes. {ROPE_TEXT.format(rope=ROPE)}"
    question = {"metric": "f1_macro", "rope": ROPE}
    made = [
        _in_words(
            suggested, "op.Outcomes.from_confusion({'bert': matrix, 'gpt': matrix_2}, labels=…)"
        )
        for suggested in questions(call, models, question, why)
    ]
    counts = [int(sum(column.values[row] for column in others)) for row in range(len(others))]
    classes = zip(first.values, counts, strict=True)
    facts = facts_of(samples[0], beliefs)
    n_items = sum(counts)
    return Diagnosis(
        **{**facts, "sources": sources},
        what="a confusion matrix" if len(samples) == 1 else f"{len(samples)} confusion matrices",
        models=tuple(models),
        n_classes=len(others),
        classes=tuple(ClassCount(label=str(name), n=n) for name, n in classes)[:_MOST_CLASSES],
        suggestions=tuple(made),
        notes=(f"The matrix of {models[0]!r} contains {n_items:,} items.",),
    )


def _in_words(made: Suggestion, python: str) -> Suggestion:
    """Return a suggestion with another call of Python, and without a tool."""
    return Suggestion(question=made.question, command=made.command, python=python, why=made.why)


def _long(sample: Sample) -> Diagnosis | None:
    """Return the diagnosis of a table with one row per item and model."""
    layout = LongLayout.of(list(sample.columns))
    if layout is None or layout.id not in sample.columns:
        return None
    ids, models, scores = (sample.columns[name] for name in layout)
    names = [str(name) for name in models.counts]
    rated = scores.is_right_or_wrong
    if not names or models.is_unique or not (rated or scores.is_number):
        return None
    beliefs = {
        layout.model: Belief("model names", "its name is usual for models, and values repeat"),
        layout.id: Belief("id", "its name is usual for items"),
        layout.score: Belief("right or wrong" if rated else "grade", "its name is usual"),
    }
    reading: dict[str, Any] = {"format": LONG, **layout._asdict()}
    why = [f"Each row is the answer of a {layout.model!r} to a {layout.id!r}."]
    notes = []
    answered = {name: set[Any]() for name in names}
    for model, item in zip(models.values, ids.values, strict=True):
        if model is not None:
            answered[str(model)].add(item)
    if len({frozenset(items) for items in answered.values()}) > 1 and sample.is_whole:
        reading["on_missing"] = "drop"
        why.append("Some models did not answer all items; these items are dropped.")
    if scores.n_missing:
        reading["on_null"] = "drop"
        why.append(f"{scores.n_missing} answers have no score; their items are dropped.")
    if sample.encoding is not None:
        reading["encoding"] = sample.encoding
    if not sample.is_whole:
        notes.append(
            f"Only the first {sample.n_seen:,} rows were read; there may be more models, and items "
            "that some did not answer (--on-missing drop)."
        )
    owners = [
        name for name, column in sample.columns.items() if name not in beliefs and column.repeats
    ]
    for name in owners:
        beliefs[name] = Belief("group", "it is named like an id, and its values repeat")
        notes.append(f"If items with the same {name!r} belong together, add --groups {name}.")
    values = [value for value in scores.known if isinstance(value, (int, float))]
    rope = ROPE if rated else _one_digit((max(values) - min(values)) / 100)
    question = {"metric": "accuracy" if rated else "mean", "rope": rope}
    why.append(ROPE_TEXT.format(rope=rope))
    call: dict[str, Any] = {
        "sources": (sample.source,), "reading": reading, "scores": not rated
    }  # fmt: skip
    made = questions(call, names, question, " ".join(why))
    if "task" in sample.columns and len(sample.columns["task"].counts) > 1:
        beliefs["task"] = Belief("task", "its name is usual for tasks")
        verb = "rank" if len(names) > 2 else "compare"
        if len(names) > 1:
            tasks = Call(
                verb=verb, models=tuple(names), question={**question, "by": "task"}, **call
            )
            made.append(
                Suggestion(
                    question="What is the result per task, and on average over tasks?",
                    command=tasks.command,
                    python=f"op.{verb}(op.Suite({{'task 1': …, 'task 2': …}}, ropes={rope}))",
                )
            )
    kind = "right or wrong" if rated else "grades"
    return Diagnosis(
        **facts_of(sample, beliefs),
        what=f"a long table, one row per item and model: {kind} of {counted_models(names)}",
        models=tuple(names),
        suggestions=tuple(made),
        notes=tuple(notes),
    )


# Several tables, joined on an id


def diagnose_join(samples: Sequence[Sample]) -> Diagnosis:
    """Return the diagnosis of a gold file and one file per model, or of files of right or wrong."""
    if all(is_confusion(sample) for sample in samples):
        return diagnose_confusions(samples)
    sources = tuple(sample.source for sample in samples)
    stems = [stem(source) for source in sources]
    shared = [
        name for name in samples[0].columns if all(name in sample.columns for sample in samples)
    ]
    known = probable_roles(shared)
    ids = [name for name in shared if all(sample.columns[name].is_unique for sample in samples)]
    id = known.get("id") if known.get("id") in ids else next(iter(ids), None)
    if id is None:
        raise UsageError(
            f"{', '.join(sources)} have no id in common, a column with different values in every "
            "row; run outperform doctor on one file at a time"
        )
    golds = [k for k, name in enumerate(stems) if name.lower() in GOLD]
    gold = golds[0] if len(golds) == 1 else None
    models = [name for k, name in enumerate(stems) if k != gold]
    reading: dict[str, Any] = {"id": id}
    why = [f"Files are joined on {id!r}: it is in all of them, and its values differ."]
    notes: list[str] = []
    of_models = [sample for k, sample in enumerate(samples) if k != gold]
    common = [name for name in of_models[0].columns
              if name != id and all(name in sample.columns for sample in of_models)]  # fmt: skip
    label, truth, correct = _join_columns(samples, gold, common)
    if correct is not None:
        reading["correct"] = correct
        why.append(f"{correct!r} shows in each file whether the model was right.")
    elif label is not None and (gold is not None or truth is not None):
        reading["label"] = label
        why.append(f"{label!r} has the predictions in each file.")
        if gold is not None:
            why.append(f"{sources[gold]!r} has the true labels, because of its name.")
        if truth is not None:
            reading["truth"] = truth
            why.append(f"{truth!r} is the column of the true labels.")
    else:
        raise UsageError(
            f"{', '.join(sources)} share {id!r}, but it is unclear which has the true labels; name "
            "that file gold.csv, or pass --truth, --id and --label to compare"
        )
    different = {frozenset(sample.columns[id].values) for sample in samples}
    if len(different) > 1:
        if all(sample.is_whole for sample in samples):
            reading["on_missing"] = "drop"
            why.append("Some items are not in all files; they are dropped.")
        else:
            notes.append("If items are not in all files, add --on-missing drop.")
    used = (label, truth, correct)
    n_null = sum(
        n_missing(sample, [name for name in used if name in sample.columns]) for sample in samples
    )
    if n_null:
        reading["on_null"] = "drop"
        why.append(f"{n_null} rows have a missing value and are dropped.")
    question = {"metric": "f1_macro" if correct is None else "accuracy", "rope": ROPE}
    why.append(ROPE_TEXT.format(rope=ROPE))
    call = {
        "sources": sources,
        "reading": reading,
        "named": dict(zip(stems, sources, strict=True)),
    }
    first = samples[0 if gold is None else gold]
    beliefs = {id: Belief("id", "it is in all files, and its values differ")}
    for name, role in ((truth, "truth"), (label, "prediction"), (correct, "right or wrong")):
        if name is not None and name in first.columns:
            is_gold = gold is not None and role == "prediction" and truth is None
            beliefs.setdefault(name, Belief("truth" if is_gold else role, "of its name"))
    facts = facts_of(first, beliefs)
    return Diagnosis(
        **{**facts, "sources": sources},
        what=f"predictions of {counted_models(models)}, to be joined on {id!r}",
        models=tuple(models),
        suggestions=tuple(questions(call, models, question, " ".join(why))),
        notes=(*notes, f"The columns are those of {first.source!r}."),
    )


def _join_columns(
    samples: Sequence[Sample], gold: int | None, common: Sequence[str]
) -> tuple[str | None, str | None, str | None]:
    """Return the columns of predictions, of true labels, and of right or wrong."""
    from outperform.io.request import true_column

    usable = [name for name in common if all(
        sample.columns[name].known for sample in samples if name in sample.columns)]  # fmt: skip
    known = probable_roles(usable)
    of_gold = (
        [] if gold is None else [n for n in samples[gold].columns if n in samples[gold].columns]
    )
    truth = true_column(of_gold if gold is not None else usable)
    rated = [
        name
        for name in usable
        if all(s.columns[name].is_right_or_wrong for s in samples if name in s.columns)
    ]
    if gold is None and known.get("correct") in rated:
        return None, None, known["correct"]
    label = known.get("label")
    if label is None or (label == truth and gold is None):
        label = next((name for name in usable if name != truth), truth)
    if gold is None:
        return label, truth if truth != label else None, None
    if label in samples[gold].columns:
        return label, None, None
    return label, truth, None
