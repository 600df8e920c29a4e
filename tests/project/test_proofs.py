"""Proofs are about the code as it stands."""

import re
from pathlib import Path

import pytest

from proofs import pin

ROOT = pin.PROOFS.parent
PLANTED = '''
class Box:
    """Hold."""

    def open(self) -> int:
        """Open."""
        return 1
'''


@pytest.mark.parametrize("proof", pin.proofs(), ids=lambda proof: proof.stem)
def test_pins_match_the_code(proof: Path) -> None:
    assert pin.faults(proof) == []


def test_proofs_named_in_the_source_exist() -> None:
    named = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in pin.SOURCE.rglob("*.py")
        for name in re.findall(r"proofs/[\w-]+\.md", path.read_text(encoding="utf-8"))
    }
    assert [place for place in sorted(named) if not (ROOT / place[1]).is_file()] == []


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "box.py").write_text(PLANTED, encoding="utf-8")
    return folder


def written(tmp_path: Path, *lines: str) -> Path:
    proof = tmp_path / "box.md"
    proof.write_text("\n".join(["---", *lines, "---", "", "# Claim", ""]), encoding="utf-8")
    return proof


def test_a_wrong_hash_is_caught_and_refreshed(tmp_path: Path, source: Path) -> None:
    proof = written(tmp_path, "pins: box:Box.open 0000000000000000", "pins: box:Box")
    assert [pin.REMEDY in fault for fault in pin.faults(proof, source=source)] == [True, True]
    assert pin.refresh(proof, source=source) == 2
    assert pin.faults(proof, source=source) == []
    assert proof.read_text(encoding="utf-8").endswith("---\n\n# Claim\n")


@pytest.mark.parametrize("name", ["box:Box.close", "box:open", "lid:Box"])
def test_a_missing_name_is_caught_and_not_refreshed(
    tmp_path: Path, source: Path, name: str
) -> None:
    proof = written(tmp_path, f"pins: {name} 0000000000000000")
    assert pin.refresh(proof, source=source) == 0
    assert pin.faults(proof, source=source) == [f"box.md:2: {name} does not exist"]


@pytest.mark.parametrize("lines", [[], ["pin: box:Box"], ["pins: box.Box 0000000000000000"]])
def test_a_proof_without_proper_pins_is_refused(tmp_path: Path, lines: list[str]) -> None:
    with pytest.raises(ValueError, match=r"box\.md"):
        pin.pins(written(tmp_path, *lines))


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ('"""Open."""', '"""Open\n\n        at length."""', True),
        ("return 1", "return (1)  # one", True),
        ("return 1", "return 2", False),
        ("return 1", "return 1.0", False),
        ("return 1", "return True", False),
        ("return 1", "return None", False),
        ("-> int", "-> float", False),
        ("    def open", "    @property\n    def open", False),
        ("(self)", "(self, *, key: int)", False),
    ],
)
def test_only_changes_of_code_change_the_hash(source: Path, old: str, new: str, same: bool) -> None:  # noqa: FBT001
    before = pin.current("box:Box.open", source=source)
    (source / "box.py").write_text(PLANTED.replace(old, new), encoding="utf-8")
    assert (pin.current("box:Box.open", source=source) == before) is same


def test_the_hash_is_the_same_under_every_python(source: Path) -> None:
    assert pin.current("box:Box.open", source=source) == "64092ae0b6a46771"
