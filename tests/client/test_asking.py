"""Waiting, giving up, several budgets, kept answers, rounds: what a service has beside answers."""

from __future__ import annotations

import io
import time
from types import TracebackType
from typing import Any, Self

import pytest
from sklearn.pipeline import make_pipeline

import discreet as dp
from discreet import learn
from discreet.client.progress import ProgressLine, progress_text
from discreet.client.refusals import StillWaiting
from discreet.client.written import conditions_to_json
from discreet.core.errors import DiscreetError
from discreet.queries import Workload
from discreet.queries.analysts import Conjunctions, OneQuery
from discreet.release import Release
from tests.client.programs import BY_AGE, BY_WARD, COUNT, at_service, epsilon
from tests.server.running_service import ApiUser, RunningService

pytestmark = pytest.mark.xdist_group("server")


@pytest.fixture(scope="module")
def ann(running_service: RunningService) -> ApiUser:
    return running_service.analyst(dp.PureDP(epsilon=100))


class Told:
    """A progress that remembers."""

    def __init__(self) -> None:
        self.phases: list[str] = []

    def __call__(self) -> Self:
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        return None

    def show(self, phase: str) -> None:
        self.phases.append(phase)


def code_of(caught: pytest.ExceptionInfo[DiscreetError]) -> str:
    return caught.value.code


def test_what_takes_longer_than_ones_patience_goes_on_and_is_waited_for_again(
    ann: ApiUser,
) -> None:
    told = Told()
    hasty, patient = at_service(ann, patience=1e-6), at_service(ann, progress=told)
    with pytest.raises(StillWaiting) as caught:
        hasty.sql(BY_WARD, spend=dp.PureDP(epsilon=0.5))
    assert isinstance(caught.value, TimeoutError)
    answer = patient.answer(str(caught.value.received))
    assert isinstance(answer, Release)
    assert answer.id == patient.sql(BY_WARD, spend=dp.PureDP(epsilon=0.5)).id, "paid for once"
    assert set(told.phases) <= {"accepted", "started", "finished"}
    asked: dict[str, Any] = {"target": "ward", "spend": dp.PureDP(epsilon=1)}
    with pytest.raises(StillWaiting) as caught:
        hasty.fit(learn.GaussianNB(), BY_AGE, **asked)
    model = patient.answer(str(caught.value.received))
    assert model.to_json() == patient.fit(learn.GaussianNB(), BY_AGE, **asked).to_json()


def test_a_question_that_was_given_up_says_so(ann: ApiUser) -> None:
    curator = at_service(ann)
    job = ann.post("questions?wait=0", {"sql": BY_WARD, "epsilon": 0.1}).json()
    curator.cancel(job["job"])
    if ann.get(f"jobs/{job['job']}").json()["phase"] == "cancelled":  # else it was faster
        with pytest.raises(DiscreetError) as caught:
            curator.answer(job["job"])
        assert code_of(caught) == "job_cancelled"


def test_a_line_is_drawn_while_one_waits_and_taken_away() -> None:
    stream = io.StringIO()
    with ProgressLine(stream) as line:
        line.show("waiting_for_approval")
        time.sleep(0.6)
    drawn = stream.getvalue()
    assert "waiting for approval" in drawn
    assert drawn.endswith(" \r")
    with ProgressLine(quick := io.StringIO()):
        pass
    assert quick.getvalue() == "", "what is quick draws nothing"
    assert progress_text("finished", 3).count("#") == 20


def test_several_budgets_are_told_apart_by_purpose_or_account(
    running_service: RunningService,
) -> None:
    user = running_service.person()
    for purpose in ("beds", "costs"):
        running_service.grant(user, dp.PureDP(epsilon=1), purpose)
    curator = at_service(user)
    for unclear in (
        lambda: curator.remaining,
        lambda: curator.sql(COUNT, spend=dp.PureDP(epsilon=1)),
    ):
        with pytest.raises(DiscreetError) as caught:
            unclear()
        assert code_of(caught) == "account_unclear"
    curator.sql(COUNT, spend=dp.PureDP(epsilon=0.25), purpose="beds")
    spent = {each.purpose: epsilon(each.spent) for each in curator.accounts()}
    assert spent == {"beds": 0.25, "costs": 0.0}
    beds = at_service(user, purpose="beds")
    assert epsilon(beds.remaining) == 0.75
    (costs,) = (each for each in curator.accounts() if each.purpose == "costs")
    assert epsilon(at_service(user, account=costs.id).remaining) == 1
    with pytest.raises(DiscreetError) as caught:
        beds.sql(COUNT, spend=dp.PureDP(epsilon=0.1), analyst="bob")
    assert code_of(caught) == "analyst_by_token"


def test_answers_are_kept_and_read_again(ann: ApiUser) -> None:
    curator = at_service(ann)
    table = curator.sql(BY_WARD, spend=dp.PureDP(epsilon=2))
    batch = curator.batch({"a": COUNT}, spend=dp.PureDP(epsilon=1))
    universe = curator.universe("visits", "ward")
    synopsis = curator.synopsis(
        Workload.marginals(universe, 1),
        mechanism=dp.queries.MarginalMechanism,
        spend=dp.PureDP(epsilon=1),
    )
    kept = curator.releases()[:3]
    assert [each.kind for each in kept] == ["synopsis", "batch", "sql"]
    again: list[Any] = [curator.stored(each.id) for each in kept]
    assert again[2] == table
    assert again[1]["a"] == batch["a"]
    assert list(again[0].table("ward")) == list(synopsis.table("ward"))
    told = curator.statement(kept[2].id)
    whole = "budget of the data. All releases of these data, whoever asked, keep that one together"
    assert whole in " ".join(str(table.statement).split())
    assert f"{whole}: epsilon 5000, delta 0.001." in " ".join(told.split())
    assert "All releases from the share that paid keep it, epsilon" in " ".join(told.split())
    with pytest.raises(DiscreetError) as caught:
        curator.stored("../people")
    assert code_of(caught) == "release_unknown"
    assert {"visits", "wards"} == {each["name"] for each in curator.schema()["tables"]}


def test_a_round_is_opened_submitted_to_and_shared(
    running_service: RunningService, ann: ApiUser
) -> None:
    eve = running_service.analyst()
    owner = at_service(running_service.owner)
    one, other = at_service(ann), at_service(eve)
    universe = one.universe("visits", "ward")
    made = owner.round(
        universe,
        analysts=[one.name, other.name],
        queries_each=3,
        spend=dp.ApproxDP(epsilon=5, delta=1e-6),
        protects=OneQuery(),
        promise=dp.ApproxDP(epsilon=1, delta=1e-6),
        asked=Conjunctions(1),
    )
    assert made.plan()
    assert made.closes is None
    mine = one.resume(made.id)
    assert mine.id == one.rounds()[0].id
    mine.submit(one.name, [{"ward": "medicine"}])
    mine.submit(one.name, Workload.marginal(universe, ["ward"]))
    with pytest.raises(DiscreetError) as caught:
        mine.submit(other.name, [])
    assert code_of(caught) == "analyst_by_token"
    made.close()
    share = one.stored(one.releases()[0].id)
    assert (share.round, len(share.answers)) == (made.id, 3)
    assert len(other.stored(other.releases()[0].id).answers) == 0


def test_what_the_service_does_not_offer_is_refused_before_it_is_sent(
    ann: ApiUser,
) -> None:
    curator = at_service(ann)
    before = len(curator.history())
    universe = curator.universe("visits", "ward")
    one = dp.PureDP(epsilon=1)
    ranges = Workload.of(universe, {"ward": dp.queries.Ranges(3)})
    make = dp.queries.MarginalMechanism

    class Own(learn.GaussianNB):
        """Somebody's own way from sums to a model."""

    for refused in (
        lambda: curator.fit(Own(), BY_AGE, target="ward", spend=one),
        lambda: curator.preview_fit(learn.GaussianNB(), BY_AGE, spend=dp.GaussianDP(mu=1)),
        lambda: curator.synopsis(ranges, mechanism=make, spend=one),
        lambda: curator.synopsis(Workload.marginals(universe, 1), mechanism=dict, spend=one),
        lambda: curator.sql(COUNT, spend=dp.GaussianDP(mu=1)),
        lambda: curator.converse(universe, mechanism=dict, spend=one, questions=1),
    ):
        with pytest.raises(DiscreetError) as caught:
            refused()
        assert code_of(caught) == "not_offered"
    for misread, code in (
        (lambda: curator.synopsis(universe, mechanism=make, spend=one), "workload_misfit"),
        (lambda: curator.sql(COUNT, spend=one, confidence=float("nan")), "request_not_json"),
        (
            lambda: curator.fit(
                learn.PCA(bounds=(0, float("inf"))), "SELECT age FROM visits", spend=one
            ),
            "request_not_json",
        ),
        (
            lambda: curator.fit(make_pipeline(learn.PCA()), "SELECT age FROM visits", spend=one),
            "not_from_moments",
        ),
        (lambda: conditions_to_json(["ward"]), "query_misfit"),
        (lambda: conditions_to_json(None), "query_misfit"),
    ):
        with pytest.raises(DiscreetError) as caught:
            misread()
        assert code_of(caught) == code
    assert len(curator.history()) == before
