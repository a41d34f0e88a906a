"""What the server counts, in the text form that Prometheus reads.

(Source: the Prometheus text exposition format, 0.0.4.)
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import attrs

from letagents.domain.receipts import State
from letagents.ports.vitals import Vitals

MEDIA = "text/plain; version=0.0.4; charset=utf-8"

Labels = Mapping[str, str]
Sample = tuple[Labels, float]


@attrs.frozen
class Metric:
    """One thing that is counted, with its samples."""

    name: str
    kind: str
    told: str
    samples: Iterable[Sample]

    def lines(self) -> Iterator[str]:
        """Yield its lines."""
        yield f"# HELP {self.name} {self.told}"
        yield f"# TYPE {self.name} {self.kind}"
        for labels, value in self.samples:
            named = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
            yield f"{self.name}{'{' + named + '}' if named else ''} {value:g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def exposition(requests: Counter[tuple[str, int]], vitals: Vitals | None) -> str:
    """Return all that is counted; of the rooms nothing, where they cannot be asked."""
    metrics = [_requests(requests), *(_of_rooms(vitals) if vitals else ())]
    told = "Whether the rooms can be used."
    up = Metric("letagents_rooms_up", "gauge", told, [({}, float(vitals is not None))])
    return "".join(f"{line}\n" for one in (*metrics, up) for line in one.lines())


def _requests(requests: Counter[tuple[str, int]]) -> Metric:
    samples = [
        ({"route": route, "status": str(status)}, float(many))
        for (route, status), many in sorted(requests.items())
    ]
    return Metric("letagents_requests_total", "counter", "Requests that were answered.", samples)


def _of_rooms(vitals: Vitals) -> Iterator[Metric]:
    told = (
        ("waiters", "gauge", "Calls that wait for something to happen.", vitals.waiters),
        ("nudges_lost_total", "counter", "Waiters that nobody woke.", vitals.nudges_lost),
        ("live_sessions", "gauge", "Sessions that have not ended.", vitals.live_sessions),
        ("lease_holders", "gauge", "Tasks that somebody works on.", vitals.open_work_leases),
    )
    for name, kind, text, value in told:
        yield Metric(f"letagents_{name}", kind, text, [({}, float(value))])
    stages = [
        ({"stage": state.value}, float(vitals.unsettled.get(state, 0)))
        for state in State
        if state is not State.ACKNOWLEDGED
    ]
    waiting = "Messages that wait for one whom they are for, by how far they have come."
    yield Metric("letagents_deliveries", "gauge", waiting, stages)
    oldest = "Age of the oldest message that one whom it is for was not shown yet."
    age = vitals.oldest_queued.total_seconds()
    yield Metric("letagents_oldest_undelivered_seconds", "gauge", oldest, [({}, age)])
