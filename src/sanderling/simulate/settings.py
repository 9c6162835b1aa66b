"""What a simulation is asked for, and what it cannot be asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sanderling.clock import timestamp_us
from sanderling.errors import ConfigError
from sanderling.simulate.globe import At, at_of

START_US = 1_714_550_400_000_000  # 2024-05-01 08:00:00
LEAST_STEP_S, MOST_STEP_S = 0.001, 86_400


@dataclass(frozen=True, slots=True)
class TrafficSettings:
    """How much moves, and how it reports."""

    objects: int = 10_000  # at the beginning
    new: int = 10  # that appear in every later step
    step_us: int = 1_000_000
    start_us: int = START_US
    seed: int = 7
    noise_m: float = 0.0  # standard deviation of a reported place, in x and in y
    skip: float = 0.0  # the chance that an object does not report in a step
    keeps_going: bool = False  # who arrives chooses another goal; buses always do
    at: At | None = None  # where (0, 0) lies on the globe; None: on a plane

    def __post_init__(self) -> None:
        _refuse_outside("objects", self.objects, 1, 10_000_000)
        _refuse_outside("new", self.new, 0, 1_000_000)
        _refuse_outside("step", self.step_us / 1e6, LEAST_STEP_S, MOST_STEP_S)
        _refuse_outside("seed", self.seed, 0, 2**63 - 1)
        _refuse_outside("noise", self.noise_m, 0, 1e6)
        _refuse_outside("skip", self.skip, 0, 0.999)


def _refuse_outside(name: str, value: float, least: float, most: float) -> None:
    # Written so that NaN, which is neither below nor above, is refused too.
    if not (math.isfinite(value) and least <= value <= most):
        raise ConfigError("config.bad_option", f"--{name} cannot be {value}", f"from {least:,} to {most:,}")


def settings_of(
    objects: int,
    new: int,
    step_s: float,
    start: str,
    seed: int,
    noise_m: float,
    skip: float,
    keeps_going: bool,
    at: str | None = None,
) -> TrafficSettings:
    """The settings as the command takes them."""
    _refuse_outside("step", step_s, LEAST_STEP_S, MOST_STEP_S)
    start_us = timestamp_us(start)
    if start_us is None:
        raise ConfigError(
            "config.bad_option", f'--start "{start}" is not a time', "such as 2024-05-01 08:00:00"
        )
    step_us = round(step_s * 1_000_000)
    place = None if at is None else at_of(at)
    return TrafficSettings(objects, new, step_us, start_us, seed, noise_m, skip, keeps_going, place)
