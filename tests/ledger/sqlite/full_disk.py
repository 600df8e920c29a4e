"""Fill the disk in the folder given, and say what became of the ledger there."""

import sys
from pathlib import Path

from discreet.ledger import LedgerError, LedgerTerms, SQLite


def main(folder: Path) -> None:
    """Report on standard output, in three words."""
    terms = LedgerTerms(
        unit="Row()", budget={}, filter="epsilon", limit=(10,), identities="question/1"
    )
    words = []
    ballast = folder / "ballast"
    ballast.write_bytes(b"x" * 100_000)
    with SQLite(folder / "visits.ledger") as ledger:
        ledger.open(terms)
        done = 0
        try:
            while True:
                name = ledger.reserve(
                    analyst="ann", query=str(done), charge=(0,), event="{}", detail={}
                )
                ledger.commit(name, {"text": "x" * 5000})
                done += 1
        except LedgerError as error:
            words.append(error.code)
        ledger.verify()
        if done and all(ledger.find(analyst="ann", query=str(n)) for n in range(done)):
            words.append("whole")
        ballast.unlink()
        ledger.reserve(analyst="ann", query="last", charge=(10,), event="{}", detail={})
        ledger.verify()
        words.append("goes-on")
    sys.stdout.write(" ".join(words))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
