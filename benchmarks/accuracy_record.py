"""Record the errors of the peers: ``python benchmarks/accuracy_record.py [peer …]``.

For each query and peer: the noise that the peer states, the law of its answers built on it, the
error of that law on the whole table, and a comparison of the law with the peer's own answers about
a few of the rows. It takes an hour, most of it Spark's, so the suite reads the record instead.
What is recorded already is asked again only where the query or the peer's version changed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import peers
from accuracy_data import copies, tables, thin
from accuracy_groups import Array, error_of, groups, truths
from accuracy_laws import Law
from accuracy_queries import QUERIES, Query
from scipy.stats import ks_2samp

RECORD = Path(__file__).with_name("accuracy_peers.json")
PEERS = ("opendp", "tumult", "smartnoise", "pipelinedp")
STATED = {
    "opendp": "scales by Query.summarize()",
    "tumult": "scales by Session._noise_info()",
    "smartnoise": "scales of PrivateReader._get_mechanism_map(), the epsilon shared by its columns",
    "pipelinedp": "noise_parameter of the mechanisms in its combiners; "
    "of the variance, by dp_computations.compute_dp_var",
}
COPIES = 300
DRAWS = 400_000
COMPARED = 20_000
PATIENCE = 1800


def record(wanted: list[str]) -> None:
    """Ask the peers wanted about every query, and keep what the others said before."""
    peers.ANSWER_SECONDS = PATIENCE
    content = json.loads(RECORD.read_text()) if RECORD.is_file() else {}
    with tempfile.TemporaryDirectory(prefix="accuracy-") as folder:
        paths = tables(Path(folder))
        for peer in wanted:
            with peers.Peer(peer, f"peer_{peer}_accuracy.py") as running:
                known = content.get(peer, {})
                for query in QUERIES:
                    about = {"versions": running.versions, "query": _plain(query.to_json())}
                    old = known.get(query.name, {})
                    if all(old.get(key) == value for key, value in about.items()):
                        continue
                    known[query.name] = about | entry(running, query, paths[query.table])
                    print(peer, query.name, json.dumps(known[query.name]), flush=True)
                    names = [each.name for each in QUERIES if each.name in known]
                    content[peer] = {name: known[name] for name in names}
                    RECORD.write_text(json.dumps(content, indent=1) + "\n")


def entry(peer: peers.Peer, query: Query, path: Path) -> dict[str, Any]:
    """One peer and query: its noise, its error and the comparison; or why there is none."""
    some = thin(path)
    out = path.with_name("answers.json")
    request = {"path": path, "thin": some, "repeated": copies(some, COPIES), "out": out}
    shown = {key: str(value) for key, value in request.items()}
    try:
        peer.seconds(query=query.to_json(), copies=COPIES, **shown)
    except peers.Missing as reason:
        return {"unsupported": str(reason).splitlines()[0][:200]}
    said = json.loads(out.read_text())
    found: dict[str, Any] = {"noise": said["noise"], "stated": STATED[peer.name]}
    generator = np.random.default_rng(7)
    if "releases" in said:
        released = {key: np.array(values) for key, values in said["releases"].items()}
        rmse, spread = error_of(released, truths(query, path))
        how = f"{len(next(iter(released.values())))} releases by the peer's own combiner"
        return {**found, "rmse": rmse, "standard_error": spread, "how": how}
    laws = {
        key: Law(peer.name, query, group, said["noise"])
        for key, group in groups(query, path).items()
    }
    exact = next(iter(laws.values())).error
    if exact is None:
        drawn = {key: law.draws(generator, DRAWS // len(laws)) for key, law in laws.items()}
        rmse, spread = error_of(drawn, truths(query, path))
        found |= {"rmse": rmse, "standard_error": spread, "how": f"{DRAWS} draws from its law"}
    else:
        found |= {"rmse": exact, "standard_error": 0.0, "how": "variance of its noise"}
    return found | compared(query, peer.name, some, said, generator)


def compared(
    query: Query, peer: str, some: Path, said: dict[str, Any], generator: np.random.Generator
) -> dict[str, Any]:
    """Answers of the peer against draws from the law, by Kolmogorov and Smirnov's test."""
    chances = []
    sizes = 0
    for key, group in groups(query, some).items():
        answers: Array = np.array(said["values"][key])
        answers = answers[np.isfinite(answers)]
        law = Law(peer, query, group, said["thin"])
        chances.append(float(ks_2samp(answers, law.draws(generator, COMPARED)).pvalue))
        sizes += len(answers)
    least = min(1.0, len(chances) * min(chances)) if chances else float("nan")
    return {"answers_compared": sizes, "chance_of_such_answers": round(least, 5)}


def _plain(content: dict[str, Any]) -> dict[str, Any]:
    """As it comes back from JSON."""
    read: dict[str, Any] = json.loads(json.dumps(content))
    return read


if __name__ == "__main__":
    record(sys.argv[1:] or list(PEERS))
