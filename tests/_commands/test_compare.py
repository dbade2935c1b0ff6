"""``skeval compare``: two files of predictions, and the exit status."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from helpers.html import Document

from skeval.__main__ import main


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Predictions of 1,000 samples, right in 90, 90 and 80 %."""
    folder, rng = tmp_path_factory.mktemp("files"), np.random.default_rng(0)
    truth = rng.integers(0, 2, 1000)
    paths = {}
    for name, share in {"old": 0.9, "same": 0.9, "bad": 0.8}.items():
        predicted = np.where(rng.random(1000) < share, truth, 1 - truth)
        rows = [f"{'ny'[a]},{'ny'[b]}" for a, b in zip(truth, predicted, strict=True)]
        path = folder / f"{name}.csv"
        path.write_text("\n".join(["target,prediction", *rows]))
        paths[name] = str(path)
    return paths


@pytest.mark.parametrize(
    ("new", "margin", "status"),
    [
        ("same", None, 0),
        ("bad", None, 1),
        ("same", "0.05", 0),
        ("same", "0.001", 1),
        ("bad", "0.05", 1),
    ],
)
def test_the_status_is_one_if_the_second_is_worse(files, new, margin, status, tmp_path, capsys):
    out = tmp_path / "out.json"
    words = ["compare", files["old"], files[new], "--json", str(out)]
    assert main(words + ([] if margin is None else ["--margin", margin])) == status
    numbers = json.loads(out.read_text())
    assert numbers["passed"] == (status == 0)
    assert numbers["alternative"] == ("worse" if margin is None else "non-inferiority")
    assert numbers["margin"] == (None if margin is None else float(margin))
    assert ("pvalue_noninferior" in numbers) == (margin is not None)
    assert f"{new}.csv - old.csv" in capsys.readouterr().out


def test_files_that_differ_in_their_samples_are_refused(files, tmp_path, capsys):
    other = tmp_path / "other.csv"
    other.write_text("target,prediction\nn,n\ny,n\n")
    assert main(["compare", files["old"], str(other)]) == 2
    assert f"{files['old']} has 1000 rows and {other} 2" in capsys.readouterr().err
    assert main(["compare", files["old"], files["bad"], "--prediction", "p"]) == 2
    assert "no column 'p' for --predictions (did you mean" in capsys.readouterr().err


def test_rows_of_one_object_and_columns_in_other_places_get_a_remedy(tmp_path, capsys):
    y, paths = np.repeat(["no", "yes"], 20), [str(tmp_path / f"{k}.csv") for k in range(2)]
    p = np.random.default_rng(0).random(40).round(3)
    table = pd.DataFrame({"patient": np.arange(40) // 2, "target": y, "prediction": p})

    def explain(other, *words):
        table.to_csv(paths[0], index=False)
        other.to_csv(paths[1], index=False)
        for order in (paths, paths[::-1]):
            assert main(["compare", *order, *words]) == 2
            yield capsys.readouterr().err

    for said in explain(table, "--id", "patient"):
        assert "--groups patient instead of --id" in said
    for said in explain(table.iloc[:30].drop_duplicates("patient"), "--groups", "patient"):
        assert "instead of --id" not in said
    for said in explain(table.assign(target=p, prediction=y)):
        assert f"{paths[1]} seems to have the target in --predictions" in said
    for said in explain(table.assign(target=(y == "yes") * 1)):
        assert "differently" in said
    for said in explain(table.assign(target=y[::-1])):
        assert "differently" in said
    for said in explain(table.assign(target=np.roll(y, 3))):
        assert "differently" not in said
        assert "seems to" not in said


def test_equal_predictions_are_not_worse_by_any_margin(files, capsys):
    assert main(["compare", files["old"], files["old"], "--margin", "0.001"]) == 0
    printed = capsys.readouterr().out
    assert "the same predictions" in printed
    assert "undefined" not in printed


@pytest.mark.parametrize("metric", ["f1", "recall_score"])
def test_the_class_of_a_metric_of_one_class_is_named(metric, tmp_path, capsys):
    y, paths = np.repeat(["cat", "dog"], [30, 40]), [str(tmp_path / f"{k}.csv") for k in range(2)]
    for path, rows in zip(paths, [[0, 1, 45], [2, 50, 51, 52]], strict=True):
        predicted = y.copy()
        predicted[rows] = np.where(y[rows] == "cat", "dog", "cat")
        pd.DataFrame({"target": y, "prediction": predicted}).to_csv(path, index=False)
    for label, other in (("dog", "cat"), ("cat", "dog")):
        main(["compare", *paths, "--metric", metric, "--pos-label", label])
        printed = " ".join(capsys.readouterr().out.split())
        assert f"class is {label!r}. --pos-label {other}" in printed


@pytest.mark.parametrize("margin", ["1", "100%", "0", "-0.1", "nan", "5 %%"])
def test_a_margin_that_allows_everything_is_refused(files, margin, capsys):
    try:
        status = main(["compare", files["old"], files["bad"], "--margin", margin])
    except SystemExit as stop:  # by the parser
        status = stop.code
    assert status == 2
    assert "must be " in capsys.readouterr().err


def test_a_margin_may_be_a_percentage(files, capsys):
    assert main(["compare", files["old"], files["same"], "--margin", "5%"]) == 0


@pytest.mark.parametrize("key", ["id", "patient_id", "code"])
def test_rows_are_joined_by_a_column_of_names(files, key, tmp_path, capsys):
    frames, paths, rng = {}, {}, np.random.default_rng(0)
    for name in ("old", "bad"):
        frame = pd.read_csv(files[name])
        frames[name] = frame.assign(**{key: [f"p{k}" for k in range(len(frame))]})
    order = rng.permutation(1000)
    for name, frame in (("old", frames["old"]), ("bad", frames["bad"].iloc[order])):
        paths[name] = str(tmp_path / f"{name}.csv")
        frame.to_csv(paths[name], index=False)
    assert main(["compare", files["old"], files["bad"]]) == 1
    expected = capsys.readouterr().out.replace("their order", f"the column {key!r}")
    words = ["compare", paths["old"], paths["bad"]]
    if key == "code":
        assert main(words) == 2
        error = capsys.readouterr().err
        assert "the target 'target' differs in 478 of 1000 rows: row 1 of" in error
        assert "Sort both files alike, or pass --id COLUMN" in error
        words += ["--id", "code"]
    assert main(words) == 1
    assert capsys.readouterr().out == expected
    frames["bad"].iloc[1:].to_csv(paths["bad"], index=False)
    assert main(words) == 2
    error = capsys.readouterr().err
    assert f"bad.csv has no rows with 'p0', as in row 1 of {paths['old']}" in error


def test_repeated_names_in_another_order_are_refused_unless_a_column_matches_rows(tmp_path, capsys):
    first, paths = np.arange(40) // 2, [str(tmp_path / f"{k}.csv") for k in range(2)]
    table = pd.DataFrame({"patient_id": first, "id": range(40), "target": first // 10})
    other = table.iloc[[*range(19, -1, -1), *range(20, 40)]]  # the same targets by position
    for left_out, status in (["id"], 2), (["patient_id", "id"], 0), ([], 0):
        for path, frame in zip(paths, (table, other), strict=True):
            frame.assign(prediction=1).drop(columns=left_out).to_csv(path, index=False)
        assert main(["compare", *paths]) == status
        said = f"'patient_id' in another order: row 1 of {paths[0]} has '0', and of {paths[1]} has"
        assert (said in capsys.readouterr().err) == (status == 2)


def test_probabilities_are_compared_by_brier_score_and_area(tmp_path, capsys):
    rng, paths = np.random.default_rng(0), []
    truth = rng.integers(0, 2, 300)
    for name, noise in {"old": 0.2, "new": 0.8}.items():
        score = 1 / (1 + np.exp(-3 * (truth - 0.5 + noise * rng.normal(size=300))))
        paths.append(str(tmp_path / f"{name}.csv"))
        pd.DataFrame({"target": truth, "prediction": score}).to_csv(paths[-1], index=False)
    assert main(["compare", *paths]) == 1
    printed = capsys.readouterr().out
    assert "brier_score, permutation" in printed
    assert "roc_auc, delong" in printed
    assert "only two values" not in printed
    assert main(["compare", *paths, "--metric", "roc_auc"]) == 1
    assert "brier" not in capsys.readouterr().out


@pytest.mark.parametrize("place", [0, 1])
def test_labels_beside_probabilities_are_said(place, tmp_path, capsys):
    truth, paths = np.arange(60) % 2, []
    score = np.random.default_rng(0).uniform(size=60)
    for number in range(2):
        paths.append(str(tmp_path / f"{number}.csv"))
        guess = (score > 0.5).astype(int) if number == place else score
        pd.DataFrame({"target": truth, "prediction": guess}).to_csv(paths[-1], index=False)
    main(["compare", *paths])
    said = " ".join(capsys.readouterr().out.split())
    assert f"note: {paths[place]} contains only two values" in said
    assert f"note: {paths[1 - place]} contains" not in said
    main(["compare", *paths, "--metric", "roc_auc"])
    assert "only two values" not in capsys.readouterr().out  # the warning of the area is enough
    main(["compare", paths[place], paths[place]])
    assert "only two values" not in capsys.readouterr().out


def test_a_missing_file_is_an_error(files, capsys):
    assert main(["compare", files["old"], "missing.csv"]) == 2
    assert "'missing.csv' does not exist" in capsys.readouterr().err


@pytest.mark.parametrize("column", ["target", "prediction"])
def test_missing_values_are_refused(column, files, tmp_path, capsys):
    frame = pd.read_csv(files["old"])
    frame.loc[3, column] = None
    frame.to_csv(tmp_path / "gap.csv", index=False)
    assert main(["compare", str(tmp_path / "gap.csv"), str(tmp_path / "gap.csv")]) == 2
    assert "has no value in row 4" in capsys.readouterr().err


def test_numbers_are_read_with_their_marks_and_compared_by_a_loss(tmp_path, capsys):
    rng, paths = np.random.default_rng(0), []
    truth = rng.normal(size=200)
    for name, spread in {"old": 0.1, "new": 0.5}.items():
        frame = pd.DataFrame({"target": truth, "prediction": truth + spread * rng.normal(size=200)})
        paths.append(str(tmp_path / f"{name}.csv"))
        frame.to_csv(paths[-1], sep=";", decimal=",", index=False, encoding="utf-16")
    words = ["compare", *paths, "--encoding", "utf-16", "--decimal", ","]
    assert main(words) == 2
    assert "--metric must be passed for a numeric target" in capsys.readouterr().err
    for metric in ("mean_absolute_error", "neg_mean_absolute_error"):
        assert main([*words, "--metric", metric]) == 1
        printed = capsys.readouterr().out
        assert "mean_absolute_error, permutation" in printed
        assert "new.csv - old.csv" in printed


@pytest.mark.parametrize("kind", ["labels", "rare labels", "probabilities", "numbers"])
def test_the_page_has_the_comparison_of_the_gate(kind, tmp_path, capsys):
    rng, paths = np.random.default_rng(0), []
    truth = rng.random(400) < (0.1 if kind == "rare labels" else 0.4)
    for name, noise in {"old": 0.2, "new": 0.8}.items():
        score = 1 / (1 + np.exp(-3 * (truth - 0.5 + noise * rng.normal(size=400))))
        score = score > 0.5 if "labels" in kind else score
        target = truth + rng.normal(size=400) if kind == "numbers" else truth.astype(int)
        paths.append(str(tmp_path / f"{name}.csv"))
        frame = pd.DataFrame({"target": target, "prediction": score * 1})
        frame = frame if kind != "numbers" else frame.assign(target=truth * 1.5)
        frame.to_csv(paths[-1], index=False)
    margin = "0.05" if kind == "numbers" else "5%"
    words = ["compare", *paths, "--margin", margin, "--json", str(tmp_path / "a.json")]
    words += ["--html", str(tmp_path / "a.html"), "--markdown", str(tmp_path / "a.md")]
    assert main(words + ["--metric", "mean_absolute_error"] * (kind == "numbers")) == 1
    gate, page = json.loads((tmp_path / "a.json").read_text()), (tmp_path / "a.html").read_text()
    text, printed = (tmp_path / "a.md").read_text(), capsys.readouterr().out
    for name in ("a.html", "a.md"):
        assert f"written to {tmp_path / name}" in printed
    for written in (Document(page).text, text.replace("\\", "")):
        assert "new.csv compared with old.csv" in written
        assert "Exit status 1" in written
    # the difference and its P-value are those that are printed and tested
    assert f"{gate['value']:.4f}".lstrip("-") in text
    pvalue = gate["pvalue"]
    assert (r"P \< 0.001" if pvalue < 0.001 else f"P = {pvalue:#.2g}") in text
    assert "figure" in page


def test_systems_that_differ_in_two_of_many_rows_pass_a_margin_beyond_their_interval(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    old = np.where(rng.random(400) < 0.8, y, 1 - y)
    new = old.copy()
    new[np.flatnonzero(old == y)[:2]] = 1 - new[np.flatnonzero(old == y)[:2]]
    for name, values in (("old", old), ("new", new)):
        frame = pd.DataFrame({"target": y, "prediction": values})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    words = ["compare", str(tmp_path / "old.csv"), str(tmp_path / "new.csv"), "--margin"]
    assert [main([*words, margin]) for margin in ("2%", "0.02", "1%", "0.001")] == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("words", "named"), [(["--metric", "auc"], "'roc_auc'"), ([], "--metric mean_absolute_error")]
)
def test_metrics_of_numbers_and_their_margins_are_named(tmp_path, capsys, words, named):
    y = np.random.default_rng(0).normal(size=40)
    frame = pd.DataFrame({"target": y, "prediction": y + 0.1})
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert main(["compare", str(tmp_path / "a.csv"), str(tmp_path / "a.csv"), *words]) == 2
    assert named in capsys.readouterr().err


def write_pair(folder, **columns):
    """Write a.csv and, with other columns, b.csv, of the same 40 samples. Return the words."""
    base = {
        "id": [f"p{k}" for k in range(40)],
        "target": np.arange(40) % 2,
        "prediction": np.arange(40) % 2 ^ (np.arange(40) < 6),
    }
    for name, own in {"a": {}, "b": columns}.items():
        pd.DataFrame(base | own).to_csv(folder / f"{name}.csv", index=False)
    return ["compare", str(folder / "a.csv"), str(folder / "b.csv")]


@pytest.mark.parametrize(
    ("columns", "parts"),
    [
        (
            {"id": ["p0", "p2", "p0", *map(str, range(37))]},
            ["'id'", "a.csv has no rows with '0'", "row 4 of ", "b.csv", "--id COLUMN"],
        ),
        ({"id": ["p0", "p0", *(f"p{k}" for k in range(2, 40))]}, ["2 rows with 'p0'", "b.csv"]),
        ({"id": [f"q{k}" for k in range(40)]}, ["a.csv", "'q0'", "row 1 of ", "no rows"]),
        ({"target": np.arange(40) % 2 + 1}, ["'target'", "has 0", "has 1", "40 of 40 rows"]),
        ({"target": ["no", "yes"] * 20}, ["'target'", "has 0", "has 'no'"]),
        ({"target": [1, 1] + [0, 1] * 19}, ["row 1", "has 0", "has 1", "1 of 40 rows"]),
        ({"prediction": [1, 2] * 20}, ["b.csv", "0 and 1", "1 and 2"]),
        ({"prediction": ["No", "Yes"] * 20}, ["b.csv", "0 and 'No'"]),
        ({"prediction": [2.5, 97.0] * 20}, ["not all between 0 and 1", "--metric roc_auc"]),
    ],
)
def test_an_error_names_the_file_the_column_the_row_and_the_values(
    tmp_path, capsys, columns, parts
):
    assert main(write_pair(tmp_path, **columns)) == 2
    error = capsys.readouterr().err
    assert [part for part in parts if part not in error] == []


def test_a_file_without_rows_is_named(tmp_path, capsys):
    words = write_pair(tmp_path)
    (tmp_path / "b.csv").write_text("id,target,prediction\n")
    assert main(words) == 2
    assert "b.csv must contain at least two rows" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--target", "--predictions", "--prediction"])
@pytest.mark.parametrize("numbers", [False, True])
def test_an_identifier_is_neither_a_target_nor_a_prediction(tmp_path, capsys, option, numbers):
    words = write_pair(tmp_path, score=np.linspace(0, 1, 40))
    if numbers:
        for path in words[1:]:
            pd.read_csv(path).assign(id=np.arange(40)).to_csv(path, index=False)
    assert main([*words, option, "id"]) == 2
    error = capsys.readouterr().err
    assert "names 'id', which identifies the rows" in error
    assert f"columns are '{'prediction' if option == '--target' else 'target'}'" in error


@pytest.mark.parametrize("words", [["yes", "no"], ["ill", "well"]])
def test_two_classes_with_names_are_compared_as_0_and_1(tmp_path, words):
    """The probabilities refer to the second class in sorted order, or to --pos-label."""
    rng, results = np.random.default_rng(0), []
    truth = np.arange(80) % 2
    scores = {name: 0.2 + 0.6 * (truth + 0.5 * rng.random(80) > 0.7) for name in "ab"}
    scores["b"] = np.where(rng.random(80) < 0.2, 1 - scores["b"], scores["b"])
    names = sorted(words)
    for coded, more in ((truth, []), (np.take(names, truth), []), (np.take(names, 1 - truth), [0])):
        for name, score in scores.items():
            frame = pd.DataFrame({"target": coded, "prediction": score})
            frame.to_csv(tmp_path / f"{name}.csv", index=False)
        files = [str(tmp_path / f"{name}.csv") for name in "ab"]
        positive = [word for place in more for word in ("--pos-label", names[place])]
        for metric in ("brier_score_loss", "roc_auc"):
            out = ["--metric", metric, "--json", str(tmp_path / "out.json")]
            main(["compare", *files, *out, *positive])
            results.append(json.loads((tmp_path / "out.json").read_text())["value"])
    np.testing.assert_allclose(np.reshape(results, (3, 2)), [results[:2]] * 3)


@pytest.mark.parametrize("named", [False, True])
def test_groups_widen_the_interval_and_both_scores_are_in_the_result(tmp_path, capsys, named):
    """Ten copies of each of 60 samples are 60 patients, not 600 samples."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 10)
    truth = rng.integers(0, 2, 60)[patient]
    for name, noise in {"a": 0.5, "b": 1.0}.items():
        score = 1 / (1 + np.exp(-(2 * truth - 1 + noise * rng.normal(size=60)[patient])))
        frame = pd.DataFrame({"patient": patient, "target": truth, "prediction": score})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        if name == "b":
            frame.assign(patient=patient[::-1]).to_csv(tmp_path / "c.csv", index=False)
    words = ["compare", str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    words += ["--json", str(tmp_path / "out.json")] + ["--metric", "brier_score_loss"] * named
    results = []
    for more in ([], ["--groups", "patient"]):
        main([*words, *more])
        assert ("Pass --groups patient" in " ".join(capsys.readouterr().out.split())) == (not more)
        results.append(json.loads((tmp_path / "out.json").read_text()))
    alone, grouped = results
    assert grouped["n_groups"] == 60
    assert grouped["value"] == pytest.approx(alone["value"])
    assert grouped["high"] - grouped["low"] > 2 * (alone["high"] - alone["low"])
    assert grouped["metric"] == "brier_score"
    scores = {}
    for name in ("a.csv", "b.csv"):
        frame = pd.read_csv(tmp_path / name)
        scores[name] = pytest.approx(np.mean((frame["target"] - frame["prediction"]) ** 2))
    assert grouped["scores"] == scores
    words[2] = str(tmp_path / "c.csv")
    assert main([*words, "--groups", "patient"]) == 2
    assert "column 'patient' differs" in capsys.readouterr().err
    # rows that an identifier matches take their groups with them
    order, words[2] = rng.permutation(600), str(tmp_path / "b.csv")
    for name in ("a", "b"):
        frame = pd.read_csv(tmp_path / f"{name}.csv").assign(id=np.arange(600))
        frame = frame if name == "a" else frame.iloc[order]
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    assert main([*words, "--groups", "patient"]) in (0, 1)
    assert json.loads((tmp_path / "out.json").read_text()) == grouped


@pytest.mark.parametrize("better_area", [True, False])
def test_the_metric_that_decides_is_named_and_so_is_an_area_that_differs(
    better_area, tmp_path, capsys
):
    """Probabilities near 1 / 2 have a large Brier score, however well they rank."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 600)
    sharp = 1 / (1 + np.exp(-(3 * truth - 1.5 + rng.normal(size=600))))
    vague = 0.5 + 0.01 * (2 * truth - 1 + (0.1 if better_area else 9) * rng.normal(size=600))
    for name, score in {"a": sharp, "b": vague}.items():
        frame = pd.DataFrame({"target": truth, "prediction": score})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    files = [str(tmp_path / f"{name}.csv") for name in "ab"]
    for paths, status in ((files, 1), (files[::-1], 0)):
        assert main(["compare", *paths]) == status
        notes = " ".join(capsys.readouterr().out.split()).partition("note: ")[2]
        first = notes.partition(" note: ")[0]
        assert f"exit status {status}: brier_score decides" in first
        assert ("although the area under the ROC curve is" in first) == better_area
        assert "--metric" in first


def test_a_collapse_of_the_ranking_is_noted_though_the_brier_score_decides(tmp_path, capsys):
    rng = np.random.default_rng(0)
    truth = (rng.random(300) < 0.15).astype(int)
    p = (1 / (1 + np.exp(2 - truth - rng.normal(size=300)))) ** 0.75
    for name, score in {"a": p, "b": np.full(300, truth.mean())}.items():
        frame = pd.DataFrame({"target": truth, "prediction": score})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    words = ["compare", *(str(tmp_path / f"{name}.csv") for name in "ab")]
    for more in ([], ["--margin", "0.5"]):
        assert main([*words, *more]) == 0
        note = " ".join(capsys.readouterr().out.split()).split("note: ")[1]
        assert "is significantly worse (P < 0.001). --metric roc_auc" in note
        assert ("--margin 0.01" in note) == (not more)
    assert main([*words, "--metric", "roc_auc"]) == 1


@pytest.mark.parametrize(
    ("names", "is_numeric"),
    [
        (["brier_score", "brier_score_loss", "neg_brier_score", None], False),
        (["roc_auc", "roc_auc_score"], False),
        (["r2", "r2_score"], True),
        (["mean_absolute_error", "neg_mean_absolute_error"], True),
    ],
)
def test_a_metric_has_one_name_which_is_accepted(tmp_path, capsys, names, is_numeric):
    rng, record = np.random.default_rng(0), tmp_path / "out.json"
    y = rng.normal(size=80) if is_numeric else rng.integers(0, 2, 80)
    for name in "ab":
        p = y + rng.normal(size=80) if is_numeric else rng.random(80)
        frame = pd.DataFrame({"target": y, "prediction": p, "patient": np.arange(80) // 2})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    words = ["compare", *(str(tmp_path / f"{name}.csv") for name in "ab"), "--json", str(record)]
    for name in names:
        for more in ([], ["--groups", "patient"]):
            assert main([*words, *more, *(["--metric", name] if name else [])]) in (0, 1)
            assert json.loads(record.read_text())["metric"] == names[0]
            printed = capsys.readouterr().out
            assert printed.startswith(f"{names[0]}, ")
            assert f": {names[0]} decides" in printed
    page = tmp_path / "page.md"  # the models have the names of the files
    assert main([*words, "--metric", names[0], "--markdown", str(page)]) in (0, 1)
    assert {"a.csv", "b.csv"} <= {*re.findall(r"^\| (\S+) +\|", page.read_text(), re.MULTILINE)}


@pytest.mark.parametrize(
    ("metric", "is_bounded"), [("r2", True), ("mean_absolute_error", False), ("r2_score", True)]
)
def test_a_margin_in_percent_is_for_metrics_with_a_largest_value(
    tmp_path, capsys, metric, is_bounded
):
    rng = np.random.default_rng(0)
    y = rng.normal(size=80)
    for name in "ab":
        frame = pd.DataFrame({"target": y, "prediction": y + rng.normal(size=80)})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    words = ["compare", *(str(tmp_path / f"{name}.csv") for name in "ab"), "--metric", metric]
    assert main([*words, "--margin", "0.05"]) in (0, 1)
    assert (main([*words, "--margin", "5%"]) in (0, 1)) == is_bounded
    error = capsys.readouterr().err
    assert is_bounded or main([*words, *error.split("is ")[-1].strip(" .\n").split()]) in (0, 1)


def test_two_columns_of_a_file_are_left_to_evaluate(capsys):
    with pytest.raises(SystemExit):
        main(["compare", "a.csv", "b.csv", "--predictions", "one", "two"])
    assert "evaluate DATA --target COLUMN --predictions one two?" in capsys.readouterr().err


def test_labels_instead_of_scores_are_noted(tmp_path, capsys):
    words = write_pair(tmp_path, prediction=np.arange(40) % 2 ^ (np.arange(40) < 9))
    assert main([*words, "--metric", "roc_auc"]) in (0, 1)
    assert "a single point of the curve" in capsys.readouterr().out


@pytest.mark.parametrize("same", [True, False])
def test_the_result_names_the_files_as_the_text_does(tmp_path, capsys, same):
    words = write_pair(tmp_path, prediction=np.arange(40) % 2 ^ (np.arange(40) < 9))
    if same:
        (tmp_path / "new").mkdir()
        words[2] = str((tmp_path / "b.csv").rename(tmp_path / "new" / "a.csv"))
    main([*words, "--json", str(tmp_path / "out.json")])
    result, names = json.loads((tmp_path / "out.json").read_text()), ("A", "B")
    names = names if same else ("a.csv", "b.csv")
    assert (result["a"], result["b"]) == names
    difference = f"{names[1]} - {names[0]}"
    assert result["name"] == f"accuracy: {difference}"
    assert result["value"] == pytest.approx(-3 / 40)
    assert difference in capsys.readouterr().out
