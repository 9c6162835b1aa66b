"""A road network as columns: junctions, and the two-way roads between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sanderling.arrays import F64, I64
from sanderling.errors import ConfigError

# What may be driven on a road of each class, from the fastest to the slowest.
LIMIT_MPS = np.array([33.0, 25.0, 19.0, 14.0, 11.0, 8.0, 5.0])
N_CLASSES = len(LIMIT_MPS)


@dataclass(frozen=True, slots=True)
class Network:
    """Nodes have a place; edges join two of them by number, both ways."""

    x: F64
    y: F64
    from_node: I64
    to_node: I64
    edge_class: I64
    length_m: F64

    def largest_part(self) -> Network:
        """The largest set of nodes that can reach each other, with its edges."""
        n = len(self.x)
        joined = coo_array((np.ones(len(self.from_node)), (self.from_node, self.to_node)), shape=(n, n))
        _, part = connected_components(joined, directed=False)
        is_in = part == np.bincount(part, minlength=1).argmax()
        if is_in.sum() < 2:
            raise ConfigError(
                "config.empty_network",
                "no road of the network leads anywhere",
                "it needs two nodes and an edge",
            )
        return self.part(is_in, is_in[self.from_node])

    def part(self, is_node: npt.NDArray[np.bool_], is_edge: npt.NDArray[np.bool_]) -> Network:
        """Some nodes, and some edges between them."""
        number = np.cumsum(is_node) - 1
        return Network(
            self.x[is_node], self.y[is_node], number[self.from_node[is_edge]],
            number[self.to_node[is_edge]], self.edge_class[is_edge], self.length_m[is_edge],
        )  # fmt: skip

    def centred(self) -> Network:
        """The same network around (0, 0)."""
        x, y = (v - (v.min() + v.max()) / 2 for v in (self.x, self.y))
        return Network(x, y, self.from_node, self.to_node, self.edge_class, self.length_m)
