"""The command line: words that no command understands, and the ways out of it."""

import subprocess
import sys

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
        ("evaluate iris --bootstraps 0", "--bootstraps: must be 1 or more, got 0"),
        ("evaluate iris --permutations -1", "--permutations: must be 0 or more, got -1"),
        ("evaluate iris --select 0", "--select: must be 1 or more, got 0"),
        ("evaluate iris --confidence-level 95", "--confidence-level: must lie between 0 and 1"),
        ("evaluate iris --budget 0", "--budget: must be a number of seconds above 0, got '0'"),
        ("evaluate iris --budget soon", "must be a number of seconds above 0, got 'soon'"),
        ("evaluate iris --seed -1", "--seed: must be 0 or more, got -1"),
        ("evaluate iris --jobs 0", "--jobs: must not be 0"),
        ("cluster iris --repeats 1", "--repeats: must be 2 or more, got 1"),
    ],
)
def test_numbers_out_of_range_are_named(words, message, capsys):
    error = read_error(words.split(), capsys)
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("command", [[], ["evaluate"], ["cluster"]])
def test_help_names_the_choices(command, capsys):
    with pytest.raises(SystemExit) as caught:
        main([*command, "--help"])
    assert caught.value.code == 0
    printed = capsys.readouterr().out
    expected = {"": "cluster", "evaluate": "linear-svm", "cluster": "prediction_strength"}
    assert expected["".join(command)] in printed


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
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
