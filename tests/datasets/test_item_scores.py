"""Logs of harnesses in, rows of scores out, as the comparison of many systems takes them."""

import json

import numpy as np
import pytest

from skeval.datasets import load_item_scores
from skeval.model_selection import compare_predictions

RNG = np.random.default_rng(0)


def line(doc_id, filter_name="none", **metrics):
    """Return a line as lm-evaluation-harness writes it."""
    return {
        "doc_id": doc_id,
        "doc": {"question": "2 + 2?", "answer": "4"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": "2 + 2?", "arg_1": {"until": ["\n"]}}},
        "resps": [["4\u2028"]],
        "filtered_resps": ["4"],
        "filter": filter_name,
        "metrics": list(metrics),
        "doc_hash": "0a",
        "prompt_hash": "0b",
        "target_hash": "0c",
        **metrics,
    }


def sample(name, value, epoch=1, scorer="match"):
    """Return a sample as inspect writes it."""
    score = {"value": value, "answer": "4", "explanation": "4", "metadata": {}, "history": []}
    return {"id": name, "epoch": epoch, "input": "2 + 2?", "target": "4", "scores": {scorer: score}}


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="samples_task.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        if name.endswith(".json") and isinstance(content, list):
            content = {"version": 2, "eval": {"model": "openai/gpt"}, "samples": content}
        lines = content if name.endswith(".jsonl") else [content]
        text = [each if isinstance(each, str) else json.dumps(each) for each in lines]
        path.write_text("\n".join(text) + "\n", encoding="utf-8")
        return path

    return write_file


def test_metrics_of_lm_evaluation_harness(write):
    path = write([line(i, acc=i % 2, acc_norm=0.5) for i in range(3)], "big/samples_task.jsonl")
    rows = load_item_scores(path, score="acc")
    assert {name: column.tolist() for name, column in rows.items()} == {
        "item": [0, 1, 2],
        "system": ["big"] * 3,
        "score": [0.0, 1.0, 0.0],
        "seed": [1, 1, 1],
    }
    assert load_item_scores({"a": str(path)}, score="acc_norm,none")["score"].tolist() == [0.5] * 3
    with pytest.raises(ValueError, match=r"one of \['acc,none', 'acc_norm,none'\] in .*got None"):
        load_item_scores(path)


def test_older_lines_do_not_list_the_metrics(write):
    lines = [
        {key: each for key, each in line(i, acc=True).items() if key != "metrics"} for i in "ab"
    ]
    rows = load_item_scores(write(lines))
    assert rows["item"].tolist() == ["a", "b"]
    assert rows["score"].tolist() == [1.0, 1.0]


def test_the_filter_is_part_of_the_name(write):
    ways = ("strict-match", "flexible-extract")
    path = write([line(i, way, exact_match=way == ways[1]) for i in range(2) for way in ways])
    for way, value in zip(ways, (0.0, 1.0), strict=True):
        rows = load_item_scores(path, score=f"exact_match,{way}")
        assert rows["score"].tolist() == [value] * 2
    with pytest.raises(ValueError, match=r"score must name one of .*got 'exact_match'"):
        load_item_scores(path, score="exact_match")


def test_words_of_inspect_are_numbers(write):
    words = {"C": 1, "I": 0, "P": 0.5, "N": 0, "yes": 1, "True": 1, "no": 0, "0.25": 0.25}
    given = {**words, True: 1, 0.75: 0.75}
    path = write([sample(f"q{i}", each) for i, each in enumerate(given)], "log.json")
    rows = load_item_scores([path])
    assert rows["score"].tolist() == list(given.values())
    assert set(rows["system"]) == {"openai/gpt"}


def test_several_values_of_a_scorer_and_older_logs(write):
    path = write([sample(1, {"style": 3, "truth": "C"}, scorer="grader")], "log.json")
    assert load_item_scores(path, score="grader/style")["score"].tolist() == [3.0]
    old = {"id": 1, "epoch": 1, "score": {"value": "C"}}
    assert load_item_scores(write([old], "old.json"))["score"].tolist() == [1.0]


def test_epochs_and_files_are_runs(write):
    first = write([sample(i, "C", epoch) for epoch in (1, 2) for i in range(2)], "one.json")
    second = write([sample(i, "I") for i in range(2)], "two.json")
    rows = load_item_scores({"a": [first, second], "b": second})
    runs = list(zip(rows["system"], rows["seed"], rows["score"], strict=True))
    assert dict.fromkeys(runs) == dict.fromkeys(
        [("a", 1, 1.0), ("a", 2, 1.0), ("a", 3, 0.0), ("b", 1, 0.0)]
    )
    with pytest.raises(ValueError, match="paths must be a dict where two files are of one"):
        load_item_scores([first, second])


def test_the_comparison_takes_the_rows(write):
    right = {name: RNG.random(60) < share for name, share in (("b", 0.5), ("a", 0.8), ("c", 0.4))}
    files = {
        name: write(
            [line(i, acc=float(each[i])) for i in RNG.permutation(60).tolist()], f"{name}.jsonl"
        )
        for name, each in right.items()
    }
    rows = load_item_scores(files)
    expected = compare_predictions(
        None, {name: right[name].astype(float) for name in "abc"}, random_state=0
    )
    found = compare_predictions(None, rows, random_state=0)
    assert found.to_dict() == expected.to_dict()
    frame = pytest.importorskip("pandas").DataFrame(rows)
    assert compare_predictions(None, frame, random_state=0).to_dict() == expected.to_dict()


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ([line(0, acc=1), "{'acc': 1}"], "s.jsonl", "s.jsonl: line 2 is not JSON"),
        (["[1]"], "s.jsonl", "line 1 must hold an object"),
        ([], "s.jsonl", "s.jsonl holds no samples"),
        ([line(None, acc=1)], "s.jsonl", "line 1 must have doc_id or id"),
        ([line(0)], "s.jsonl", r"line 1 \(item 0\) has no scores"),
        ([line(0, acc=1), line(0, acc=1)], "s.jsonl", "line 2: item 0 has its score in .*line 1"),
        ([line(0, acc=1), line(1, em=1)], "s.jsonl", "score must name one of"),
        ([line(0, acc=[1, 2])], "s.jsonl", r"line 1 \(item 0\): acc must be a finite number"),
        ([line(0, acc=np.nan)], "s.jsonl", "acc must be a finite number"),
        ([line(0, acc=10**400)], "s.jsonl", "acc must be a finite number"),
        ([sample(1, "C"), sample(2, "maybe")], "s.json", r"samples\[1\] \(item 2\): match must be"),
        ([sample(1, "C", epoch=0)], "s.json", r"samples\[0\]: epoch must be"),
        ([{"id": 1, "epoch": 1, "error": {}}], "s.json", r"samples\[0\] \(item 1\) has no scores"),
        ([3], "s.json", r"samples\[0\] must be an object"),
        ({"results": 1}, "s.json", "hold a log of inspect with its samples.*'results'"),
    ],
)
def test_what_is_wrong_is_named(write, content, name, message):
    with pytest.raises(ValueError, match=message):
        load_item_scores(write(content, name))


def test_what_is_no_path_is_named(write, tmp_path):
    for given in (None, 3, [], {}, {"a": 3}, [3]):
        with pytest.raises(TypeError, match="paths must hold"):
            load_item_scores(given)
    with pytest.raises(TypeError, match="score must be the name"):
        load_item_scores(write([line(0, acc=1)]), score=1)
    with pytest.raises(FileNotFoundError, match="no file"):
        load_item_scores(tmp_path / "absent.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b'{"doc_id": "\xe4"}')
    with pytest.raises(ValueError, match=r"latin.jsonl must be JSON in UTF-8"):
        load_item_scores(tmp_path / "latin.jsonl")
    (tmp_path / "log.eval").write_bytes(b"PK\x03\x04\xff")
    with pytest.raises(ValueError, match=r"log.eval must be .* inspect log convert --to json"):
        load_item_scores(tmp_path / "log.eval")
    files = [write([line(0, **{name: 1})], f"{name}/s.jsonl") for name in ("acc", "em")]
    with pytest.raises(ValueError, match="score must be the same in all files, got 'acc,none'"):
        load_item_scores(files)
