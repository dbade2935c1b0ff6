"""What the steps of an evaluation find, as the fields of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from skeval._resampling.fits import NoFitLeftError
from skeval._resampling.procedure import OutOfFold
from skeval._resampling.questions import Questions
from skeval._resampling.units import check_class_sizes
from skeval.model_selection import (
    ErrorEstimate,
    PermutationTest,
    PerturbationInterval,
)
from skeval.model_selection._methods import (
    CROSS_VALIDATION,
    HOLD_OUT,
    LEAVE_ONE_OUT,
    RESUBSTITUTION,
)
from skeval.report._cautions import Caution
from skeval.report._choices import (
    Counts,
    count_classes,
)
from skeval.report._data_warnings import name_columns, write_data_warnings
from skeval.report._predictions import (
    name_rows,
    summarize_predictions,
    warn_of_scores,
)
from skeval.report._row_order import warn_of_order
from skeval.report._steps import Selection, Steps, ends_in_linear_svc
from skeval.report._verdict import (
    RareClass,
    find_guess,
    find_rare_class,
    find_unanswered,
    write_given_folds,
    write_guess,
)
from skeval.report._warnings import write_warnings

__all__ = ["find_all"]


def find_all(
    steps: Steps,
    counts: Counts,
    leave_one_out: bool,
    questions: Questions,
    names: tuple[str, ...] | None,
    by: Any,
    left_out: Mapping[str, Any],
    notes: list[Caution],
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Return the fields of a report that resampling finds."""
    estimates = tuple(_estimate_all(steps, counts.bootstraps, leave_one_out, say, notes))
    say("error interval")
    answer, found = steps.answer(questions)
    about = name_rows(steps.task.X), by, steps.confidence_level
    summary = summarize_predictions(steps.counted, answer, found, questions, *about)
    if not steps.ordered:
        where = name_columns(steps.task.X, names), left_out, name_rows(steps.task.X)
        notes += warn_of_order(*where, found, steps.groups, steps.folds)
    notes += warn_of_scores(summary, steps.estimator, by, steps.ordered)
    weighed = count_classes(steps.target, steps.task.weight)
    rare = find_rare_class(weighed, summary.metrics, estimates[0].loss)
    if steps.counted.cases.name == "folds":
        notes.append(Caution("given-folds", write_given_folds(steps.counted.cases.n_units)))
        counts = counts._replace(permutations=0)
    tests = _run_tests(steps, counts, rare, names, say, notes)
    return {
        "answer": answer,
        "estimates": estimates,
        "rare": rare,
        "unanswered": find_unanswered(found),
        **summary._asdict(),
        **tests,
        **_describe_findings(steps, found, estimates, names, left_out, notes),
    }


def _run_tests(
    steps: Steps,
    counts: Counts,
    rare: RareClass | None,
    names: tuple[str, ...] | None,
    say: Callable[[str], None],
    notes: list[Caution],
) -> dict[str, Any]:
    """Return the fields of a report that resampling beyond the estimates finds."""
    return {
        "perturbation": _run_perturbation(steps, counts.perturbations, say),
        **_run_selection(steps, names, notes)._asdict(),
        "permutation": _run_permutation(steps, counts.permutations, rare, say, notes),
        "feature_names": names,
    }


def _describe_findings(
    steps: Steps,
    found: OutOfFold,
    estimates: Sequence[ErrorEstimate],
    names: tuple[str, ...] | None,
    left_out: Mapping[str, Any],
    notes: list[Caution],
) -> dict[str, Any]:
    """Return the fields of a report that say what to make of its estimates."""
    guess = find_guess(found, estimates[0].loss, ordered=steps.ordered)
    warnings = [
        *write_data_warnings(steps.task.X, steps.target, steps.groups, names, left_out),
        *notes,
        *write_warnings(estimates),
    ]
    if guess and not guess.better and not steps.ordered:
        warnings.append(Caution("guess", write_guess(guess, estimates[0].loss)))
    return {
        "confidence_level": float(steps.confidence_level),
        "n_samples": len(steps.target),
        "class_sizes": count_classes(steps.target),
        "guess": guess,
        "warnings": tuple(warnings),
    }


def _estimate_all(
    steps: Steps,
    n_bootstraps: int,
    leave_one_out: bool,
    say: Callable[[str], None],
    notes: list[Caution],
) -> Iterator[ErrorEstimate]:
    """Yield every estimate, from the most optimistic to the most careful."""
    estimators = {
        RESUBSTITUTION: steps.estimate_resubstitution,
        HOLD_OUT: steps.estimate_hold_out,
        CROSS_VALIDATION: steps.estimate_cross_validation,
        LEAVE_ONE_OUT: steps.estimate_leave_one_out,
    }
    left_out = {HOLD_OUT, LEAVE_ONE_OUT} if steps.ordered else set()
    for name, estimate in estimators.items():
        if name in left_out or (name == LEAVE_ONE_OUT and not leave_one_out):
            continue
        say(name)
        try:
            yield estimate()
        except NoFitLeftError as error:
            if name not in (HOLD_OUT, LEAVE_ONE_OUT):
                raise
            notes.append(Caution("failed", f"There is no {name} estimate: {error}"))
    if steps.ordered:
        return
    try:
        check_class_sizes(steps.target.classes, steps.target.codes)
    except ValueError as error:
        notes.append(Caution("failed", f"There are no bootstrap estimates: {error}"))
        return
    say("bootstrap")
    yield from steps.estimate_bootstrap(n_bootstraps)


def _run_perturbation(
    steps: Steps, n_resamples: int, say: Callable[[str], None]
) -> tuple[PerturbationInterval, ...] | None:
    """Return the perturbation intervals where they are wanted and have a meaning."""
    served = steps.groups is None and ends_in_linear_svc(steps.estimator, steps.target)
    if not n_resamples or not served:
        return None
    say("perturbation")
    return steps.perturb(n_resamples)


def _run_permutation(
    steps: Steps,
    n_permutations: int,
    rare: RareClass | None,
    say: Callable[[str], None],
    notes: list[Caution],
) -> PermutationTest | None:
    """Return the permutation test if it is wanted; a note where a fit of it fails."""
    if not n_permutations:
        return None
    say("permutation")
    try:
        return steps.permute(n_permutations, None if rare is None else rare.metric)
    except Exception as error:
        _note_failure(steps, "permutation test", error, notes)
        return None


def _run_selection(steps: Steps, names: tuple[str, ...] | None, notes: list[Caution]) -> Selection:
    """Return what is known of the selection of features; a note where a fit of it fails."""
    try:
        return steps.select(names)
    except Exception as error:
        _note_failure(steps, "account of the selected features", error, notes)
        return Selection(None, None, None)


def _note_failure(steps: Steps, what: str, error: Exception, notes: list[Caution]) -> None:
    """Note what a failing fit has cost, or raise where failing fits are to raise."""
    if steps.task.error_score == "raise":
        raise error
    text = f"There is no {what}, since it cannot do without a fit that failed: {error}"
    notes.append(Caution("failed", text))
