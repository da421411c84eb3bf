"""Write the skill where coding agents look for it, without overwriting anything."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from outperform._files import write_atomically
from outperform.agents.pages import rules, skill
from outperform.errors import UsageError

SKILLS = (".claude/skills/outperform/SKILL.md", ".agents/skills/outperform/SKILL.md")
AGENTS = "AGENTS.md"
_POINTER = f"""For comparing models from their predictions, follow the skill in `{SKILLS[1]}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What happened to a file: written, already the same, or kept because it has other contents.

    Parameters
    ----------
    path
        The file.
    state
        What happened to it.
    """

    path: Path
    state: Literal["written", "unchanged", "kept"]


def agents_page() -> str:
    """Return an ``AGENTS.md`` for people who use the package: the rules, and where the skill is."""
    return f"# For coding agents\n\n{_POINTER}\n\n{rules()}\n"


def write_skill(folder: Path, *, overwrite: bool = False) -> list[Written]:
    """Write the skill, and ``AGENTS.md`` if there is none.

    Parameters
    ----------
    folder
        Folder of a project.
    overwrite
        Whether to replace an older skill. An existing ``AGENTS.md`` is always kept.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; create it, or pass the folder of your project")
    written = []
    for name, text in {**dict.fromkeys(SKILLS, skill()), AGENTS: agents_page()}.items():
        path = folder / name
        content = text.encode("utf-8")
        if path.is_symlink() or path.exists():
            if path.is_file() and path.read_bytes() == content:
                written.append(Written(path=path, state="unchanged"))
                continue
            if not overwrite or name == AGENTS or path.is_symlink():
                written.append(Written(path=path, state="kept"))
                continue
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
        written.append(Written(path=path, state="written"))
    return written


def advice(written: Written) -> str:
    """Return a line about a file, with what to type if it was kept.

    Parameters
    ----------
    written
        What happened to the file.
    """
    if written.state != "kept":
        return f"{written.state}: {written.path}"
    if written.path.name == AGENTS:
        return f"kept: {written.path}; add this line to it: {_POINTER}"
    return f"kept: {written.path} has other contents; pass --force to overwrite it"
