"""Independent work side by side: in processes of this machine, or on a cluster.

What is spread are whole models to be made or measured, each of which takes seconds or more
and writes its own file; so killed work goes on, whoever does it. On this machine joblib
starts processes. Inside `cluster` the same work goes to the workers of Dask or Ray, by
joblib's backends for them; their address is what `DASK_SCHEDULER_ADDRESS` or `RAY_ADDRESS`
says, and without one a cluster of this machine's cores is started.

Pitfall: workers elsewhere write their files where they run. The folder of finished work has
to be on a file system that all of them share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import Any

import joblib
from joblib.parallel import get_active_backend

from ..models.errors import UsageError
from .provenance import usable_cores

LIBRARIES = {"dask": "dask.distributed", "ray": "ray.util.joblib"}
BACKENDS = ("processes", *LIBRARIES)
_CLUSTERS = ("DaskDistributedBackend", "RayBackend")


@contextmanager
def cluster(backend: str) -> Iterator[None]:
    """Let work that is spread inside go to a backend of `BACKENDS`.

    Raises:
        UsageError: its library is not installed.
    """
    if backend == "processes":
        yield
        return
    try:
        library = import_module(LIBRARIES[backend])
    except ImportError:
        raise UsageError(
            f"the backend {backend} is not installed: pip install 'headcount[cluster]'"
        ) from None
    with library.Client() if backend == "dask" else nullcontext():
        if backend == "ray":
            library.register_ray()
        with joblib.parallel_config(backend=backend, n_jobs=-1):
            yield


def on_cluster() -> bool:
    """Say whether work that is spread now goes to a cluster."""
    return type(get_active_backend()[0]).__name__ in _CLUSTERS


def workers_for(jobs: int, most: int, *, on_cpu: bool) -> int:
    """Return how many workers take part.

    Args:
        jobs: what was asked for; 0 for a process a core on a CPU and one on a GPU, and for all
            workers of a cluster.
        most: pieces of work; more workers than that would be idle.
        on_cpu: whether the work is done by a CPU.

    Returns:
        the number; -1 for all workers of a cluster.
    """
    if on_cluster():
        return min(jobs, most) if jobs else -1
    return min(jobs or (usable_cores() if on_cpu else 1), max(1, most))


def spread(
    work: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], workers: int, *, ordered: bool
) -> Iterator[Any]:
    """Yield what `work` returns for every tuple of arguments.

    Args:
        workers: see `workers_for`; 1 works in this process.
        ordered: whether results come in the order of the arguments, or as they are finished.
            Backends that cannot return one by one return all at the end, in order.
    """
    if workers == 1 and not on_cluster():
        for one in arguments:
            yield work(*one)
        return
    one_by_one = get_active_backend()[0].supports_return_generator
    as_finished = "generator" if ordered else "generator_unordered"
    parallel = joblib.Parallel(
        n_jobs=workers, return_as=as_finished if one_by_one else "list", batch_size=1
    )
    yield from parallel(joblib.delayed(work)(*one) for one in arguments)
