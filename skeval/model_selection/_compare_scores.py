"""Comparison of existing scores over splits, data sets or items.

The module contains the public function, and the validation of the tables of each kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from skeval._inference.paired import critical_difference, rank_rows
from skeval.model_selection._compare_predictions import compare_predictions
from skeval.model_selection._comparison import (
    Comparison,
    ComparisonExtra,
    check_method,
    check_options,
    compare_pairs,
    name_distinct,
    name_listed,
    spread_rows,
)
from skeval.model_selection._pair_tests import ComparisonTest
from skeval.utils import _checks
from skeval.utils._checks import Alternative, RandomStateLike, check_pairs, validate_params

Over = Literal["splits", "datasets", "items"]

Missing = Literal["raise", "drop", "keep"]

EVIDENCE = {"splits": "splits", "datasets": "datasets", "items": "joint"}
"""Input of the tests for scores of each kind of item."""
FORMS = (
    "Pass a table with a row for each data set and a column for each classifier, a table with the "
    "columns dataset, classifier and score (and split), or a dict of data sets, each with a dict "
    "of classifiers"
)
"""Forms of scores on data sets."""


@validate_params({"random_state": ["random_state", Generator]})
def compare_scores(
    scores: Any,
    *,
    over: Over = "splits",
    method: ComparisonTest = "auto",
    test_train_ratio: float | None = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    margin: float | None = None,
    missing: Missing = "raise",
    groups: str | ArrayLike | None = None,
    random_state: RandomStateLike = None,
) -> Comparison:
    r"""Compare models by their scores on splits of one data set, on data sets, or on items.

    Parameters
    ----------
    scores : dict, list, dataframe or array-like
        For splits of one data set, a dict or list with the scores of each classifier, or a frame
        with a column for each classifier. The scores of a classifier are an array of shape
        (n_splits,), with the same splits in the same order, or a result of `cross_validate`.

        For several data sets, the score of each classifier on each data set. Larger is better, so
        negate errors. Use one of these forms:

        - A frame with a row for each data set and a column for each classifier.
        - A frame or dict of columns in long form, with ``dataset``, ``classifier`` and ``score``.
          Scores of splits also need the column ``split``, which pairs them. The order of the rows
          does not matter, and names are sorted.
        - A dict with one dict for each data set. Its values are the results of `cross_validate`,
          the scores of splits, or a single score of each classifier.
        - An array of shape (n_datasets, n_classifiers).

        Scores of splits are averaged.

        For items of a benchmark, such as questions, the score of each model on each item, such as
        0 or 1. Larger is better. Use one of these forms:

        - A data frame with a row for each item and a column for each model, a dict of models, or
          an array of shape (n_items, n_systems).
        - A data frame or a dict of columns in long form, with the columns ``item``, ``system`` and
          ``score``.
    over : {"splits", "datasets", "items"}, default="splits"
        Whether the scores belong to splits, data sets or items.
    method : str, default="auto"
        Over splits, "auto" is "corrected_t", the corrected resampled t-test of Nadeau and Bengio,
        as in `compare_classifiers`.

        Over data sets, "wilcoxon" is the signed-rank test of each pair, with Holm's correction. It
        assumes symmetric differences and does not depend on other classifiers. "nemenyi" compares
        mean ranks by the studentized range. It is invalid if the scores of the classifiers have
        different variances, and then rejects up to twice as often as the nominal level (see
        Notes). "auto" is "wilcoxon". It is "nemenyi" if there are three or more classifiers and so
        few data sets that Wilcoxon's test can never reject. `extra` has the reason.

        Over items, "auto" is "max_t", as in `compare_predictions`. It compares the studentized
        difference of each pair with the largest of all pairs. Intervals of differences, scores (in
        `extra`) and `ranks` therefore hold simultaneously.
    test_train_ratio : float, default=None
        Size of a test set divided by the size of its training set ("corrected_t"). For ten folds,
        it is 1 / 9, for any number of repeats. None takes it from results of `cross_validate` with
        ``return_indices=True``.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Alternative hypothesis for the first minus the second score of two models, over splits or
        items.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1, of all intervals of differences simultaneously. The
        level of tests over data sets is 1 minus this. The level of tests over splits is at most 5
        %.
    margin : float, default=None
        Largest difference between two scores that does not matter. If it is passed, the
        differences have P-values of non-inferiority (the first model is not worse by `margin` or
        more) and of equivalence.
    missing : {"raise", "drop", "keep"}, default="raise"
        Treatment of a classifier without a score on a data set. "raise" raises an error that names
        the data set and the classifier. "drop" omits the data set and lists it in `extra`. "keep"
        keeps the other scores. Each pair is then compared by "wilcoxon" on the data sets with both
        scores. The `omnibus` is the test of Skillings and Mack [5]_, which is valid if scores are
        missing for reasons unrelated to their values. A missing score of an item always raises an
        error.
    groups : str, list of str or array-like of shape (n_items,) or (n_items, n_kinds), default=None
        Task or prompt of each item, if items of one group are not independent. Standard errors are
        then computed between groups. Pass names of columns of `scores`, or values in the order of
        the items (not in long form). Several columns are nested or crossed groups. In long form,
        groups and name together identify an item, so tasks may use the same item numbers.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. Only "max_t" uses it.

    Returns
    -------
    comparison : Comparison
        The result contains the `differences` of all pairs with their intervals and P-values. Over
        data sets, it also has Friedman's test as `omnibus`, and ``extra.mean_ranks``. Over items,
        it also has simultaneous intervals of the `ranks` and, as ``extra.lows`` and
        ``extra.highs``, of the scores.

    Raises
    ------
    ValueError
        Over splits, if there are too few, they differ in number or in the indices of results of
        `cross_validate`, or the ratio is unknown. Over data sets, if a score is missing, a data
        set or classifier is named twice, or there are fewer than two. Over items, if a score is
        missing, a column looks like an identifier, or an item has several scores of one model.
    TypeError
        If `scores` has another form.

    See Also
    --------
    compare_predictions : Other metrics and tests, from predictions and true values.

    Notes
    -----
    Use the corrected t-test over 10 x 10 folds. The tests over 10 folds, and over 5 x 2 folds,
    have less power. An uncorrected t-test over 10 x 10 folds finds a difference between equal
    classifiers in half of the data sets (:doc:`/validation`).

    Over data sets, let :math:`R_j` be the mean rank of classifier `j` of `k` on `N` data sets.
    Then

    .. math:: \chi^2 = \frac{12 N}{k (k+1)} \sum_j \left(R_j - \frac{k+1}{2}\right)^2 , \qquad
       F = \frac{(N - 1) \chi^2}{N (k - 1) - \chi^2} .

    The first statistic is corrected for ties. F has :math:`k - 1` and :math:`(k - 1)(N - 1)`
    degrees of freedom [1]_. Pairs are tested whether or not these tests reject, because Holm's
    correction and Nemenyi's test control the error rate by themselves.

    The difference of a pair is the estimate of Hodges and Lehmann, that is, the median Walsh
    average of its differences on the data sets. The interval inverts Wilcoxon's test, at
    Bonferroni's level for all pairs. If there are so few data sets that no finite interval has this
    level, its limits are infinite. Wilcoxon's test omits data sets with equal scores of the pair,
    but the interval includes them, so it may contain 0 although the test rejects. The P-value of
    "nemenyi" refers to mean ranks, so the interval may exclude 0 although the test does not reject.
    The effect size is the matched-pairs rank-biserial correlation.

    Tests of mean ranks depend on all other classifiers [2]_. They are invalid if scores have
    different distributions. In a simulation, 10 classifiers had the same mean score at a nominal
    level of 5 %. If every second one had thirty times the standard deviation, "nemenyi" found a
    difference in 9 to 10 % of experiments, and F rejected in 7 to 9 %. If every second one had
    skewed scores, the rates were up to 10 and 12 % on 50 data sets. The rates of "wilcoxon" were 2
    to 4 % and 5 to 7 %. On 5 data sets, Wilcoxon's test never rejects. These results, and the
    power, are in ``benchmarks/results/over_datasets.md``.

    Over items, the largest statistic is compared with normal draws [3]_. The rank of a model is at
    least 1 plus the number of significantly better models, and at most the number of models that
    are not significantly worse [4]_. The Notes of `compare_predictions` have the error rates.

    References
    ----------
    .. [1] Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets.
       Journal of Machine Learning Research 7, 1-30.
    .. [2] Benavoli, A., Corani, G. and Mangili, F. (2016). Should we really use post-hoc tests
       based on mean-ranks? Journal of Machine Learning Research 17, 1-10.
    .. [3] Hothorn, T., Bretz, F. and Westfall, P. (2008). Simultaneous inference in general
       parametric models. Biometrical Journal 50, 346-363. https://doi.org/10.1002/bimj.200810425
    .. [4] Mogstad, M., Romano, J. P., Shaikh, A. M. and Wilhelm, D. (2024). Inference for ranks
       with applications to mobility across neighbourhoods and academic achievement across
       countries. Review of Economic Studies 91, 476-518. https://doi.org/10.1093/restud/rdad006
    .. [5] Skillings, J. H. and Mack, G. A. (1981). On the use of a Friedman-type statistic in
       balanced and unbalanced block designs. Technometrics 23, 171-177.
       https://doi.org/10.1080/00401706.1981.10486261

    Examples
    --------
    >>> from skeval.model_selection import compare_scores
    >>> a = [0.81, 0.79, 0.84, 0.80, 0.83]
    >>> b = [0.78, 0.78, 0.80, 0.79, 0.81]
    >>> print(compare_scores({"a": a, "b": b}, test_train_ratio=1 / 4))
    score, corrected_t
      a  0.8140
      b  0.7920
    corrected resampled t-test, 95 % interval
      a - b   0.0220 [-0.0023, 0.0463]  P = 0.066
      No significant difference at 5 % (P = 0.066). This is not evidence of equality. The
      difference may be anywhere from -0.002 to 0.046 (95 % CI).

    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> hardness = rng.uniform(0.6, 0.9, size=(12, 1))
    >>> scores = hardness + [0.05, 0.02, 0.0] + rng.normal(scale=0.01, size=(12, 3))
    >>> frame = pd.DataFrame(scores, columns=["forest", "svm", "bayes"])
    >>> comparison = compare_scores(frame, over="datasets", random_state=0)
    >>> print(comparison)
    12 data sets, mean ranks
      forest  1.0000
      svm     2.0833
      bayes   2.9167
    Friedman, Iman-Davenport: F = 133, P < 0.001
    Wilcoxon's signed-rank test, 95 % simultaneous intervals
      forest - svm     0.0295 [0.0185, 0.0418]  P = 0.0015
      forest - bayes   0.0479 [0.0385, 0.0581]  P = 0.0015
      svm - bayes      0.0186 [0.0098, 0.0256]  P = 0.0015
      The default method compares the two models using only their own scores.
      forest has the best mean rank; it differs significantly from svm, bayes (Wilcoxon's
      signed-rank test, level 5 % for all of 3 pairs). 3 of 3 pairs differ significantly.
      The test is for data sets like these, not for a single data set.
    >>> comparison.tied
    []

    >>> answers = (rng.random((300, 3)) < [0.5, 0.62, 0.65]).astype(float)
    >>> board = compare_scores(answers, over="items", random_state=0)
    >>> {name: (rank.interval.low, rank.interval.high) for name, rank in board.ranks.items()}
    {'system 1': (3.0, 3.0), 'system 2': (1.0, 2.0), 'system 3': (1.0, 2.0)}
    """
    _checks.check_option("over", over, EVIDENCE)
    _checks.check_option("missing", missing, ("raise", "drop", "keep"))
    margin = check_options({EVIDENCE[over]}, method, confidence_level, margin)
    # options that apply to another kind of scores only
    if over != "splits" and test_train_ratio is not None:
        raise ValueError(
            f"test_train_ratio must be None for over={over!r}, got {test_train_ratio}."
        )
    if over != "datasets":
        check_pairs({"scores": scores, "groups": groups})
    if over == "items":
        # scores of items are compared like those of samples
        columns, groups = read_items(scores, groups)
        check_items(columns)
        options: dict[str, Any] = {"alternative": alternative, "margin": margin, "groups": groups}
        options |= {"confidence_level": confidence_level, "random_state": random_state}
        return compare_predictions(None, columns, method="max_t", **options)
    if groups is not None:
        raise ValueError(f"groups must be None unless over='items', got {groups!r}.")

    # the table of scores, and the test of all pairs of its columns
    fields: dict[str, Any] = {"margin": margin}
    if over == "splits":
        method = "corrected_t"
        names, values, ratio = read_all_splits(scores, test_train_ratio)
        arguments: tuple[Any, ...] = values, ratio
    else:
        reason = "The test was requested."
        names, values, datasets, dropped = read_score_table(scores, missing)
        # only Wilcoxon's test can use incomplete rows, because it takes each pair alone
        if np.isnan(values).any():
            if method not in ("auto", "wilcoxon"):
                raise ValueError(f"method must be 'wilcoxon' for missing scores, got {method!r}.")
            method, reason = "wilcoxon", "Pairs are compared on the data sets with both scores."
        elif method == "auto":
            method, reason = choose_test(values.shape, 1 - confidence_level)
        arguments = (values,)
        # a row with missing scores has its ranks stretched to those of a complete row
        ranks = rank_rows(values)
        last = np.sum(np.isfinite(ranks), axis=1, keepdims=True)
        stretched = 1 + (ranks - 1) * (len(names) - 1) / (last - 1)
        fields["extra"] = ComparisonExtra(
            scores=values,
            datasets=datasets,
            dropped=dropped,
            reason=reason,
            mean_ranks=np.nanmean(stretched, axis=0),
            critical_difference=critical_difference(len(values), len(names), confidence_level),
        )
    check_method(method, alternative, len(names))
    means = np.nanmean(values, axis=0)
    return compare_pairs(
        method, means, arguments, alternative, confidence_level, names=names, **fields
    )


def read_all_splits(
    scores: Any, test_train_ratio: float | None
) -> tuple[tuple[str, ...], np.ndarray, float]:
    """Return the names of the classifiers, their scores on splits, and the ratio of sizes."""
    if isinstance(scores, Mapping) and "test_score" in scores:
        raise TypeError(
            "scores must contain a result of cross_validate for each classifier, got only one."
        )
    # finite scores of the same splits
    results = name_listed("scores", scores, "classifier")
    named = {f"scores[{name!r}]": result for name, result in results.items()}
    columns = {name: read_splits_scores(name, result) for name, result in named.items()}
    for name, column in columns.items():
        if np.isnan(column).any():
            raise ValueError(f"{name} must have no missing scores, got {np.isnan(column).sum()}.")
    # the test pairs the scores of each split, so all classifiers need the same splits
    sizes = [len(column) for column in columns.values()]
    if len(set(sizes)) > 1:
        raise ValueError(
            f"scores must have the same number of splits, got {' and '.join(map(str, sizes))}."
        )
    if sizes[0] < 2:
        raise ValueError("scores must contain at least two splits, got 1.")
    check_same_indices(named)

    # the ratio passed by the user, or the ratio of the first result with indices
    ratio: Any = test_train_ratio
    for result in named.values():
        if ratio is None and isinstance(result, Mapping) and "indices" in result:
            parts = result["indices"]
            pairs = zip(parts["test"], parts["train"], strict=True)
            ratio = float(np.mean([len(test) / len(train) for test, train in pairs]))
    if ratio is None:
        raise ValueError(
            "test_train_ratio must be passed for over='splits', for example 1 / 9 for ten folds, "
            "got None. It is known if results of cross_validate have return_indices=True."
        )
    if not isinstance(ratio, int | float | np.number) or not 0 < ratio < np.inf:
        raise ValueError(f"test_train_ratio must be a number > 0, got {ratio!r}.")
    return tuple(results), np.column_stack(list(columns.values())), float(ratio)


def read_splits_scores(name: str, result: Any) -> np.ndarray:
    """Return scores of splits from a `cross_validate` result, a list, or a single number."""
    if isinstance(result, Mapping):
        if "test_score" not in result:
            raise ValueError(
                f"{name} must have the key 'test_score' if it is a result of cross_validate, got "
                f"{list(result)!r}. For several metrics, pass the scores of one, such as "
                "result['test_accuracy']."
            )
        result = result["test_score"]
    with _checks.naming(name):
        values = np.atleast_1d(np.asarray(result, dtype=np.float64))
    if values.ndim != 1 or not values.size or np.isinf(values).any():
        raise ValueError(f"{name} must contain a finite score for each split, got {result!r}.")
    return values


def check_same_indices(results: Mapping[str, Any]) -> None:
    """Raise an error if results of `cross_validate` have different splits."""
    indices = {
        name: [*result["indices"]["train"], *result["indices"]["test"]]
        for name, result in results.items()
        if isinstance(result, Mapping) and result.get("indices") is not None
    }
    for name, parts in indices.items():
        other, first = next(iter(indices.items()))
        if len(parts) != len(first) or not all(map(np.array_equal, parts, first)):
            raise ValueError(
                f"{other} and {name} must have the same splits in the same order, got results of "
                "cross_validate with different indices."
            )


def choose_test(shape: tuple[int, ...], alpha: float) -> tuple[ComparisonTest, str]:
    """Return the test for a table of data sets and classifiers, and the reason for it."""
    # smallest corrected P-value that the signed-rank test can reach
    n, k = shape
    least = min(2.0 ** (1 - n) * k * (k - 1) / 2, 1.0)
    if least <= alpha:
        return "wilcoxon", "The default method compares the two models using only their own scores."
    few = f"On {n} data sets the smallest P-value of Wilcoxon's test is {least:.2g}"
    if k == 2:
        return "wilcoxon", f"{few}, so it cannot reject."
    return "nemenyi", f"{few}, so Nemenyi's test is used."


def read_score_table(
    scores: Any, missing: str
) -> tuple[tuple[str, ...], np.ndarray, tuple[str, ...], tuple[str, ...]]:
    """Return names, mean scores over splits, data sets, and those dropped for missing scores."""
    # long form, nested dicts, or a table with a row for each data set
    columns = getattr(scores, "columns", scores if isinstance(scores, Mapping) else ())
    if {"dataset", "classifier", "score"} <= set(map(str, columns)):
        datasets, names, means = _read_long(scores)
    elif isinstance(scores, Mapping):
        datasets, names, means = _read_nested(scores)
    else:
        names = datasets = []
        if hasattr(scores, "columns"):
            names = name_distinct("scores", scores.columns)
            datasets = name_distinct("scores", getattr(scores, "index", range(len(scores))))
        try:
            means = _checks.check_data("scores", scores, dtype=float, ensure_all_finite=NAN)
        except ValueError as error:
            raise ValueError(f"{str(error).rstrip('.')}. {FORMS}.") from error
        datasets = datasets or [f"data set {row}" for row in range(1, 1 + means.shape[0])]
        names = names or [f"classifier {column}" for column in range(1, 1 + means.shape[1])]

    # data sets without all scores are dropped, or raise an error
    if len(names) < 2:
        raise ValueError(f"scores must contain at least two classifiers, got {len(names)}.")
    lacks = np.isnan(means)
    kept = np.sum(~lacks, axis=1) >= (2 if missing == "keep" else len(names))
    if missing == "raise" and not kept.all():
        row, column = np.argwhere(lacks)[0]
        raise ValueError(
            f"scores must be complete, but {names[column]!r} has no score on {datasets[row]!r} "
            f"({lacks.sum()} missing in all). missing='drop' leaves out {np.sum(~kept)} of "
            f"{len(datasets)} data sets. missing='keep' keeps their other scores."
        )
    # each pair needs data sets with both scores
    present = (~lacks[kept]).astype(int)
    shared = present.T @ present
    if shared.min() < 2:
        first, second = np.argwhere(shared == shared.min())[0]
        raise ValueError(
            "scores must contain at least two data sets with scores of both models of each pair, "
            f"got {shared.min()} for {names[first]!r} and {names[second]!r}."
        )
    complete, dropped = (
        tuple(name for name, one in zip(datasets, mask, strict=True) if one)
        for mask in (kept, ~kept)
    )
    return tuple(names), means[kept], complete, dropped


NAN: Any = "allow-nan"
Table = tuple[list[str], list[str], np.ndarray]
"""Names of the data sets and of the classifiers, and the mean scores."""


def _read_nested(scores: Mapping[Any, Any]) -> Table:
    """Read a dict of data sets, each a dict of classifiers with scores of splits."""
    cells: dict[tuple[Any, Any], float] = {}
    for dataset, results in scores.items():
        if not isinstance(results, Mapping):
            raise TypeError(
                "scores must have a dict of classifiers for each data set, got "
                f"{type(results).__name__} for {dataset!r}. {FORMS}."
            )
        check_same_indices({f"scores[{dataset!r}][{key!r}]": results[key] for key in results})
        for name, result in results.items():
            cells[dataset, name] = float(read_splits_scores("scores", result).mean())
    names = dict.fromkeys(name for _, name in cells)
    means = np.array([[cells.get((row, name), np.nan) for name in names] for row in scores])
    return name_distinct("scores", scores), name_distinct("scores", names), means


def _read_long(table: Any) -> Table:
    """Read rows in arbitrary order. Names are sorted, and splits are paired by name."""
    values = _checks.check_data(
        "scores", table["score"], ensure_2d=False, dtype=float, ensure_all_finite=NAN
    )
    # without a column of splits, data set and classifier identify a row
    keys, advice = ["dataset", "classifier"], ", or a column 'split'"
    if "split" in getattr(table, "columns", table):
        keys, advice = [*keys, "split"], ""
    (datasets, names, *_), cells, places = spread_rows(
        {key: table[key] for key in keys}, values, advice
    )
    # mean over the splits, which all classifiers of a data set share
    present = np.zeros(cells.shape, dtype=bool)
    present[tuple(places)] = True
    shape = len(datasets), len(names), -1
    cells, read = cells.reshape(shape), present.reshape(shape)
    sizes = read.sum(axis=2)
    # a classifier needs every split that another one has on the same data set
    differs = ((sizes > 0) & (sizes < read.any(axis=1).sum(axis=1)[:, None])).any(axis=1)
    if differs.any():
        raise ValueError(
            "scores must have the same splits for all classifiers, got different splits on "
            f"{datasets[differs.argmax()]!r}."
        )
    with np.errstate(invalid="ignore"):  # data sets without a classifier
        means = np.where(read, cells, 0.0).sum(axis=2) / sizes
    return name_distinct("scores", datasets), name_distinct("scores", names), means


def read_items(scores: Any, groups: Any) -> tuple[dict[str, np.ndarray], Any]:
    """Return one column of scores for each model, and the groups of items."""
    if hasattr(scores, "columns") or isinstance(scores, Mapping):
        keys = list(scores if isinstance(scores, Mapping) else scores.columns)
        names = name_distinct("scores", keys)
        columns = {name: np.asarray(scores[key]) for name, key in zip(names, keys, strict=True)}
    else:
        values = _checks.check_data("scores", scores, dtype=float, ensure_all_finite=NAN)
        columns = {f"system {number}": column for number, column in enumerate(values.T, 1)}
    _checks.check_same_length(**{f"scores[{name!r}]": column for name, column in columns.items()})
    is_long = {"item", "system", "score"} <= set(columns)

    # take the columns named by groups out of the table
    names = [groups] if isinstance(groups, str) else groups
    by_name = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    if by_name and set(names) <= set(columns):
        kinds = {name: columns.pop(name) for name in names}
        for name, kind in kinds.items():
            _checks.check_complete(f"scores[{name!r}]", kind)
        groups = np.column_stack([kind.astype(str) for kind in kinds.values()])
    elif isinstance(groups, str) or (is_long and groups is not None):
        raise ValueError(f"groups must name columns of scores, {list(columns)}, got {groups!r}.")
    if not is_long:
        return columns, groups

    # in long form, items are identified by their groups and name
    _checks.check_complete("scores['item']", columns["item"])
    own = columns["item"].tolist()
    parts = [own] if groups is None else [*groups.T.tolist(), own]
    items = [" / ".join(map(str, part)) for part in zip(*parts, strict=True)]
    with _checks.naming("scores"):
        values = columns["score"].astype(float)
    rows = {"item": np.array(items, dtype=object), "system": columns["system"]}
    (listed, systems), table, (place, _) = spread_rows(rows, values)
    if len(items) < table.size:
        item, system = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(
            f"scores must have one score for each item and model, got none for item "
            f"{listed[item]} by {systems[system]!r}."
        )
    # the group of each item, in the order of the table
    if groups is not None:
        groups = groups[np.unique(place, return_index=True)[1]]
    return dict(zip(name_distinct("scores", systems), table.T, strict=True)), groups


def check_items(columns: Mapping[str, np.ndarray]) -> None:
    """Raise an error if a score of an item is missing, or a column is an identifier."""
    for name, column in columns.items():
        # a column with text contains no scores
        is_id = any(isinstance(value, str | bytes) for value in column.tolist())
        if not is_id:
            with _checks.naming(f"scores[{name!r}]"):
                values = np.asarray(column, dtype=float)
            if not np.isfinite(values).all():
                row = int(np.argmin(np.isfinite(values)))
                raise ValueError(
                    f"scores[{name!r}] must be finite, got {values[row]} in row {row}. Leave out "
                    "the item for all models, or score a missing answer as wrong."
                )
            # consecutive whole numbers
            is_id = len(values) > 2 and bool((np.diff(np.sort(values)) == 1).all())
        if is_id:
            raise ValueError(
                f"scores must contain numbers only, but the column {name!r} looks like "
                "identifiers or groups. Leave it out, or pass its name as groups=."
            )
