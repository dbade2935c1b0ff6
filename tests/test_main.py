"""The command line: words that no command understands, and the ways out of it."""

import subprocess
import sys

import pytest

import skeval
from skeval.__main__ import main


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["evaluate"],
        ["evaluate", "iris", "--folds", "x"],
        ["evaluat", "iris"],
        ["cluster"],
        ["cluster", "iris", "--algorithm", "dbscan"],
        ["cluster", "iris", "--repeats", "x"],
    ],
)
def test_bad_words_are_one_line_and_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


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


def test_words_are_read_before_anything_slow_is_imported():
    """The commands import scikit-learn where they use it: help and errors do without it."""
    code = (
        "import sys, types\n"
        "package = types.ModuleType('skeval')\n"
        f"package.__path__ = {list(skeval.__path__)!r}\n"
        "sys.modules['skeval'] = package\n"
        "from skeval.__main__ import make_parser\n"
        "make_parser().format_help()\n"
        "slow = {'sklearn', 'scipy', 'pandas', 'joblib', 'matplotlib'} & set(sys.modules)\n"
        "assert not slow, slow\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
