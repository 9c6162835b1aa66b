"""What is rewritten in a query's tree, a file a rule, in their order; without them answers are the same.

look        what a scan tells now and then, the rows' own waiting does
push_down   conditions go to whoever can judge them first
fold        a condition, and what is computed of the rows that satisfy it, are one step
finish      shards finish what is of one scan alone
narrow      columns that nobody reads are left out
company     STAY_WITHIN of objects of streams has an operator of its own
place       what an object's key decides is finished in its shard
feedback    later steps of a pattern are looked at for those only that have passed the earlier ones
"""

from __future__ import annotations

from sanderling.plan.logical import Rule
from sanderling.plan.rules.company import company
from sanderling.plan.rules.feedback import feedback
from sanderling.plan.rules.finish import finish
from sanderling.plan.rules.fold import fold
from sanderling.plan.rules.look import look
from sanderling.plan.rules.narrow import narrow
from sanderling.plan.rules.place import place
from sanderling.plan.rules.push_down import push_down

RULES: tuple[Rule, ...] = (look, push_down, fold, finish, narrow, company, place, feedback)
