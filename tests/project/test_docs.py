"""Every example in the documents and docstrings runs."""

import doctest
import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
DOCUMENTS = [
    path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if path.is_file()
]
MODULES = sorted(
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)
PACKAGES = sorted({".".join(name.split(".")[:2]) for name in MODULES})
OPTIONAL = {  # third-party modules of the extras; without them their modules are skipped
    *("pyarrow", "polars", "pandas", "ibis", "psycopg", "pyspark", "typer", "rich", "altair"),
    *("fastapi", "starlette", "uvicorn", "pydantic", "sqlalchemy", "argon2", "authlib", "httpx"),
    *("jinja2", "markupsafe", "sklearn"),
}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

_FENCE = re.compile(r"\s*(?P<ticks>```+)\s*(?P<language>\w*)")
_NOT_RUN = re.compile(r"<!--\s*not run:\s*(?P<reason>.*?)\s*-->")


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int
    skipped: bool


def blocks(text: str) -> list[Block]:
    """Read the fenced blocks of a document, each with the comment that may precede it."""
    found = []
    remark = ""
    lines = iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        fence = _FENCE.match(line)
        if fence is None:
            remark = line.strip() or remark
            continue
        body = []
        for _, inner in lines:
            if inner.strip() == fence["ticks"]:
                break
            body.append(inner)
        else:
            pytest.fail(f"line {number}: the block does not end")
        marked = _NOT_RUN.fullmatch(remark)
        if marked and not marked["reason"]:
            pytest.fail(f"line {number}: a block is skipped without a reason")
        found.append(Block(fence["language"], dedent("\n".join(body)), number, marked is not None))
        remark = ""
    return found


def run(document: Path) -> int:
    """Run the Python of a document in one namespace; return how many blocks ran."""
    space: dict[str, object] = {"__name__": "__main__"}
    ran = 0
    for block in blocks(document.read_text(encoding="utf-8")):
        if block.skipped or block.language not in {"python", "py", "python3", "pycon"}:
            continue
        if block.language == "pycon" or block.text.lstrip().startswith(">>>"):
            parser = doctest.DocTestParser()
            test = parser.get_doctest(
                block.text + "\n", {}, document.name, str(document), block.line
            )
            test.globs = space
            runner = doctest.DebugRunner(optionflags=FLAGS)
            runner.run(test, clear_globs=False)
        else:
            padded = "\n" * block.line + block.text
            exec(compile(padded, str(document), "exec"), space)
        ran += 1
    return ran


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_documents_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(document)


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_run(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that needs a package which is not installed is left to who has it."""
    monkeypatch.chdir(tmp_path)
    names = [name for name in MODULES if f"{name}.".startswith(f"{package}.")]
    assert [name for name in names if failures_in(name)] == []


def failures_in(name: str) -> int:
    try:
        module = import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in OPTIONAL:
            raise
        return 0
    outcome = doctest.testmod(module, optionflags=FLAGS)
    assert outcome.attempted > 0, name
    return outcome.failed


def document(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_blocks_share_a_namespace_in_order(tmp_path: Path) -> None:
    script = "```python\nx = 1\n```\n\n- item\n\n"
    session = "    ```pycon\n    >>> x + 1\n    2\n    ```\n\n"
    shell = "```sh\nfalse\n```\n"
    assert run(document(tmp_path, script + session + shell)) == 2


def test_a_block_is_skipped_only_with_a_reason(tmp_path: Path) -> None:
    body = "\n\n```python\n1 / 0\n```\n"
    assert run(document(tmp_path, "<!-- not run: it divides by zero -->" + body)) == 0
    with pytest.raises(pytest.fail.Exception, match="without a reason"):
        run(document(tmp_path, "<!-- not run: -->" + body))
    with pytest.raises(ZeroDivisionError):
        run(document(tmp_path, "<!-- not run: far above -->\n\nText.\n" + body))


def test_a_wrong_result_is_caught(tmp_path: Path) -> None:
    with pytest.raises(doctest.DocTestFailure):
        run(document(tmp_path, "```pycon\n>>> 1 + 1\n3\n```\n"))
