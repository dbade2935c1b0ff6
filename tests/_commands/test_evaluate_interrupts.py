"""What stands where Ctrl-C stops an evaluation, and what the command line prints then."""

import json

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.outcomes import without_progress
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, StratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB

import skeval
from skeval.__main__ import main
from skeval._adapters.runner import BlockSolver

FIVE = RepeatedStratifiedKFold(n_splits=4, n_repeats=5, random_state=0)
N_REST = 1 + 2
"""The training error, two fits of the check whether the model learns from its labels."""


class Counted(GaussianNB):
    """A classifier that counts its fits; Ctrl-C comes in one of them."""

    n_fits, last = 0, None

    def fit(self, X, y, sample_weight=None):
        Counted.n_fits += 1
        if Counted.n_fits == Counted.last:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 30)
    return rng.normal(size=(60, 2)) + y[:, None], y


def evaluate_until(last, *data, cv=4, **options):
    """Return the report, whole or of what was done before a fit was interrupted."""
    Counted.n_fits, Counted.last = 0, last
    try:
        return skeval.evaluate(Counted(), *data, cv=cv, random_state=0, **options)
    except KeyboardInterrupt as stop:
        return getattr(stop, "report", None)


@pytest.mark.parametrize("cv", [4, FIVE], ids=["adaptive", "given"])
def test_what_is_done_is_reported_wherever_it_is_stopped(data, cv):
    whole = evaluate_until(None, *data, cv=cv)
    n_main = whole.answer.extra.n_fits
    of_all = n_main // 4 if cv is FIVE else 10
    assert n_main == 20 if cv is FIVE else 8 <= n_main < 40
    assert Counted.n_fits == n_main + N_REST
    for last in [4, 5, n_main - 3, n_main, n_main + 1, n_main + N_REST]:
        report = evaluate_until(last, *data, cv=cv)
        assert Counted.n_fits == last
        if last == 4:
            assert report is None
            continue
        n_repeats = min(n_main, last - 1) // 4
        assert report.warnings[0].code == "interrupted"
        assert report.answer.extra.n_fits == 4 * n_repeats
        np.testing.assert_array_equal(report.answer.replicates, whole.answer.replicates[:n_repeats])
        if n_repeats == n_main // 4:
            assert report.answer.to_dict() == whole.answer.to_dict()
        else:
            assert f"after {n_repeats} of {of_all} repeats" in report.warnings[0].evidence
        for each in report.estimates.values():
            if cv is FIVE and each.method == "cross_validation":  # of the repeats that are done
                assert each.value == pytest.approx(report.answer.value)
            else:
                assert each.to_dict() == whole[each.method].to_dict()
        json.loads(report.to_json())
        assert "interrupted" in str(report)
    assert "nterrupted" in report.to_html()


def test_a_stop_within_fits_that_a_solver_does_loses_a_block(data, monkeypatch):
    monkeypatch.setattr("skeval._adapters.runner.MAX_ELEMENTS", 600)
    n_blocks, solve = 0, BlockSolver.solve

    def stop_in_the_second(solver, block):
        nonlocal n_blocks
        n_blocks += 1
        if n_blocks == 2:
            raise KeyboardInterrupt
        return solve(solver, block)

    monkeypatch.setattr(BlockSolver, "solve", stop_in_the_second)
    with pytest.raises(KeyboardInterrupt) as stop:
        skeval.evaluate(LogisticRegression(), *data, cv=FIVE, random_state=0)
    report = stop.value.report
    assert report.answer.extra.n_fits == 8
    assert "after 2 of 5 repeats" in report.warnings[0].evidence


def test_a_stop_behind_the_fits_loses_nothing(data, monkeypatch):
    calls = []

    def stop_once(*args, **options):
        calls.append(args)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return []

    monkeypatch.setattr("skeval.report._data_checks.run_checks", stop_once)
    report = evaluate_until(None, *data)
    assert len(report.estimates) == 2
    assert report.warnings[0].code == "interrupted"


@each_value
@pytest.mark.parametrize(
    "cv",
    [
        list(KFold(5).split(np.zeros(60))),
        KFold(5),
        StratifiedKFold(3, shuffle=True, random_state=1),
        TimeSeriesSplit(3),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_folds_that_are_given_are_fitted_once(data, cv, weighted):
    """The row of cross-validation is that of `cross_val_error`, of the fits of the answer."""
    weight = np.arange(1.0, 61) if weighted else None
    options = {"include": ["cross_validation"], "sample_weight": weight}
    report = evaluate_until(None, *data, cv=cv, **options)
    assert Counted.n_fits == report.out_of_fold.n_fits + 1 + 2  # two of the check of the model
    found = skeval.model_selection.cross_val_error(
        Counted(), *data, cv=cv, sample_weight=weight, random_state=0
    )
    row = report["cross_validation"]
    assert row.value == pytest.approx(found.value, rel=1e-12)
    np.testing.assert_allclose(row.replicates, found.replicates)
    if report.out_of_fold.n_fits <= 10:
        first = evaluate_until(Counted.n_fits, *data, cv=cv, **options)
        assert first["cross_validation"].value == row.value


@pytest.mark.parametrize(("last", "done"), [(4, False), (11, True), (21, True)])
def test_the_command_prints_what_is_done(tmp_path, capsys, monkeypatch, last, done):
    table = np.column_stack([np.random.default_rng(0).normal(size=(60, 2)), np.tile([0, 1], 30)])
    path, page, out = tmp_path / "a.csv", tmp_path / "a.html", tmp_path / "a.json"
    np.savetxt(path, table, delimiter=",", header="a,b,target", comments="")
    monkeypatch.setattr("skeval._commands.evaluate.parse_path", lambda _: Counted())
    Counted.n_fits, Counted.last = 0, last
    words = ["evaluate", str(path), "--estimator", "m:C", "--cv", "4"]
    status = main([*words, "--html", str(page), "--json", str(out)])
    printed = capsys.readouterr()
    assert status == 130
    assert "Traceback" not in printed.err
    assert ("there is nothing to report yet" in printed.err) != done
    assert without_progress(printed.err).strip() == ""
    assert page.exists() == out.exists() == ("Estimated error" in printed.out) == done
    if done:
        assert "interrupted" in page.read_text()
        assert json.loads(out.read_text())["warnings"][0]["code"] == "interrupted"
