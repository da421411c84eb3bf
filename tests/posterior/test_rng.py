"""Draws come in blocks with a stream each: threads and lengths change nothing."""

from __future__ import annotations

import hashlib
import os

import numpy as np
import pytest

from outperform.errors import UsageError
from outperform.posterior import gammas, rng
from outperform.posterior.gammas import gamma_sums
from outperform.posterior.rng import (
    _workers,
    block_length,
    child,
    n_cores,
    n_workers,
    run_blocks,
    seed_sequence,
)
from tests.loops import each


def normals(generator, out):
    out[...] = generator.standard_normal(out.shape)


def draw(n_draws, *, n_jobs=1, seed=3, n_gammas=10_000, length=None):
    return run_blocks(
        lambda: normals,
        n_values=2,
        n_draws=n_draws,
        n_gammas=n_gammas,
        seed=np.random.SeedSequence(seed),
        n_jobs=n_jobs,
        length=length,
    )


@each("n_jobs", [2, 8, 64, -1, None])
@each("n_draws", [1, 64, 1000, 1037])
def test_the_number_of_threads_changes_no_byte(n_draws, n_jobs):
    assert draw(n_draws, n_jobs=n_jobs).tobytes() == draw(n_draws).tobytes()


def test_more_draws_begin_with_the_same_blocks():
    length = block_length(10_000)
    many = draw(10 * length)
    for blocks in (1, 3, 7):
        few = draw(blocks * length)
        assert np.array_equal(many[:, : blocks * length], few)


def test_blocks_are_different_and_seeds_too():
    values = draw(1000)
    assert np.unique(values).size == values.size
    assert not np.array_equal(values, draw(1000, seed=4))


def test_the_stream_is_the_one_that_was_published():
    # The streams of numpy's bit generators do not change, those of its distributions may:
    # integers of a block's stream are all bits, so this holds on every platform.
    bits = np.random.SFC64(child(np.random.SeedSequence(7), 2)).random_raw(4)
    digest = hashlib.sha256(np.asarray(bits, dtype="<u8").tobytes()).hexdigest()
    assert digest == "960da59bf141fe09be2986476657a96f42b96d43b27beacbd98326d64ec58ce1"


@pytest.mark.parametrize(("n_draws", "sizes"), [(20, [10, 10]), (21, [10, 10, 1]), (1, [1])])
def test_no_block_is_empty(n_draws, sizes):
    filled = []

    def fill(generator, out):
        filled.append(out.shape[1])
        normals(generator, out)

    seed = np.random.SeedSequence(3)
    few = {"n_values": 2, "n_gammas": 1, "seed": seed, "n_jobs": 1, "length": 10}
    run_blocks(lambda: fill, n_draws=n_draws, **few)
    assert filled == sizes


@each("n_cells", [1, 100, 1_000, 10_000, 100_000])
def test_gammas_of_many_models_stay_in_the_cache(n_cells):
    sizes = []

    def add_up(weights):
        sizes.append(weights.shape[1])
        return weights.sum(axis=0, keepdims=True)

    length = 50
    draw_sums = gamma_sums(np.ones(n_cells), add_up, n_models=3)
    assert draw_sums(np.random.default_rng(0), length).shape == (1, length)
    assert sum(sizes) == length
    assert sizes[0] * n_cells <= gammas._IN_CACHE or sizes[0] == 8
    # No shorter than they must be: eight draws more would not stay there.
    assert sizes[0] == length or (sizes[0] + 8) * n_cells > gammas._IN_CACHE


def test_the_length_of_a_block_depends_on_the_table_only():
    assert block_length(1) == block_length(10) == 4096
    assert block_length(1 << 20) <= 64
    lengths = [block_length(n) for n in (1, 300, 3_000, 30_000, 300_000, 3_000_000)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] >= 1


def test_a_child_is_what_spawning_gives():
    root = np.random.SeedSequence(11)
    spawned = np.random.SeedSequence(11).spawn(3)
    for key in range(3):
        assert child(root, key).spawn_key == spawned[key].spawn_key
        assert np.array_equal(child(root, key).generate_state(4), spawned[key].generate_state(4))
    assert child(child(root, 1), 2).spawn_key == (1, 2)


def test_random_states_of_every_kind():
    assert seed_sequence(7).entropy == 7
    assert seed_sequence(np.uint64(2**64 - 1)).entropy == 2**64 - 1
    given = np.random.SeedSequence(5)
    assert seed_sequence(given) is given
    assert seed_sequence(None).entropy != seed_sequence(None).entropy
    one, two = np.random.default_rng(1), np.random.default_rng(1)
    assert seed_sequence(one).entropy == seed_sequence(two).entropy
    assert seed_sequence(one).entropy != seed_sequence(np.random.default_rng(1)).entropy
    one, two = np.random.RandomState(1), np.random.RandomState(1)
    assert seed_sequence(one).entropy == seed_sequence(two).entropy
    assert seed_sequence(one).entropy != seed_sequence(np.random.RandomState(1)).entropy


def test_only_the_cores_that_the_process_may_use_count(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 5, 6}, raising=False)
    assert n_cores(tmp_path) == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert n_cores(tmp_path) == 64
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert n_cores(tmp_path) == 1


def test_a_seed_that_was_drawn_can_be_given_again():
    drawn = seed_sequence(None)
    again = seed_sequence(drawn.entropy)
    assert np.array_equal(drawn.generate_state(4), again.generate_state(4))


@each("state", [-1, 2**64, 1.0, "7", True, (1, 2), np.float64(3)])
def test_what_is_no_random_state_is_refused(state):
    with pytest.raises(UsageError, match=r"random_state must be.*got"):
        seed_sequence(state)


@pytest.mark.parametrize("n_jobs", [0, -2, 1.5, "all"])
def test_what_is_no_number_of_threads_is_refused(n_jobs):
    with pytest.raises(UsageError, match="n_jobs"):
        draw(10, n_jobs=n_jobs)


def test_threads_are_as_many_as_pay(monkeypatch):
    monkeypatch.setattr(rng, "n_cores", lambda: 3)
    assert _workers(-1, n_blocks=100, n_gammas=10**9) == 3
    assert _workers(-1, n_blocks=2, n_gammas=10**9) == 2
    assert _workers(-1, n_blocks=100, n_gammas=1) == 1
    assert _workers(5, n_blocks=100, n_gammas=1) == 5
    assert _workers(None, n_blocks=100, n_gammas=10**9) == 1


def test_none_is_one_and_minus_one_is_what_the_process_may_use():
    assert n_workers(None) == 1
    assert n_workers(np.int64(3)) == 3
    assert n_workers(-1) == n_cores() >= 1


@each(
    ("files", "most"),
    [
        ({}, 64),
        ({"cpu.max": "max 100000\n"}, 64),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "10000 100000\n"}, 1),
        ({"cpu.max": "nonsense\n"}, 64),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 64),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "0\n"}, 64),
    ],
)
def test_a_container_may_have_fewer_cores(tmp_path, monkeypatch, files, most):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(64)), raising=False)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert n_cores(tmp_path) == most


def test_an_error_in_a_thread_is_raised():
    def broken(generator, out):
        raise ArithmeticError("in a thread")

    with pytest.raises(ArithmeticError, match="in a thread"):
        run_blocks(
            lambda: broken,
            n_values=1,
            n_draws=1000,
            n_gammas=100_000,
            seed=np.random.SeedSequence(1),
            n_jobs=2,
        )
