"""The archive holds the commit, its checksums are right, and its bytes are always the same."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import zipfile

import pytest
from packaging.requirements import Requirement

from verification import archive
from verification.__main__ import main

FILES = ["pyproject.toml", "CITATION.cff", "docs/coverage_map.py"]
FILES += ["docs/_templates/coverage-map.html", "verification/manifest.toml"]
FILES += ["verification/results/coverage_map.json", "verification/results/plants.json"]


def _git(folder, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path):
    """Return a repository with one commit of some of our files."""
    folder = tmp_path / "project"
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(archive.ROOT / name, folder / name)
    _git(folder, "init", "--quiet")
    _git(folder, "add", ".")
    _git(folder, "commit", "--quiet", "-m", "one")
    return folder


def test_an_archive_is_whole_and_the_same_twice(project, tmp_path):
    one, two = tmp_path / "one.zip", tmp_path / "two.zip"
    assert f"{len(FILES) + 4} files of commit" in archive.write(one, project)
    archive.write(two, project)
    assert one.read_bytes() == two.read_bytes()
    with zipfile.ZipFile(one) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
        times = {one.date_time for one in packed.infolist()}
    assert times == {(1980, 1, 1, 0, 0, 0)}
    assert set(FILES) < set(files)
    assert list(files) == sorted(files)
    sums = dict(reversed(line.split("  ", 1)) for line in files["SHA256SUMS"].decode().splitlines())
    assert sums.keys() == files.keys() - {"SHA256SUMS"}
    for name, digest in sums.items():
        assert hashlib.sha256(files[name]).hexdigest() == digest, name
    assert b"<html" in files["coverage-map.html"]


def test_the_lock_has_exact_versions_and_no_paths(project, tmp_path):
    archive.write(tmp_path / "one.zip", project)
    with zipfile.ZipFile(tmp_path / "one.zip") as packed:
        text = packed.read("environment/requirements.txt").decode()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    found = {one.name: str(one.specifier) for one in map(Requirement, lines)}
    assert found["numpy"].startswith("==")
    assert all(one.startswith("==") for one in found.values())
    assert "outperform" not in found
    assert "/" not in text
    assert text.startswith("# Python 3.")


def test_zenodo_is_told_who_what_and_which_version(project, tmp_path):
    archive.write(tmp_path / "one.zip", project)
    with zipfile.ZipFile(tmp_path / "one.zip") as packed:
        about = json.loads(packed.read(".zenodo.json"))
    assert about["creators"] == [{"name": "the outperform developers"}]
    assert about["license"] == "bsd-3-clause"
    assert about["version"] == "0.1.0"
    assert about["upload_type"] == "software"
    assert {"title", "description", "keywords", "publication_date"} <= about.keys()


def test_changes_that_are_not_committed_are_refused(project, tmp_path, monkeypatch, capsys):
    (project / "more.txt").write_text("more", encoding="utf-8")
    with pytest.raises(archive.Dirty, match=r"1 file differs .* more\.txt; commit or stash"):
        archive.write(tmp_path / "one.zip", project)
    write = archive.write
    monkeypatch.setattr(archive, "write", lambda file: write(file, project))
    assert main(["--archive", str(tmp_path / "one.zip")]) == 1
    assert "commit or stash" in capsys.readouterr().err
    assert not (tmp_path / "one.zip").exists()
    (project / "more.txt").unlink()
    assert main(["--archive", str(tmp_path / "one.zip")]) == 0
    assert "one.zip: 11 files of commit" in capsys.readouterr().out
