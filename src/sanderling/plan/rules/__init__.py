"""What is rewritten in a query's tree, a file a rule, in their order; without them answers are the same.

push_down   conditions go to whoever can judge them first
fold        a condition, and what is computed of the rows that satisfy it, are one step
finish      shards finish what is of one scan alone
narrow      columns that nobody reads are left out
place       what an object's key decides is finished in its shard
"""

from __future__ import annotations

from sanderling.plan.logical import Rule
from sanderling.plan.rules.finish import finish
from sanderling.plan.rules.fold import fold
from sanderling.plan.rules.narrow import narrow
from sanderling.plan.rules.place import place
from sanderling.plan.rules.push_down import push_down

RULES: tuple[Rule, ...] = (push_down, fold, finish, narrow, place)
