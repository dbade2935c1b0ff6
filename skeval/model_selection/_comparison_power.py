"""Power and sample size of comparisons, by simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from skeval._inference.estimate import Curve, Result
from skeval._inference.intervals import Design, make_design, read_design
from skeval._inference.paired import mcnemar, tail_probability
from skeval._inference.ranks import signed_rank_pvalue
from skeval.model_selection._comparison import (
    Comparison,
    DatasetComparison,
    Difference,
    ReaderComparison,
    SplitComparison,
)
from skeval.utils._checks import RandomStateLike, check_option, repetition_rng, root_seed
from skeval.utils._compat import Interval, validate_params
from skeval.utils._text import DataFrame, align_text, fill_text, make_frame

MAX_TIMES = 1000
"""Maximum size of a simulated study, relative to the available samples."""

MAX_DATASETS = 2000
"""Maximum number of data sets of a simulated study."""

CLOSE = 0.05
"""Relative distance of two sizes at which the bisection stops."""

MIN_DATASETS = 5
"""Minimum size of a simulated study."""

ROUNDING = 1e-12
"""Tolerance for a difference of accuracies that equals the fraction of discordant samples."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ComparisonPower(Result):
    """Power of a comparison by the size of the study.

    Attributes
    ----------
    value : int or None
        Smallest size of at least 5 with the required power, to within 5 %. For scores of splits it
        is not below the available size, because models trained on fewer samples are different
        models. None if no simulated size has the power.
    method : str
        Test of each study, as in the comparison.
    unit : {"data sets", "samples"}
        Unit of the sizes.
    difference : float
        Assumed true difference.
    level : float
        Significance level of each study.
    power : float
        Required power.
    sizes : ndarray of shape (n_sizes,)
        Simulated sizes, in increasing order.
    powers : ndarray of shape (n_sizes,)
        Fraction of simulated studies of each size that detect the difference.
    n_simulations : int
        Number of simulated studies of each size.
    design : Design or None
        Groups of the samples: their `size`, and the within-group `correlation`.
    """

    value: int | None
    method: str
    unit: str
    difference: float
    level: float
    power: float
    sizes: np.ndarray
    powers: np.ndarray
    n_simulations: int = 1000
    design: Design | None = None

    @property
    def conclusion(self) -> str:
        """The conclusion and its limitations, in words."""
        if self.value is None:
            return (
                f"No study with up to {self.sizes[-1]} {self.unit} would detect a difference "
                f"of {self.difference:.4g} with a power of {self.power:g}."
            )
        if self.value == self.sizes[0] and self.value > MIN_DATASETS:
            return (
                f"The available {self.value} {self.unit} detect a difference of "
                f"{self.difference:.4g} with a power of {self.powers[0]:.2g}. Whether fewer "
                "would suffice is unknown, because models trained on fewer samples are "
                "different models. The true difference may be smaller: check the limits of its "
                "interval."
            )
        groups = "" if self.design is None else f", in {self.design.describe(self.value)},"
        return (
            f"About {self.value} {self.unit} like these{groups} would detect a difference of "
            f"{self.difference:.4g} with a power of {self.power:g}. The true difference may "
            "be smaller: check the limits of its interval."
        )

    def to_frame(self) -> DataFrame:
        """Return one row for each simulated size.

        Returns
        -------
        pandas.DataFrame
        """
        return make_frame({"size": self.sizes, "power": self.powers})

    def plot(self, ax: Any = None) -> Any:
        """Draw the power against the size; requires matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a figure.

        Returns
        -------
        display
        """
        name = f"power for a difference of {self.difference:.4g}"
        axes = f"number of {self.unit}", "power"
        return Curve(name=name, axes=axes, x=self.sizes, y=self.powers).plot(ax)

    def __str__(self) -> str:
        rows = [
            (f"{s} {self.unit}", f"{p:.3f}") for s, p in zip(self.sizes, self.powers, strict=True)
        ]
        title = f"power for a difference of {self.difference:.4g} at level {self.level:.3g}"
        return align_text(title, rows) + "\n" + fill_text(self.conclusion)


@validate_params(
    {
        "difference": [Real, None],
        "power": [Interval(Real, 0, 1, closed="neither")],
        "n_simulations": [Interval(Integral, 20, None, closed="left")],
        "random_state": ["random_state", Generator],
    }
)
def comparison_power(
    comparison: Comparison,
    *,
    pair: tuple[str, str] | None = None,
    difference: float | None = None,
    power: float = 0.8,
    n_simulations: int = 1000,
    group_size: float | None = None,
    intraclass_correlation: float | None = None,
    random_state: RandomStateLike = None,
) -> ComparisonPower:
    r"""Estimate the number of data sets, or samples, required to detect a difference.

    Studies of increasing size are simulated from an available result, and each is tested as the
    result was.

    Parameters
    ----------
    comparison : Comparison
        Available result. Over several data sets, their differences are drawn with replacement and
        two classifiers are compared by Wilcoxon's test. On one data set, "mcnemar" draws the
        numbers of samples that only one of them classifies correctly; the other methods draw the
        difference and its standard error, which decreases with the square root of the number of
        samples. Several pairs are tested at Bonferroni's level. A result with `groups` is extended
        by similar groups, with Student's t for the number of groups.
    pair : (str, str), default=None
        Names of the two to compare; None means the best two, or the only two in their order.
    difference : float, default=None
        Assumed true difference, such as the smallest one that matters to you. None means the
        observed difference, which is as uncertain as the result.
    power : float, default=0.8
        Required probability of detecting the difference.
    n_simulations : int, default=1000
        Simulated studies of each size; 1000 estimate a power of 0.8 with a margin of 0.025.
    group_size : float, default=None
        Number of samples per group of the study, if it differs from the available result or that
        has no groups; for unequal sizes m the mean over samples, :math:`\sum m^2 / \sum m`.
    intraclass_correlation : float, default=None
        Within-group correlation of the differences; None with `group_size` uses the one of
        the available result.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call.

    Returns
    -------
    result : ComparisonPower
        `value` is the required size, None if no simulated size has the power; `sizes` and `powers`
        are the simulated sizes and the share of studies that detect the `difference`, and
        `conclusion` is a sentence.

    Raises
    ------
    TypeError
        If `comparison` is not a `Comparison`.
    ValueError
        If a name is not one of those compared, the number of samples or the standard error is
        unknown, or groups are planned for a result without a variance between groups.

    Notes
    -----
    *Groups* of m samples with the within-group correlation :math:`\rho` multiply the variance of a
    difference by the design effect :math:`1 + (m - 1) \rho`.

    Whether models trained on more samples would differ by more or less is not predicted: for
    samples, this is the power of a larger test set, or of larger folds with unchanged models. The
    power for the *observed* difference contains no more information than its P-value.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.model_selection import comparison_power, compare_predictions
    >>> y = np.tile([0, 1], 50)
    >>> a, b = (np.where(np.arange(100) % n == 0, 1 - y, y) for n in (12, 8))
    >>> result = compare_predictions(y, [a, b], method="mcnemar")
    >>> print(comparison_power(result, n_simulations=200, random_state=0))
    power for a difference of 0.04 at level 0.05
      12 samples   0.000
      24 samples   0.005
      48 samples   0.055
      96 samples   0.160
      192 samples  0.320
      384 samples  0.590
      480 samples  0.665
      528 samples  0.725
      552 samples  0.730
      576 samples  0.825
      768 samples  0.875
      About 576 samples like these would detect a difference of 0.04 with a power of 0.8.
      The true difference may be smaller: check the limits of its interval.
    """
    if difference is not None and not np.isfinite(difference):
        raise ValueError(f"difference must be finite, got {difference!r}.")
    if not isinstance(comparison, Comparison):
        raise TypeError(f"comparison must be a Comparison, got {type(comparison).__name__}.")
    if isinstance(comparison, ReaderComparison):
        raise ValueError(
            "comparison must not be of several readers: reader_study_size plans readers and cases."
        )
    # the pair, by default the best two
    over_datasets = isinstance(comparison, DatasetComparison)
    if pair is None:
        best = comparison.order[:2].tolist()
        a, b = (comparison.names[at] for at in (best if over_datasets else sorted(best)))
    else:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or pair[0] == pair[1]:
            raise ValueError(f"pair must contain two names, got {pair!r}.")
        a, b = (check_option("pair", name, comparison.names) for name in pair)
    if isinstance(comparison, DatasetComparison):
        if group_size is not None or intraclass_correlation is not None:
            raise ValueError("group_size must be None for data sets, which are independent.")
        # draw the observed differences of data sets, shifted to the assumed difference
        first, second = (comparison.scores[:, comparison.names.index(name)] for name in (a, b))
        observed, estimate = first - second, comparison[a, b].value
        shifted = observed if difference is None else observed - estimate + difference
        study = _Study(
            "data sets",
            estimate if difference is None else float(difference),
            MIN_DATASETS,
            MIN_DATASETS,
            MAX_DATASETS,
            lambda size, rng: signed_rank_pvalue(rng.choice(shifted, size))[0],
        )
    else:
        groups = group_size, intraclass_correlation
        study = _plan_samples(comparison, comparison[a, b], difference, *groups)
    # power by size; the search simulates only the sizes that it needs
    level = comparison.level / len(comparison.differences)
    root, powers = root_seed(random_state), {}

    def simulate(size: int) -> float:
        rng = repetition_rng(root, size)
        pvalues = [study.draw_pvalue(size, rng) for _ in range(n_simulations)]
        # a missing P-value counts as no rejection
        powers[size] = float(np.mean(np.array(pvalues) <= level))
        return powers[size]

    n_needed = _search(simulate, power, study)
    sizes = sorted(powers)
    return ComparisonPower(
        value=n_needed,
        method=comparison.method,
        unit=study.unit,
        difference=study.difference,
        level=level,
        power=float(power),
        sizes=np.array(sizes),
        powers=np.array([powers[size] for size in sizes]),
        n_simulations=n_simulations,
        design=study.design,
    )


class _Study(NamedTuple):
    """Simulated study: its P-value by size, and the first, smallest and largest size."""

    unit: str
    difference: float
    first: int
    least: int
    most: int
    draw_pvalue: Callable[[int, Generator], float]
    design: Design | None = None


def _plan_samples(
    comparison: Comparison,
    result: Difference,
    difference: float | None,
    group_size: float | None,
    correlation: float | None,
) -> _Study:
    """Return studies with more or fewer samples or groups like the ones in the comparison."""
    n, error = result.n_samples, result.standard_error
    splits = comparison.split_scores if isinstance(comparison, SplitComparison) else None
    if n is None or not np.isfinite(error) or error == 0:
        raise ValueError(
            "comparison must have a number of samples and a standard error, got "
            f"n_samples={n!r} and standard_error={error!r}."
        )
    wanted = result.value if difference is None else float(difference)

    # the groups of the study, by default like those of the result, and the ratio of the variances
    is_given = group_size is not None or correlation is not None
    if is_given and (splits is not None or comparison.method in ("bootstrap", "permutation")):
        raise ValueError(
            f"group_size and intraclass_correlation must be None for method={comparison.method!r}, "
            "whose result does not say how it varies by groups; 'max_t', 'mcnemar' and 'delong' do."
        )
    together, n_groups = result.extra.intraclass_correlation, result.extra.n_groups
    if together is None or n_groups is None or splits is not None:
        design = read_design(group_size, correlation)
        times = 1.0 if design is None else design.effect
    elif isinstance(together, tuple):
        raise ValueError(
            "comparison must not be of crossed groups: a larger study may have more of either kind."
        )
    else:
        at_hand = Design(n / n_groups, float(together))
        design = make_design(
            at_hand.size if group_size is None else group_size,
            at_hand.correlation if correlation is None else correlation,
        )
        times = design.effect / at_hand.effect

    if result.extra.only_a is not None and design is None:
        # draw discordant samples: their observed fraction, split by the assumed difference
        discordant = ((result.extra.only_a or 0) + (result.extra.only_b or 0)) / n
        if not abs(wanted) <= discordant + ROUNDING:
            raise ValueError(
                f"difference must be <= {discordant:.4g} in size, the fraction of samples that one "
                f"of the two alone gets right, got {wanted!r}."
            )
        of_each = [(discordant + wanted) / 2, (discordant - wanted) / 2]
        cells = np.clip([*of_each, 1 - sum(of_each)], 0.0, 1.0)

        def draw_pvalue(size: int, rng: Generator) -> float:
            only_a, only_b, _ = rng.multinomial(size, cells).tolist()
            return mcnemar(only_a, only_b, size, result.alternative)[0].pvalue
    else:
        # draw the difference, and for splits or groups also its standard error
        variance = times * n * error**2
        freedom = np.inf if splits is None else len(splits) - 1.0

        def draw_pvalue(size: int, rng: Generator) -> float:
            degrees = freedom if design is None else size / design.size - 1
            error = np.sqrt(variance / size)
            spread = 1.0 if np.isinf(degrees) else np.sqrt(rng.chisquare(degrees) / degrees)
            statistic = rng.normal(wanted / error) / spread
            return tail_probability(statistic, result.alternative, degrees)

    # models trained on fewer samples of splits are different models
    least = MIN_DATASETS if design is None else max(MIN_DATASETS, int(np.ceil(2 * design.size)))
    first = max(least, n // 8) if splits is None else n
    smallest = least if splits is None else n
    return _Study(
        "samples", wanted, first, smallest, max(MAX_TIMES * n, least), draw_pvalue, design
    )


def _search(simulate: Callable[[int], float], power: float, study: _Study) -> int | None:
    """Return the smallest size with the required power, by doubling or halving and bisection."""
    first, least, most = study.first, study.least, study.most
    # double, or halve, until the power crosses the required one
    low, high = first, first
    if simulate(first) < power:
        while low == high or simulate(high) < power:
            if high == most:
                return None
            low, high = high, min(2 * high, most)
    else:
        while low == high and high > least:
            low = max(least, high // 2)
            if simulate(low) >= power:
                high = low
    # bisection to within 5 %
    while high - low > max(1, CLOSE * high):
        middle = (low + high) // 2
        if simulate(middle) < power:
            low = middle
        else:
            high = middle
    return high
