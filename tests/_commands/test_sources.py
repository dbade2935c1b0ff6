"""Sources of data: bundled names and files."""

import pytest

from skeval._commands import BUNDLED, check_source


def test_bundled_names_and_files_are_sources(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("a,b\n1,2\n")
    for source in (*BUNDLED, file, str(file)):
        check_source(source)
    with pytest.raises(FileNotFoundError, match="no bundled set of that name: breast_cancer"):
        check_source(tmp_path / "missing.csv")
    with pytest.raises(
        FileNotFoundError, match=r"tabel.csv' \(did you mean 'table.csv'\?\), and no"
    ):
        check_source(tmp_path / "tabel.csv")
    with pytest.raises(FileNotFoundError, match="did you mean 'iris'"):
        check_source("irsi")
    with pytest.raises(FileNotFoundError, match="no file"):
        check_source(tmp_path / "nowhere" / "table.csv")
