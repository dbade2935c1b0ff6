"""Warnings about predictions, estimates and the model. Warnings about the table are elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from skeval._adapters.runner import Runner
from skeval._inference.estimate import Estimate, Results, Test
from skeval._inference.intervals import MIN_GROUPS, normal_quantile
from skeval._resampling.fit_request import decides_by_pairs, find_response_method
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval._resampling.predictions import Predictions
from skeval._resampling.sampling_units import Target, UnitKind
from skeval.report._arguments import ParsedPredictions, count_columns
from skeval.report._data_checks import CHECKS
from skeval.report._data_checks.table import encode_column
from skeval.report._findings import count_mixed_groups, find_miscalibration, list_never_predicted
from skeval.report._page import CheckResult, list_few, note
from skeval.report._sentences import name_metric, write_amount, write_with_ends
from skeval.utils._checks import check_option, repetition_rng, root_seed
from skeval.utils._text import quote_label, write_threshold

# --- results of all checks

OF_ROWS = ("perfect", "time-order", "runs", "autocorrelation", "batches")
OF_ONE_OUTPUT = (*OF_ROWS, "constant-scores", "fitted-before", "undetermined")
OF_SEVERAL = ("never-predicted",)
OF_FOLDS = ("few-folds", "given-folds", "few-groups", "single-label-groups")
OF_MODELS = (*OF_FOLDS, "undefined", "calibration", "632", "two-answers")
"""Codes of the checks except those of the table, for one output, several, and any."""


def check_codes(ignore: Any, own_checks: Sequence[Any]) -> frozenset[str]:
    """Return the codes of ignored checks. Raise an error if a code is unknown."""
    if not isinstance(own_checks, list | tuple) or not all(map(callable, own_checks)):
        raise TypeError(f"checks must be a list of functions of (X, y), got {own_checks!r}.")
    if not isinstance(ignore, str | list | tuple | set | frozenset):
        raise TypeError(f"ignore must be a code or a list of codes, got {ignore!r}.")
    of_table = (check.code for check in CHECKS)
    known = (*of_table, *OF_ONE_OUTPUT, *OF_SEVERAL, *OF_MODELS, *map(name_check, own_checks))
    codes = [ignore] if isinstance(ignore, str) else list(ignore)
    return frozenset(check_option("ignore", code, known) for code in codes)


def name_check(check: Any) -> str:
    """Return the code of a check of the user."""
    return getattr(check, "__name__", type(check).__name__).strip("_").replace("_", "-")


def list_checks(
    found: Sequence[CheckResult], others: Mapping[str, str], own_checks: Sequence[Any]
) -> list[CheckResult]:
    """Return the findings except those of the table, and outcomes of `others` without one."""
    results = []
    codes = (*OF_ONE_OUTPUT, *OF_SEVERAL, *OF_MODELS, *map(name_check, own_checks))
    for code in codes:
        title = code.replace("-", " ").capitalize()
        without = CheckResult(others.get(code, "passed"), code=code, title=title)
        results += [one for one in found if one.code == code] or [without]
    return results


# --- metrics, scores and groups of any predictions


def note_few_groups(predictions: Predictions) -> Iterator[CheckResult]:
    """Warn about intervals from few groups."""
    n_groups = predictions.cases.n_units
    if predictions.cases.kind is UnitKind.GROUP and n_groups < MIN_GROUPS:
        yield note(
            "few-groups",
            "Few groups",
            f"with {n_groups} groups, coverage may be below the nominal level",
            "Collect more groups, or mention this limitation beside the interval.",
        )


def warn_of_metrics(metrics: Results) -> Iterator[CheckResult]:
    """Warn about metrics that are undefined."""
    undefined = []
    for name, estimate in metrics.items():
        if np.isnan(estimate.value):
            label = getattr(estimate.extra, "label", None)
            text = name_metric(getattr(estimate.extra, "metric", "") or name)
            undefined.append(text if label is None else f"{text} of class {quote_label(label)}")
    if undefined:
        advice = "A class is never predicted or has no samples, or no test set contains both "
        advice += "classes."
        yield note("undefined", "Undefined metrics", ", ".join(undefined), advice)


def warn_of_calibration(measures: Results | None) -> Iterator[CheckResult]:
    """Warn about probabilities that differ from the observed frequencies."""
    if measures is None:
        return
    if problems := find_miscalibration(measures):
        each = []
        # the measures whose intervals exclude the best value
        for name in problems:
            value, low, high = write_with_ends(measures[name], measures[name].value)
            level = f"{100 * measures[name].confidence_level:g} % CI"
            each.append(f"{measures[name].name} {value}, {level} {low} to {high}")
        advice = (
            "Rankings are not affected. Before the probabilities are used as risks, recalibrate "
            "them, for example with CalibratedClassifierCV."
        )
        # recalibration helps only if outcomes depend on the probabilities
        if not measures["slope"].interval.low > 0:
            advice = "The slope may be 0, so recalibration may not help. Improve the model first."
        evidence = f"they are {' and '.join(problems.values())} ({'; '.join(each)})"
        yield note("calibration", "Miscalibrated probabilities", evidence, advice)


def warn_of_fitted_scores(
    predictions: Predictions, metrics: Results, estimator: Any
) -> list[CheckResult]:
    """Warn about undefined metrics and constant scores."""
    notes = [] if predictions.cases.n_units == 1 else list(warn_of_metrics(metrics))
    # test sets without a requested score
    for name, scores in predictions.scores.items():
        n_undefined = int(np.isnan(scores).sum())
        if n_undefined:
            evidence = f"the score {name} is undefined in {n_undefined} of {len(scores)} test sets"
            advice = "Its mean is therefore undefined. Use larger test sets, or another score."
            notes.append(note("undefined", "Undefined score", evidence, advice))
    # scores that are missing or not finite
    method = find_response_method(estimator, predictions.target)
    if method is not None and predictions.class_scores is None:
        evidence = f"in some fit, {method} did not return a finite score for every class"
        advice = "Curves, AUC and losses of probabilities are missing. Check the scores of the "
        advice += "model for missing and infinite values."
        notes.append(note("undefined", "No usable scores", evidence, advice))
    # scores that do not vary
    flat, n_answered = int(predictions.ranks_nothing.sum()), len(predictions.ranks_nothing)
    if 2 * flat > n_answered:
        where = "every fit" if flat == n_answered else f"{flat} of {n_answered} fits"
        evidence = f"apart from rounding, the scores are constant in {where}"
        advice = "AUC and average precision are not informative. This is common for models that "
        advice += "predict a single class. Try class weights."
        notes.append(note("constant-scores", "Constant scores", evidence, advice))
    if decides_by_pairs(estimator, predictions.target):
        evidence = "decision_function_shape='ovo' gives decision values for pairs of classes"
        advice = "Curves and AUC are missing. Use 'ovr' to get them."
        notes.append(note("undefined", "No scores per class", evidence, advice))
    return notes


# --- existing predictions


def warn_of_predictions(
    parsed: ParsedPredictions,
    predictions: Predictions,
    metrics: Results,
    y_true: Any,
    at_threshold: Results | None,
) -> Iterator[CheckResult]:
    """Yield the warnings about predictions."""
    # rows that belong together
    n, index = len(parsed.target), getattr(y_true, "index", None)
    if index is not None and not callable(index) and not index.is_unique:
        n_same = int(index.duplicated(keep=False).sum())
        yield note(
            "copies",
            "Repeated index",
            f"{n_same} of {n} rows share an index value with another row",
            "If such rows belong together, for example to one patient, the intervals are too "
            "short. Pass groups=.",
        )
    yield from note_few_groups(predictions)
    yield from _warn_of_scores(parsed, predictions, metrics)
    # true classes with probability 0
    if parsed.kind == "probabilities" and parsed.response is not None:
        n_wrong = int(np.sum(parsed.response[np.arange(n), parsed.target.codes] == 0))
        if n_wrong:
            yield note(
                "impossible",
                "Impossible outcomes",
                f"{n_wrong} of {n} samples have a predicted probability of 0 for their true class",
                "Their log loss is infinite and was replaced by that of the smallest positive "
                "number. Do not report the log loss.",
            )
    # labels look better at a threshold that was chosen on the same samples
    if at_threshold is not None and at_threshold["threshold"].method == "bootstrap":
        cut = write_threshold(at_threshold["threshold"].value, parsed.score)
        pair = (f"{name} {at_threshold[name].value:.2f}" for name in ("sensitivity", "specificity"))
        yield note(
            "chosen-threshold",
            "Threshold chosen on the test set",
            "label metrics and the confusion matrix are optimistic",
            f"At the threshold {cut}, the corrected estimates are {' and '.join(pair)}.",
        )
    yield from warn_of_metrics(metrics)
    # perfect predictions, and classes never predicted
    if predictions.has_values and np.all(predictions.predicted == parsed.target.codes):
        yield note(
            "perfect",
            "Perfect predictions",
            "every prediction is correct",
            "Check whether the model had access to the true values, here or in its training data.",
        )
    if never := list_never_predicted(predictions):
        listed = list_few([*map(quote_label, never)])
        advice = "Their precision is undefined and counts as 0 in macro averages."
        yield note("never-predicted", "Classes never predicted", listed, advice)
    # classes without samples
    if (classes := parsed.target.classes) is not None:
        absent = np.bincount(parsed.target.codes, minlength=len(classes)) == 0
        if listed := list_few([*map(quote_label, classes[absent])]):
            advice = (
                "Their recall is undefined and left out of macro averages, and their F1 counts "
            )
            advice += "as 0."
            yield note("undefined", "Classes without samples", f"{listed} (not in y_true)", advice)


def _warn_of_scores(
    parsed: ParsedPredictions, predictions: Predictions, metrics: Results
) -> Iterator[CheckResult]:
    """Warn about scores that are not probabilities, are constant, or are reversed."""
    # values outside [0, 1], or rows that do not add up to 1
    if parsed.kind == "scores":
        scores = parsed.original.astype(float)
        rows, text, remedy = scores.reshape(len(scores), -1), "", ""
        outside = int(np.sum(((rows < 0) | (rows > 1)).any(axis=1)))
        if outside and parsed.score.ndim == 1:
            text = f"{outside} of {len(scores)} predictions lie outside [0, 1] "
            text += f"({scores.min():.4g} to {scores.max():.4g})"
            if scores.min() >= 0 and 1 < scores.max() <= 100:
                remedy = " If they are percentages, divide them by 100."
        elif not outside and rows.shape[1] > 1:
            sums = rows.sum(axis=1)
            ends = f"{sums.min():.4g} to {sums.max():.4g}"
            text = f"the predictions of a sample should add up to 1, but the sums are {ends}"
        if text:
            yield note(
                "no-probabilities",
                "Not probabilities",
                text,
                f"They are used as scores, without calibration, Brier score and log loss.{remedy}",
            )
    # scores that do not vary, or of the other class
    if predictions.class_scores is not None and predictions.ranks_nothing.all():
        text = "all samples have the same score, so AUC and average precision are not informative"
        yield note("constant-scores", "Constant scores", text)
    # an area significantly below 0.5 points to the wrong class or sign
    if "roc_auc" in metrics and metrics["roc_auc"].interval.high < 0.5:
        positive = quote_label(parsed.positive)
        yield note(
            "reversed",
            "Reversed scores",
            f"the AUC is below 0.5, so high scores indicate the other class, not {positive}",
            "Pass pos_label= if they are meant for that class, or reverse them.",
        )


def warn_of_outputs(predictions: Predictions) -> Iterator[CheckResult]:
    """Warn about few groups, and about constant and unused labels of several outputs."""
    yield from note_few_groups(predictions)
    target, names = predictions.target, np.array(predictions.target.outputs)
    # only labels of 0 and 1 are checked
    indicators = [classes.tolist() == [0, 1] for classes in target.output_classes]
    if not (indicators and all(indicators)):
        return
    # labels without variation, and without predictions
    varied = np.ptp(target.codes, axis=0) > 0
    if len(alike := names[~varied]):
        yield note(
            "undefined",
            "Constant labels",
            f"either all samples or none have {list_few(alike.tolist())}",
            "They have no metrics. Averages of precision, recall and F1 count them as scikit-learn "
            "does, and averages of AUC and average precision leave them out.",
        )
    if len(never := names[~predictions.predicted.any(axis=0) & varied]):
        yield note(
            "never-predicted",
            "Labels never predicted",
            list_few(never.tolist()),
            "Their precision is undefined and counts as 0 in averages over labels. Lower the "
            "threshold for these labels.",
        )


def warn_of_pure_groups(predictions: Predictions, test: Test | None) -> Iterator[CheckResult]:
    """Warn about groups that do not contribute to a permutation test within groups."""
    mixed, n_groups = count_mixed_groups(predictions), predictions.cases.n_units
    if test is not None and test.exchanged == "within groups" and mixed < n_groups:
        yield note(
            "single-label-groups",
            "Groups with a single label",
            f"{n_groups - mixed} of {n_groups} groups",
            "The permutation test shuffles labels within groups, so only the other "
            f"{mixed} contribute, and differences between groups are not tested. To test them, "
            "remove the groups that have several labels.",
        )


BATCH = re.compile(
    r"(.*[ _.\-])?(batch|plate|site|scanner|center|centre|hospital|date)([ _.\-]?(id|no|nr|name))?",
    re.IGNORECASE,
)
"""Full names of columns of the origin of samples."""
MAX_BATCHES, MIN_EXPLAINED, MIN_OTHERS = 20, 0.8, 10
"""Maximum number of batches, above which values in order are joined, the minimum fraction by which
the batch reduces the error of always predicting the most frequent class, and the minimum number of
samples of other classes."""


def warn_of_batches(
    target: Target, by: Any, others: Mapping[str, np.ndarray]
) -> Iterator[CheckResult]:
    """Warn if the subgroups, or another column of the origin of samples, nearly give the class.

    The class of a sample is predicted by the most frequent class of the other samples of its batch.
    """
    n, classes = len(target), target.classes
    # with few samples of other classes, a batch may give the class by chance
    if classes is None or (n_rest := n - np.bincount(target.codes).max()) < MIN_OTHERS:
        return
    several = isinstance(by, Mapping) or hasattr(by, "columns")
    columns = {str(name): by[name] for name in by} if several else {}
    if by is not None and not several:
        columns = {str(getattr(by, "name", None) or "by"): by}
    columns = {name: one for name, one in others.items() if BATCH.fullmatch(name)} | columns
    for name, column in columns.items():
        batch = np.unique(encode_column(np.asarray(column))[0], return_inverse=True)[1].reshape(-1)
        # many values in order, such as dates, are joined to intervals of similar size
        if batch.max() >= MAX_BATCHES:
            batch = (rankdata(batch) * MAX_BATCHES / (n + 1)).astype(int)
        counts = np.zeros((batch.max() + 1, len(classes)))
        np.add.at(counts, (batch, target.codes), 1)
        *_, second, most = np.sort(counts, axis=1).T
        # a sample does not count for the prediction of its own class
        n_right = most[most - 1 > second].sum()
        if n_right >= n - (1 - MIN_EXPLAINED) * n_rest:
            evidence = f"{name!r} alone predicts the class of {100 * n_right / n:.0f} % of the rows"
            yield CheckResult(
                "note",
                evidence,
                "If it is a batch, site or date, the model may recognize it instead of the class. "
                "Compare the classes within each batch, and test on new batches (groups=).",
                f"Check {name!r} first: it nearly determines the class",
                code="batches",
                title="Batches of one class",
            )


# --- estimates of one error

TWO_ANSWERS = 3.0
"""Maximum difference between two estimates of the same error, in standard errors of the main one.
For false alarms see doc/user_guide/warnings.rst."""
NEAR_ZERO = 0.1
"""Share of the cross-validated error below which a training error is uninformative."""


def check_estimates(estimates: Iterable[Estimate], answer: Estimate) -> Iterator[CheckResult]:
    """Yield the warnings about the estimates of one estimator, and about the headline."""
    named = {estimate.method: estimate for estimate in estimates}
    if not {"cross_validation", "resubstitution"} <= named.keys():  # interrupted before these
        return
    folds, training = named["cross_validation"], named["resubstitution"]
    yield from _check_632(named)
    # New folds explain much smaller differences, because they share most of the noise. Folds of the
    # user may test other samples. Training errors are usually lower, so only higher ones count.
    differences = {
        "one cross-validation": (folds, abs(folds.value - answer.value)),
        "the training error": (training, training.value - answer.value),
    }
    for what, (other, difference) in differences.items():
        if answer.method == "repeated_cv" and difference > TWO_ANSWERS * _spread(answer):
            evidence = f"the main estimate ({_write_error(answer)}) and {what} "
            evidence += f"({_write_error(other)}) differ by more than three standard errors"
            yield CheckResult(
                "serious",
                evidence,
                "The fits may be unstable, or stop before they converge. Scale the features, raise "
                "max_iter, and fit the model twice to see whether its predictions change.",
                "two estimates of the same error disagree",
                code="two-answers",
                title="Two estimates disagree",
            )
            return


def _check_632(named: Mapping[str, Estimate]) -> Iterator[CheckResult]:
    """Warn if .632+ is too low because of a training error near 0.

    Both the cross-validated and the out-of-bag error are then above it. If the cross-validated
    error is compatible with pure noise, .632+ gives the training error little weight and may be
    right.
    """
    folds, training = named["cross_validation"], named["resubstitution"]
    bootstrap = named.get(".632+")
    # the warning is about models whose training error is near 0
    if bootstrap is None or training.value > NEAR_ZERO * folds.value:
        return
    # the model may have learned nothing, which .632+ allows for
    is_noise = folds.interval.high >= bootstrap.extra.no_information
    lowest = min(folds.value, named["oob"].value)
    # both other estimates are above it by more than a standard error
    if not is_noise and lowest - bootstrap.value > _spread(folds):
        yield note(
            "632",
            ".632+ too low",
            f"it is {_write_error(bootstrap)}, but cross-validation gives {_write_error(folds)}",
            f".632+ includes a training error near 0 ({_write_error(training)}), which this model "
            "reaches on any data. Report neither .632 nor .632+.",
        )


def _spread(estimate: Estimate) -> float:
    """Return a standard error that is positive even without errors, from the interval.

    It assumes independent losses, without inflation, as in the simulations of false alarms. If the
    interval is undefined it is nan, so that no comparison is true.
    """
    form = next(name for name in estimate.interval_methods if name != "inflated")
    interval = estimate.confidence_interval(method=form)
    return (interval.high - interval.low) / 2 / normal_quantile(interval.confidence_level)


def _write_error(estimate: Estimate) -> str:
    """Return an error in the unit of the verdict."""
    return write_amount(estimate.value, estimate.loss)


# --- the model: parts fitted beforehand, and undetermined least squares

MAX_REFIT = 500
"""Maximum number of samples on which a model is refitted with shuffled labels."""
N_SHUFFLES = 12
"""Number of shuffles after which the predictions must all be the same. A rule with one threshold or
one binary feature predicts the same after up to half of them. For most models one suffices."""
REMEDY = (
    "Pass the unfitted estimator, so that it is trained within the folds. For a model that is "
    "fixed in advance, use evaluate_predictions or metric_interval on samples it has not seen."
)


def check_fitted_before(
    runner: Runner, seed: int, allows: Callable[[int], bool]
) -> list[CheckResult]:
    """Return a warning if the model, or a part of it, is not trained within the folds.

    Each fit is started only if the clock `allows` it. Frozen parts are recognized by their type. A
    model that is fixed in another way has the same predictions after it is refitted on shuffled
    labels. Constant predictions do not reveal this.
    """
    # frozen parts that use the target, named by their type
    inputs = runner.inputs
    parts = [inputs.estimator, *inputs.estimator.get_params(deep=True).values()]
    frozen = [part.estimator for part in parts if isinstance(part, FrozenEstimator)]
    names = [f"FrozenEstimator({type(part).__name__})" for part in frozen if _uses_labels(part)]
    if names:
        verb = "is" if len(names) == 1 else "are"
        evidence = f"{', '.join(names)} {verb} frozen and not trained within the folds"
        headline = "part of the model was fitted before the folds"
    elif _ignores_labels(runner, seed, allows):
        evidence = "the predictions do not change if the model is refitted on shuffled labels"
        headline = "the model does not learn from the training labels"
    else:
        return []
    advice = f"If these samples were used to fit it, the error is a training error. {REMEDY}"
    return [
        CheckResult(
            "serious", evidence, advice, headline, code="fitted-before", title="Model fitted before"
        )
    ]


def _uses_labels(part: Any) -> bool:
    """Whether an estimator predicts a target, or uses one to select or transform features."""
    if isinstance(part, SelectorMixin):
        return not isinstance(part, VarianceThreshold)
    tags = get_tags(part)
    return tags.estimator_type in ("classifier", "regressor") or tags.target_tags.required


def _ignores_labels(runner: Runner, seed: int, allows: Callable[[int], bool]) -> bool:
    """Whether a model predicts the same, but not a constant, after its labels are shuffled."""
    inputs = runner.inputs
    # clones of scikit-learn's own parts are trained on their labels
    steps = (one for one in inputs.estimator.get_params(deep=True).values() if hasattr(one, "fit"))
    if all(type(one).__module__.startswith("sklearn.") for one in (inputs.estimator, *steps)):
        return False
    # a sample of the rows
    n, rng = len(inputs.target), repetition_rng(root_seed(seed), 0)
    rows = np.sort(rng.permutation(n)[:MAX_REFIT])
    used = np.zeros((1, n), dtype=bool)
    used[:, rows] = True
    runner = runner.with_options(verbose=0, memory=None)

    def refit(labels: np.ndarray) -> np.ndarray:
        """Return the predictions of a model fitted to the labels of these samples, in order."""
        if not allows(1):
            raise TimeoutError
        order = np.arange(n)
        order[rows] = labels
        block = PlanBlock(used.astype(np.intp), used, order[None])
        (_, output), *_ = runner.fits(ResamplingPlan(n, 1, lambda _: block, 1))
        if output.failed.any():
            raise ValueError("a fit failed")
        return np.asarray(output.predicted)

    try:
        # constant predictions are no evidence
        before = refit(rows)
        return bool(np.any(before != before[0])) and all(
            np.array_equal(before, refit(rng.permutation(rows))) for _ in range(N_SHUFFLES)
        )
    except Exception:  # no time, or for example too few samples, which other checks report
        return False


def check_least_squares(estimator: Any, X: Any, y: Any) -> list[CheckResult]:
    """Return a warning if least squares have about as many features as samples.

    With 10 % more samples the error of such a model may change several fold, and the models of ten
    folds are trained on 10 % fewer samples than the final model. Features are counted after the
    earlier steps of a pipeline.
    """
    *steps, rule = estimator if isinstance(estimator, Pipeline) else [estimator]
    if not isinstance(rule, LinearRegression) or rule.positive:
        return []
    # features are counted as the regression gets them
    if steps:
        with suppress(Exception):
            X = clone(estimator[:-1]).fit_transform(X, y)
    # the range in which the solution is undetermined
    n_samples, n_features = len(y), count_columns(X) or 0
    lowest, highest = UNDETERMINED
    if not lowest * n_samples <= n_features <= highest * n_samples:
        return []
    evidence = f"with {n_features} features and {n_samples} samples, the model trained on all "
    evidence += "samples may have many times the error of the models of the folds"
    return [
        CheckResult(
            "serious",
            evidence,
            "The models of the folds are trained on fewer samples, so they do not show this. Use "
            "fewer features or a penalized model, such as Ridge.",
            "least squares with about as many features as samples are undetermined",
            code="undetermined",
            title="Undetermined least squares",
        )
    ]


UNDETERMINED = 0.95, 1.15
"""Features per sample between which least squares count as undetermined."""
