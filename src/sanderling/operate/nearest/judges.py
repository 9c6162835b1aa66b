"""Whether a query takes an object where no kernel can tell: exact polygons, and conditions of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sanderling.arrays import F64, I64, Bools
from sanderling.operate.readings.readings import LastReadings
from sanderling.operate.where.asks import Asks, columns_of
from sanderling.operate.where.conditions import pairs_judged
from sanderling.plans import operator_ids
from sanderling.plans.plan import StreamPlan
from sanderling.space.geometry import NO_POSE
from sanderling.space.moving.pose import own_places
from sanderling.space.outlines.polygons import Polygons


@dataclass(frozen=True, slots=True)
class Judge:
    plan: StreamPlan
    asks: Asks
    polygons: Polygons
    pose: F64 = field(default_factory=lambda: NO_POSE)  # of all regions, or none

    def takes(self, region: I64, rows: I64, objects: LastReadings) -> Bools:
        """For pairs of a region and a reading, whether the one takes the other; their boxes meet already."""
        regions = self.plan.regions
        takes = np.ones(len(rows), np.bool_)
        if len(self.polygons):
            own = own_places(self.pose, region, objects.x[rows], objects.y[rows])
            takes = self.polygons.hold(region, *own)
        template_of = regions.template[region]
        for template, constants in zip(self.plan.templates, self.plan.constants, strict=True):
            if template.id not in self.asks.by_pair or template.where is None:
                continue
            some = np.flatnonzero(takes & (template_of == template.id))
            if len(some):
                in_template = regions.row_in_template[region[some]]
                figures, where = self.asks.figures, operator_ids.where(template.id)
                with figures.timed(where):
                    takes[some] = pairs_judged(
                        template, columns_of(objects, rows[some]), constants, in_template
                    )
                figures.add(where, len(some), np.count_nonzero(takes[some]))
        return takes
