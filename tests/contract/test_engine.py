"""What every engine promises. Ray's turn is taken by tests/cluster/test_ray_contract.py, in a network of its own."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from pathlib import Path

import engine_tasks as tasks
import pytest
from engine_kit import KINDS, made

from gossamer.engine.contract import Engine, InlineEngine, collect
from gossamer.errors import OperationError, UsageError


@pytest.fixture(scope="module", params=KINDS)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    engine = made(request.param)
    yield engine
    engine.close()


@pytest.fixture(scope="module", params=[kind for kind in KINDS if kind != "inline"])
def processes(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """An engine whose tasks run in processes of their own."""
    engine = made(request.param)
    yield engine
    engine.close()


def test_each_arguments_result_comes_exactly_once(engine: Engine) -> None:
    found = sorted(engine.run(tasks.double, [5, 7, 7, 9]))
    assert found == [(0, 10), (1, 14), (2, 14), (3, 18)]


def test_a_thousand_tiny_tasks(engine: Engine) -> None:
    assert sorted(engine.run(tasks.double, range(1000))) == [(place, 2 * place) for place in range(1000)]


@pytest.mark.parametrize("count", [0, 1])
def test_few_arguments(engine: Engine, count: int) -> None:
    assert collect(engine, tasks.double, range(count)) == [0, 2][:count]


def test_large_arguments_and_results(engine: Engine) -> None:
    data = [bytes([number]) * (6_000_000 + number) + b"end" for number in range(6)]
    assert collect(engine, tasks.measure, data) == [tasks.measure(each) for each in data]


def test_a_function_with_its_first_argument_bound(engine: Engine) -> None:
    assert collect(engine, functools.partial(operator.mul, 3), [1, 2, 3]) == [3, 6, 9]


def test_results_are_those_of_the_inline_engine(engine: Engine) -> None:
    assert collect(engine, tasks.random_sum, range(20)) == collect(InlineEngine(), tasks.random_sum, range(20))


def test_a_task_whose_process_dies_is_run_again(processes: Engine, tmp_path: Path) -> None:
    arguments = [(str(tmp_path), number) for number in range(7)]
    assert collect(processes, tasks.die_once, arguments) == [number * number for number in range(7)]


def test_a_task_that_always_kills_its_process_ends_the_job_and_is_named(processes: Engine) -> None:
    with pytest.raises(OperationError, match=r"task 2 of 3, engine_tasks\.die_always: its process died"):
        collect(processes, tasks.die_always, range(3))
    assert collect(processes, tasks.double, [1, 2]) == [2, 4]


def test_an_error_keeps_class_and_message_and_names_the_task(engine: Engine) -> None:
    with pytest.raises(ValueError, match=r"^three is no good") as caught:
        collect(engine, tasks.fail, range(6))
    assert "task 4 of 6, engine_tasks.fail" in caught.value.__notes__[0]
    assert collect(engine, tasks.fail, [1, 2]) == [1, 2]


def test_an_error_for_a_person_stays_one(engine: Engine) -> None:
    with pytest.raises(UsageError) as caught:
        collect(engine, tasks.fail_for_a_person, range(4))
    assert str(caught.value) == "the file two.txt is not there"


def test_an_error_class_of_the_job_stays_that_class(engine: Engine) -> None:
    with pytest.raises(tasks.OwnError, match="number 8"):
        collect(engine, tasks.fail_on_its_own, [8, 8])


def test_an_error_that_cannot_travel_is_told_in_words(processes: Engine) -> None:
    with pytest.raises(OperationError, match=r"task 2 of 2, engine_tasks\.fail_oddly: OddError: seven"):
        collect(processes, tasks.fail_oddly, range(2))


def test_a_function_that_has_no_name_elsewhere_is_refused(processes: Engine) -> None:
    with pytest.raises(TypeError, match="cannot be sent to another process"):
        collect(processes, lambda number: number, [1, 2])


def test_who_stops_listening_can_go_on_with_something_else(engine: Engine) -> None:
    results = engine.run(tasks.process_of, range(20))
    next(results)
    results.close()
    assert collect(engine, tasks.double, range(5)) == [0, 2, 4, 6, 8]
