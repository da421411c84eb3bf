"""Findings: what may be wrong with a number. The table at the end holds all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from string import Formatter
from typing import Literal, cast

from outperform.errors import unknown_name

Level = Literal["note", "warning", "serious"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding about a result.

    Parameters
    ----------
    name
        A stable identifier such as ``"default_rope"``.
    level
        ``"note"``, ``"warning"`` if it may change the conclusion, ``"serious"`` if it withholds it.
    message
        A sentence or two for people.
    mends
        The parameter that mends it, such as ``"rope"``; None if none does.

    Examples
    --------
    >>> print(Finding("default_rope", "note", "The ROPE of ±0.01 is the default."))
    note: The ROPE of ±0.01 is the default. [default_rope]
    """

    name: str
    level: Level
    message: str
    mends: str | None = None

    def __str__(self) -> str:
        return f"{self.level}: {self.message} [{self.name}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The words of a finding, its levels, the usual one first, and the parameter that mends it."""

    name: str
    levels: tuple[Level, ...]
    mends: str | None
    text: str

    @property
    def fields(self) -> frozenset[str]:
        """The names of what is filled in."""
        return frozenset(name for _, name, _, _ in Formatter().parse(self.text) if name)


def finding(key: str, /, *, level: Level | None = None, **fields: object) -> Finding:
    """Return a finding of the table, its template filled in.

    Parameters
    ----------
    key
        Its name, and after a slash the variant, if it has several.
    level
        Which of the template's levels; the first of them if None.
    **fields
        What the template asks for, no more and no less.

    Examples
    --------
    >>> finding("few_groups/size", n=12.0, least=30).message
    'Effective number of groups: 12 (below 30); the interval may be too narrow.'
    """
    if (template := TEMPLATES.get(key)) is None:
        raise KeyError(unknown_name("finding", key, TEMPLATES))
    if odd := fields.keys() ^ template.fields:
        raise TypeError(f"finding {key!r} must get its template's fields; see {sorted(odd)}")
    if level is not None and level not in template.levels:
        raise ValueError(f"finding {key!r} must be a {' or '.join(template.levels)}; got {level!r}")
    text = template.text.format(**fields)
    return Finding(template.name, level or template.levels[0], text, template.mends)


def restored(name: str, level: Level, message: str) -> Finding:
    """Return a finding that was stored, perhaps by a version that knows other names.

    Examples
    --------
    >>> restored("default_rope", "note", "The ROPE of ±0.01 is the default.").mends
    'rope'
    """
    mends = {one.name: one.mends for one in TEMPLATES.values()}
    return Finding(name, level, message, mends.get(name))


def counted(n: float, nouns: str, *, one: str | None = None) -> str:
    """Return a number and what it counts, in the singular if it is one.

    Examples
    --------
    >>> counted(1, "items"), counted(2000, "items"), counted(1, "batches", one="batch")
    ('1 item', '2,000 items', '1 batch')
    """
    if n == 1:
        nouns = one or " or ".join(noun.removesuffix("s") for noun in nouns.split(" or "))
    return f"{n:,.{0 if n == int(n) else 1}f} {nouns}"  # a sum of weights keeps one decimal


def listed(words: Iterable[str], *, most: int | None = None) -> str:
    """Return words with commas and an "and"; of many the first, and how many more.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], most=2)
    ('a, b and c', 'a, b and 2 more')
    """
    *before, last = _with_rest(words, most) or [""]
    return f"{', '.join(before)} and {last}" if before else last


def clauses(words: Iterable[str], *, most: int | None = None) -> str:
    """Return parts of a sentence with semicolons; of many the first, and how many more.

    Examples
    --------
    >>> clauses(["a has 1", "b has 2"]), clauses(["a has 1", "b has 2", "c has 3"], most=1)
    ('a has 1; b has 2', 'a has 1; and 2 more')
    """
    *before, last = _with_rest(words, most) or [""]
    return "; ".join([*before, f"and {last}" if len(before) == most else last])


def quoted(labels: Iterable[object], *, most: int | None = 5, escaped: bool = False) -> str:
    """Return labels as Python writes them; escaped, those that look alike can be told apart.

    Examples
    --------
    >>> quoted(["spam", 1]), quoted("abc", most=2)
    ("'spam' and 1", "'a', 'b' and 1 more")
    """
    return listed([ascii(one) if escaped else repr(one) for one in labels], most=most)


def _with_rest(words: Iterable[str], most: int | None) -> list[str]:
    shown = list(words)
    rest = 0 if most is None else len(shown) - most
    return [*shown[:most], f"{rest:,} more"] if rest > 0 else shown


# Each row: the name, a variant if there are several, the levels, the usual one first, and after a
# semicolon the parameter that mends it. Below it stand the words.
_TABLE = """\
# The labels
labels_converted: warning
    Labels of {columns} were read as whole numbers, so that 1, 1.0 and '1' are one class.
aligned_by_index: warning
    The rows of {moved} were in another order than those of {first} and were aligned by index; pass
    .to_numpy() to compare by position.
near_duplicate_labels: warning
    Labels that look alike are kept apart: {pairs}. Clean them if they are one class.
predictions_never_match: serious; labels
    {model} never predicts a {noun} that is true: it predicts {predicted}, and the truth holds
    {true}. Spell the labels alike, or name the right column; until then no decision is given.
empty_label: warning
    One class has an empty label, shown as (empty); check for missing values.
tables_disagree_on_truth/transposed: warning; labels
    The matrices disagree on the truth: the columns of {other!r} sum to the rows of {one!r}. Is one
    of them transposed?
tables_disagree_on_truth/order: warning; labels
    The matrices disagree on the truth: the classes of {one!r} and {other!r} seem to be in different
    orders.
malformed_tags/strict: warning; scheme
    {name}: {tags} out of place in {scheme} (the first: {first}); spans with such tags are left out,
    as in strict reading.
malformed_tags/lenient: warning; scheme
    {name}: {tags} out of place in {scheme} (the first: {first}); a tag that cannot continue a span
    opens one, as in conlleval; strict=True leaves such spans out.
# The files
separator_detected: note; dialect
    The columns of {file} are separated by {separator} and were read so.
null_rows_dropped/rows: warning; on_null
    {n:,} of {total:,} rows of {table} have no value in {columns} and are left out.
null_rows_dropped/files: warning; on_null
    Left out for want of a value in {columns}: {rows} of {table}.
null_rows_dropped/logs: warning; on_null
    Left out for all models: {items}, because {faults}.
unmatched_ids_dropped/files: warning; on_missing
    {common:,} of {n:,} ids of {first} are in all files; the others are left out, and so are
    {surplus} that it lacks.
unmatched_ids_dropped/logs: warning; on_missing
    {common:,} {nouns} are counted; {faults}. What not all models answered is left out.
logs_recognized: note; format
    By their names or first bytes, these are logs of {format}, and were read as such.
failed_logs_skipped: warning; skip_failed
    {failed:,} of {n:,} logs are left out: {reasons}.
older_logs_skipped: note; latest
    {n:,} older logs of the same model and task are left out: {names}.
right_or_wrong_as_gold: note or warning; correct
    The true labels in {column!r} of {table} are {labels}. If they say whether a model was right,
    this file is no gold: name {column!r} as the column that says right or wrong.
repeated_sources: warning or serious
    {copies}. If one is a copy, its items count twice: leave it out.
repeated_rows: warning or serious; count
    Every {what} occurs a multiple of {times:,} times; were rows repeated? Count each item once. If
    a row stands for several items, give a weight or counts.
confusion_reordered: warning
    Rows and columns of {file} name the classes in different orders; names were used.
# The weights
importance_weights: note; count
    The metric is that of the weighted population; the effective sample size is {n_effective:,.1f}
    of {n:,} {units}, which widens the interval. If a row stands for several items, it has
    a count and no weight.
few_effective_items: warning; sample_weight
    Effective number of items: {n:.1f} (below {least}); the interval may be too narrow.
# The question
default_rope: note; rope
    The ROPE of {rope} is the default; choose your own.
higher_is_better/name: note; metric
    Metric 'mean' takes a higher score as better, and {name!r} sounds like a cost. If lower is
    better, ask for 'mean_cost', or for its negative, 'neg_mean'.
higher_is_better/range: note; metric
    Metric 'mean' takes a higher score as better, and not all scores are from 0 to 1. If lower is
    better, ask for 'mean_cost', or for its negative, 'neg_mean'.
zero_width_rope: warning; rope
    The ROPE has no width, so the models can never be called equivalent.
unpaired_outcomes/items: warning
    Which items both models got right is unknown, so the comparison is unpaired; label arrays of the
    same items would narrow the interval.
unpaired_outcomes/spans: warning
    Which spans both models found is unknown, so the comparison is unpaired; tags or spans of the
    same sentences would narrow the interval.
independent_spans: warning; prior
    Every span counts by itself. Spans of one sentence go wrong together and a boundary error counts
    twice, so the interval is probably too narrow; counted by Outcomes.from_tags or from_spans,
    every sentence gets one weight.
other_prevalence: note; prevalence
    The class proportions are those given ({prevalence}), not the test set's; this assumes that
    P(prediction | class) is the same there. At the test set's own proportions {metric} is {values}.
chosen_by_predictions: note
    Labelled of a pool of {n:,} items: {apart:,.0f} of the {n_apart:,.0f} on which the models
    disagree and {others:,.0f} of the others. Each stands for those with the same predictions, which
    assumes that nothing else decided what was labelled.
groups_ignored: warning; prior
    Prior {prior!r} weighs every item by itself, though they come from {groups}. Items of one group
    go wrong together, so the interval is probably too narrow; leave prior out, or call ungroup() if
    that is meant.
independent_labels: warning; prior
    Prior {prior!r} takes the labels of an item as independent. Where they go wrong together, the
    interval is too narrow; leave prior out, and every item gets one weight.
# The data
few_slices: warning; by
    How much slices differ is learned from only {slices}, so the prior decides how far each is
    pulled toward the others.
small_slices: note; by
    {small:,} of {n:,} slices have fewer than {least} items; what is said of them is mostly what the
    whole says.
own_data_disagree: warning
    In {found:,} of {n:,} slices the own items alone would be called better or worse, which the
    other slices speak against: {slices}. Some are so by chance; compare the own interval, and get
    more items where it matters.
few_items/prior: warning
    The data hold only {items}; the prior outweighs them.
few_items/bootstrap: warning
    The data hold only {items}; get more.
class_without_truth/prior: warning; labels
    {never_true}; what is said of {it} rests on the prior only.
class_without_truth/unknown: warning; labels
    {never_true}; nothing is known of {it}.
class_without_truth/left_out: note; labels
    {never_true}, so the average leaves {it} out.
predicted_never_true: warning; labels
    {never_true}, so the average leaves {it} out, and predicting {it} is an error like any other.
    {other} would average over {it} too, as 0, and say {values}; name the classes that the
    average should run over.
undefined_in_data/nan: warning; metric
    The observed {metric} of {models} is 0/0 (NaN), because {why}; it {known}.
undefined_in_data/zero: warning; metric
    The observed {metric} of {model} is 0/0, because {why} one class throughout; it counts as 0, as
    in scikit-learn.
class_never_predicted/prior: warning
    {model} never predicts {classes}; its precision there is undefined in the data (0 by convention)
    and rests on the prior.
class_never_predicted/unknown: warning
    {model} never predicts {classes}; its precision there is undefined in the data (0 by convention)
    and nothing is known of it.
sparse_classes/prior: warning; metric
    {few} of {n} {classes} have fewer than {least} {items}; averages over {classes} lean on the
    prior.
sparse_classes/bootstrap: warning; metric
    {few} of {n} {classes} have fewer than {least} {items}; averages over {classes} rest on few
    {items}.
sparse_cells: warning
    Sparse cells: {cells}. The interval may be too narrow.
few_disagreements/few: warning; prior
    The models disagree on only {items}; the difference rests on these few.
few_disagreements/never: warning; prior
    The models never disagree; the difference rests on the prior alone.
few_disagreements/unlabelled: warning; prior
    No labelled item tells the models apart; the difference rests on the prior.
few_disagreements/same: warning; prior
    {one} and {two} are identical on every item; did you pass the same column twice? The difference
    rests on the prior alone.
few_disagreements/same_withheld: serious; prior
    {one} and {two} are identical on every item; did you pass the same column twice? The decision
    {symbol} is withheld.
few_disagreements/prior: serious; prior
    The models disagree on only {items} and the prior hardly expects more, so the interval is too
    narrow to be believed; the decision {symbol} is withheld.
few_disagreements/bootstrap: serious; prior
    The models disagree on only {items} and there is no prior to expect more, so the interval is too
    narrow to be believed; the decision {symbol} is withheld.
few_disagreements/influence: serious; prior
    The difference rests on {n:.3g} {units} in effect, so one of them may decide it; the decision
    {symbol} is withheld.
few_disagreements/no_width: serious; prior
    The interval has no width, because no weights of the data move the difference; the decision
    {symbol} is withheld.
few_disagreements/same_pairs: warning or serious; prior
    {found:,} of {n:,} pairs are identical on every item ({pairs}); did you pass the same column
    twice?
few_disagreements/pairs: serious; prior
    {found:,} of {n:,} pairs hardly ever disagree ({pairs}), so their interval is too narrow to be
    believed; their decision is withheld.
unlabelled_strata/many: warning
    {unseen} of {n} pairs of predictions, {share:.1%} of the pool, have no labelled item; what is
    said of them rests on the prior and on the others. Label some of them.
unlabelled_strata/few: note
    {unseen} of {n} pairs of predictions, {share:.1%} of the pool, have no labelled item; what is
    said of them rests on the prior and on the others.
undefined_items: note; metric
    Items whose {metric} is 0/0, for want of labels: {counts}. They count as 0, as in scikit-learn,
    also where giving no label was right.
few_of_a_class: warning
    There are only {counts} items; {metric} rests on these few, and the interval may be too narrow.
tied_scores/some: note
    Pairs of a positive and a negative item with the same score: {shares}.
tied_scores/many: warning
    Pairs of a positive and a negative item with the same score: {shares}. Labels or rounded numbers
    rank hardly anything; give the scores themselves.
certain_and_wrong: warning
    {model} gave what is true a probability of 0 on {items}; each counts as a log loss of {loss:.0f}
    instead of infinity, as in scikit-learn.
few_errors_weigh_more: warning; prevalence
    {errors}. What is said of this prevalence rests on these few.
repeated_ids/unknown: note; groups
    Column {column!r} repeats: {values:,} values in {rows:,} rows. If items of one value go wrong
    together, take {column!r} as groups, which gives them one weight.
repeated_ids/known: warning or note; groups
    Column {column!r} repeats: {values:,} values in {rows:,} rows. If items of one value go wrong
    together, take {column!r} as groups, which gives them one weight: the sd of {what} would be
    {grouped:.4f} instead of {sd:.4f}.
few_groups/influence: warning; groups
    Effective number of groups that carry the {what}: {n:.3g} (below {least}); the interval is
    wider for it and may still be too narrow.
few_groups/size: warning; groups
    Effective number of groups: {n:.3g} (below {least}); the interval may be too narrow.
# The runs
few_runs: warning
    There are only {runs}; so few hardly show how far runs spread, and the interval is wide for that
    reason. Give at least {least} runs of each model.
single_run: warning
    There is one run of {model}, so how far its runs spread is unknown; the comparison is with this
    very run, not with what training it again would give.
identical_runs: note
    All {n} runs of {model} give the same answers; its training is taken to be deterministic.
repeated_run: warning
    {one} and {two} give the same answers; if one run was entered twice, the interval is too narrow.
runs_not_pooled: note
    Pooled, as if training could give no other runs, the decision would be {symbol} ({words}); the
    spread of the runs does not allow it.
# The looks
batches_not_counted: warning
    {files} in the folder, but not counted: {reasons}.
unfinished_batches: note
    {files} not counted: a writer is at work, or died and has to write its batch again; what it left
    may be removed.
looks_left_out: note; labels
    {n} of the looks had no answer yet: {reasons}.
classes_grew: warning; labels
    There were {before} classes at the first look and there are {now} now; the prior changed with
    them, so the Bayes factors of the looks do not share one prior. Name all classes from the
    beginning.
stopped_by_decision: warning; stop
    The decision was looked at {n} times and taken when it was decided, which makes false decisions
    several times as frequent as one look would; stop by the width of the interval, or report how
    often it was looked at.
looks_after_stop: note
    {batches} counted since the rule to stop held at look {n}; its answer is at({n}).
# The folds
repeated_fold: warning
    The folds of {model} in rows {rows} have the same counts; if one of them was entered twice, the
    interval is too narrow.
unstable_learner/comparison: serious
    The repetitions differ by {times:.1f} times what the effective counts allow: training on another
    half changes the predictions. The interval leaves that out, so ≫ and ≪ are withheld.
unstable_learner/estimate: serious
    The repetitions differ by {times:.1f} times what the effective counts allow: training on another
    half changes the predictions. The interval leaves that out.
stability_unchecked: warning; m
    One repetition cannot show whether the learners are stable; if training on another half would
    change them much, the interval is too narrow. Use m = 3.
likelier_hypothesis: note
    The paper's rule accepts the likelier of H0 and H1; for two equal models that is the toss of a
    coin. The decision is the one of interval and ROPE.
# The posterior
prior_pull/prior: warning; prior
    The prior pulls the difference by more than half a posterior sd, from {observed:+.4f} as
    observed to {mean:+.4f}; the interval may miss the truth.
prior_pull/unknown: warning; prior
    The mean of the difference, {mean:+.4f}, is more than half a posterior sd off the observed
    {observed:+.4f}; the interval may miss the truth.
prior_pull/cells: warning; prior
    Every cell of {n} {classes} has a prior of its own, which outweighs the data of small {classes};
    use prior {priors}.
prior_pull_on_levels/fixed: note; prior
    The mean is off what was observed by more than half a posterior sd: {means}.
prior_pull_on_levels/learned: note; prior
    Rare classes borrow from the others, which moves the mean by more than half a posterior sd:
    {means}.
decision_depends_on_prior/depends: warning; prior
    The decision {symbol} of {prior} depends on the prior: {says}. The data alone do not decide;
    report all of them.{pulls}
decision_depends_on_prior/agrees: note; prior
    Every proper prior that does not pull agrees with the decision {symbol} of {prior}, but
    {says}.{pulls}
chain_diagnostics: note
    The draws come from a chain ({sampler}): R-hat {rhat:.3f}, {ess:,.0f} effective of {n_draws:,}
    draws, {divergences}, Monte Carlo error {mcse:.2g}.
chain_not_converged: serious; engine
    The chain did not converge: {faults}. Do not trust its numbers; draw more, with a longer tune or
    target_accept nearer to 1, or use engine='direct'.
monte_carlo_too_coarse/edge: warning; n_draws
    An end of the HDI is {gap:.2g} from an edge of the ROPE, within {errors:g} Monte Carlo errors
    ({error:.2g}); draw more to settle the decision.
monte_carlo_too_coarse/leaning: note; n_draws
    The midpoints of HDI and ROPE are {gap:.2g} apart, within {errors:g} Monte Carlo errors
    ({error:.2g}); which way the decision leans may be simulation noise; draw more.
monte_carlo_too_coarse/gate: warning or serious; n_draws
    An end of the HDI is {gap:.2g} from the edge of the ROPE that decides, within {errors:g} Monte
    Carlo errors ({error:.2g}) of {n_draws:,} draws; others might judge otherwise. Draw more, or
    get more items.
monte_carlo_too_coarse/slices: note; n_draws
    In {found:,} of {n:,} slices an end of the HDI is so near an edge of the ROPE that another
    {n_draws:,} draws might change the decision; draw more.
monte_carlo_too_coarse/pairs: note; n_draws
    In {found:,} of {n:,} pairs an end of the HDI is so near an edge of the ROPE ({pairs}) that
    another {n_draws:,} draws might change the decision; draw more.
monte_carlo_too_coarse/first: note; n_draws
    The means of {first} and {second} are {gap:.2g} apart, within {errors:g} Monte Carlo errors
    ({error:.2g}); which of them comes first may be simulation noise; draw more.
monte_carlo_too_coarse/prior: note; n_draws
    Whether the decision depends on {priors} cannot be told, as an end of an HDI is too near an edge
    of the ROPE for so many draws; draw more.
monte_carlo_too_coarse/factor: warning; n_draws
    The rule wants a larger Bayes factor than the draws can show ({factor}); draw more.
nothing_observed: serious
    No item defines {metric} of {models}, so the prior alone would answer; get items of that class,
    or leave the check out.
prior_decides: serious; prior
    The observed difference ({observed:+.4f}) and the whole HDI are on opposite sides of the edge
    that decides, so the prior decides and not the data; use a weaker prior or get more items.
hdi_and_equal_tails_disagree: note
    With the equal-tailed interval ({low:.4f} to {high:.4f}) the decision would be {symbol}
    ({words}).
bayes_factor_against_probability/equivalence: note
    The Bayes factor favours equivalence, because the data raised the probability of the ROPE from
    {before:.3g}% in the prior to {after:.3g}%, which is still small. It says what the data changed,
    not what is probable; the decision goes by the interval.
bayes_factor_against_probability/difference: note
    The Bayes factor favours a difference, because the data lowered the probability of the ROPE from
    {before:.3g}% in the prior to {after:.3g}%, which is still large. It says what the data changed,
    not what is probable; the decision goes by the interval.
kde_bayes_factor: warning
    A kernel density estimate stands for the densities at zero; its bandwidth decides the value
    where the true density is infinite or far out in the tail.
# A plan
plan_too_coarse: warning; n_simulations
    The simulation error of the number of items is {error:.0%} of it: the curve is flat where it
    reaches the target, or few test sets were simulated; simulate more, or aim lower.
"""


def _read(table: str) -> dict[str, Template]:
    rows = re.finditer(r"^([\w/]+): ([a-z ]+)(?:; (\w+))?\n((?: {4}.+\n)+)", table, re.MULTILINE)
    return {
        row[1]: Template(
            name=row[1].partition("/")[0],
            levels=cast("tuple[Level, ...]", tuple(row[2].split(" or "))),
            mends=row[3],
            text=" ".join(row[4].split()),
        )
        for row in rows
    }


TEMPLATES = _read(_TABLE)
