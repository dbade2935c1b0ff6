"""The command line: words that no command understands, and the ways out of it."""

import os
import subprocess
import sys
import zipfile
from contextlib import nullcontext

import numpy as np
import pytest

import skeval
from skeval.__main__ import main


def read_error(arguments, capsys):
    """Return what is printed where the words are refused before they are acted on."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["evaluate"],
        ["evaluate", "iris", "--cv", "x"],
        ["evaluat", "iris"],
        ["cluster"],
        ["cluster", "iris", "--algorithm", "dbscan"],
        ["cluster", "iris", "--repeats", "x"],
    ],
)
def test_bad_words_are_one_line_and_status_2(arguments, capsys):
    assert read_error(arguments, capsys).count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("evaluate iris --cv 1", "--cv: must be 2 or more, got 1"),
        ("evaluate iris --permutations -1", "--permutations: must be 0 or more, got -1"),
        ("evaluate iris --select 0", "--select: must be 1 or more, got 0"),
        ("evaluate iris --confidence-level 95", "--confidence-level: must lie between 0 and 1"),
        ("evaluate iris --budget 0", "--budget: must be a number of seconds above 0, got '0'"),
        ("evaluate iris --budget soon", "must be a number of seconds above 0, got 'soon'"),
        ("evaluate iris --seed -1", "--seed: must be 0 or more, got -1"),
        ("cluster iris --repeats 1", "--repeats: must be 2 or more, got 1"),
    ],
)
def test_numbers_out_of_range_are_named(words, message, capsys):
    error = read_error(words.split(), capsys)
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("number", ["0", "9999999999"])
def test_a_number_of_workers_out_of_range_is_named(number, capsys):
    assert main(["evaluate", "iris", "--jobs", number]) == 2
    assert "--jobs must be a nonzero integer" in capsys.readouterr().err


@pytest.mark.parametrize("command", [[], ["evaluate"], ["cluster"], ["compare"]])
def test_help_names_the_choices(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as caught:
        main([*command, "--help"])
    assert caught.value.code == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    expected = {"": "cluster", "evaluate": "linear-svm", "cluster": "by tests against data"}
    expected["compare"] = "exit status 2: an error"
    assert expected["".join(command)] in " ".join(printed.split())


def test_version(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.strip() == skeval.__version__


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--help"], 0),
        (["evaluate", "--help"], 0),
        (["evaluate", "iris", "--estimatr", "lda"], 2),
        (["evaluate", "absent.csv"], 2),
        (["evaluate", "iris", "--json", "/no/such/folder/f.json"], 2),
        (["cluster", "iris", "--k", "3:2"], 2),
    ],
)
def test_words_are_read_before_anything_slow_is_imported(arguments, status):
    code = (
        "import sys\n"
        "from skeval.__main__ import main\n"
        "try:\n"
        f"    status = main({arguments!r})\n"
        "except SystemExit as way_out:\n"
        "    status = way_out.code\n"
        f"assert status == {status}, status\n"
        "slow = {'numpy', 'sklearn', 'scipy', 'pandas', 'joblib'} & set(sys.modules)\n"
        "assert not slow, slow\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


LEAST = ["--cv", "2", "--include", "cross_validation"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_page_is_whole_or_not_written(error, tmp_path, capsys, monkeypatch):
    page = tmp_path / "page.html"
    page.write_text("the page of yesterday")

    def stop(*paths):
        raise error

    monkeypatch.setattr(os, "replace", stop)
    status = main(["evaluate", "iris", "--html", str(page), *LEAST])
    assert [file.read_text() for file in tmp_path.iterdir()] == ["the page of yesterday"]
    printed = capsys.readouterr()
    assert "Estimated error" in printed.out
    assert status == (130 if isinstance(error, KeyboardInterrupt) else 2)
    assert ("the report above" in printed.err) == (status == 130)
    assert ("No space left on device" in printed.err) == (status == 2)


def test_a_page_is_written_through_a_link(tmp_path):
    (tmp_path / "link.html").symlink_to(tmp_path / "page.html")
    assert main(["evaluate", "iris", "--html", str(tmp_path / "link.html"), *LEAST]) == 0
    assert (tmp_path / "link.html").is_symlink()
    assert "Estimated error" in (tmp_path / "page.html").read_text()
    assert sorted(os.listdir(tmp_path)) == ["link.html", "page.html"]


@pytest.mark.parametrize("closed", [True, False])
def test_a_closed_standard_output_is_no_traceback(closed):
    words = [sys.executable, "-m", "skeval", "evaluate", "iris", *LEAST]
    if closed:
        words = ["sh", "-c", '"$@" >&-', "sh", *words]
        done = subprocess.run(words, capture_output=True, text=True)
    else:  # the other end of a pipe is closed
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(words, stdout=write, stderr=subprocess.PIPE, text=True)
        os.close(write)
    assert done.returncode == (0 if closed else 1)
    assert "Traceback" not in done.stderr
    assert "rror" not in done.stderr


def test_arrays_beyond_the_memory_are_one_line(tmp_path, capsys):
    with zipfile.ZipFile(tmp_path / "big.npz", "w") as archive, archive.open("X.npy", "w") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**4)}
        np.lib.format.write_array_header_1_0(file, header)
    assert main(["cluster", str(tmp_path / "big.npz")]) == 2
    assert capsys.readouterr().err.startswith("skeval: error: not enough memory: ")


def test_an_installed_module_is_not_replaced_by_a_file_of_the_folder(tmp_path, capsys, monkeypatch):
    (tmp_path / "colorsys.py").write_text("model = None\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    assert main(["evaluate", "iris", "--estimator", "colorsys:model"]) == 2
    assert "module 'colorsys' has no attribute 'model'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["table.csv"], "skeval evaluate table.csv"),
        (["evaluate", "table"], "'table.csv'"),
        (["evaluate", "table.csv", "y"], "--target y"),
        (["evalute", "table.csv"], "'evaluate'"),
        (["evaluate", "table.csv", "--traget", "y"], "'--target'"),
        (["evaluate", "table.csv", "--drop", "a", "b"], '--drop "a b" or --drop a --drop b?'),
        (["evaluate", "table.csv", "--sep"], "--sep ';'"),
        (["evaluate", "table.csv", "--cv", "0.3"], "--include holdout"),
        (["cluster", "table.csv", "--estimator", "x"], "'--algorithm'"),
        (["cluster", "table.csv", "--absent", "x"], "skeval cluster --help"),
        (["compare", "a.csv", "b.csv", "--select", "3"], "skeval evaluate"),
        (["cluster", "table.csv", "--algorithm", "DBSCAN"], "evaluate_clusterer"),
        (["cluster", "table.csv", "--algorithm", "k-means"], "'kmeans'"),
    ],
)
def test_words_in_the_wrong_place_name_the_right_call(words, meant, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text("a,y\n1,2\n")
    with pytest.raises(SystemExit) if words != ["evaluate", "table"] else nullcontext():
        assert main(words) == 2
    assert meant in capsys.readouterr().err


def test_a_choice_is_never_mistaken_for_another_word_of_the_help(capsys):
    with pytest.raises(SystemExit):
        main(["evaluate", "iris", "--task", "regression"])
    assert "did you mean" not in capsys.readouterr().err
