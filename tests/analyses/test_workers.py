"""Work that is spread: the same results in one process, in several, and on a cluster."""

import sys
from types import ModuleType, SimpleNamespace

import joblib
import pytest
from joblib.parallel import ThreadingBackend

from headcount.analyses import workers
from headcount.analyses.workers import cluster, spread, workers_for
from headcount.models.errors import UsageError


def times(first: int, second: int) -> int:
    return first * second


class RayBackend(ThreadingBackend):
    """Like Ray's: it returns all results at the end."""

    supports_return_generator = False


PAIRS = [(number, 10) for number in range(5)]


@pytest.fixture
def ray(monkeypatch):
    """A library of that name whose backend works in threads of this process."""
    registered = []

    def register_ray():
        registered.append(1)
        joblib.register_parallel_backend("ray", RayBackend)

    for name in ("ray", "ray.util"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    fake = SimpleNamespace(register_ray=register_ray)
    monkeypatch.setitem(sys.modules, "ray.util.joblib", fake)
    return registered


@pytest.mark.parametrize("ordered", [True, False])
def test_one_process_works_here_one_by_one(ordered):
    made = spread(times, PAIRS, 1, ordered=ordered)
    assert next(made) == 0
    assert list(made) == [10, 20, 30, 40]


def test_a_backend_that_returns_all_at_the_end_serves_too(ray):
    with cluster("ray"):
        assert workers_for(0, 5, on_cpu=True) == -1
        assert workers_for(8, 5, on_cpu=True) == 5
        assert list(spread(times, PAIRS, -1, ordered=True)) == [0, 10, 20, 30, 40]
        assert list(spread(times, PAIRS, 1, ordered=False)) == [0, 10, 20, 30, 40]
    assert ray == [1]
    assert not workers.on_cluster()


def test_workers_are_as_many_as_cores_and_never_more_than_the_work(monkeypatch):
    monkeypatch.setattr(workers, "usable_cores", lambda: 4)
    assert [workers_for(0, most, on_cpu=True) for most in (9, 3, 0)] == [4, 3, 1]
    assert workers_for(0, 9, on_cpu=False) == 1
    assert workers_for(6, 9, on_cpu=False) == 6


@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_a_cluster_that_is_not_installed_is_named_with_its_remedy(backend, monkeypatch):
    monkeypatch.setitem(sys.modules, workers.LIBRARIES[backend], None)
    with pytest.raises(UsageError, match=r"pip install 'headcount\[cluster\]'"), cluster(backend):
        pass
    with cluster("processes"):
        assert not workers.on_cluster()
