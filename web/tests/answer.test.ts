import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Answer} from '../src/answer';
import type {Column, Value} from '../src/wire';

const COLUMNS: Column[] = [
  {name: 'id', type: 'BIGINT', role: 'key'}, {name: 'x', type: 'DOUBLE', role: 'x'}, {name: 'y', type: 'DOUBLE', role: 'y'},
];

const held = (answer: Answer): string[] => [...answer.rows.values()].flat().map(row => row.values.join(' ')).sort();

test('who moves is neither come nor gone', () => {
  const answer = new Answer(COLUMNS);
  answer.apply(1, [1, 1], [[1, 0, 0], [2, 5, 5]]);
  const step = answer.apply(2, [-1, -1, 1, 1], [[1, 0, 0], [2, 5, 5], [1, 1, 0], [3, 9, 9]]);
  assert.deepEqual([step.came, step.went.map(row => row.key), step.changed], [['3'], ['2'], ['1']]);
  assert.deepEqual([step.rowsIn, step.rowsOut], [2, 2]);
  assert.deepEqual(held(answer), ['1 1 0', '3 9 9']);
  assert.deepEqual(answer.placeOf('1'), [1, 0, -1]);
});

test('a + before its − in a tick is as good', () => {
  const answer = new Answer(COLUMNS);
  answer.apply(1, [1], [[1, 0, 0]]);
  answer.apply(2, [1, -1], [[1, 1, 0], [1, 0, 0]]);
  assert.deepEqual(held(answer), ['1 1 0']);
});

test('equal rows are counted, and without a key a row is known by all it says', () => {
  const answer = new Answer([{name: 'type', type: 'STRING', role: null}, {name: 'n', type: 'BIGINT', role: null}]);
  answer.apply(1, [1, 1, 1], [['bus', 1], ['bus', 1], ['car', null]]);
  assert.equal(answer.size, 3);
  const step = answer.apply(2, [-1], [['bus', 1]]);
  assert.equal(answer.size, 2);
  assert.deepEqual([step.came, step.went], [[], []]);
  assert.equal(answer.isOnMap, false);
  assert.equal(answer.placeOf('bus\u001f1'), null);
});

test('a whole answer takes the place of what was known, and the step is the difference', () => {
  const answer = new Answer(COLUMNS);
  answer.replace(1, [[1, 0, 0], [2, 0, 0]]);
  const step = answer.replace(5, [[2, 3, 0], [3, 0, 0]]);
  assert.deepEqual([step.came, step.went.map(row => row.key), step.changed], [['3'], ['1'], ['2']]);
  assert.deepEqual(held(answer), ['2 3 0', '3 0 0']);
  assert.equal(answer.replace(6, []).went.length, 2);
  assert.equal(answer.size, 0);
});

test('updates add up to the answer, in random worlds', () => {
  let seed = 7;
  const draw = (n: number): number => (seed = (seed * 48271) % 2147483647) % n;
  const answer = new Answer(COLUMNS);
  let now = new Map<number, Value[]>();
  for (let tick = 1; tick <= 200; tick++) {
    const next = new Map<number, Value[]>();
    for (let id = 0; id < 8; id++) if (draw(3)) next.set(id, [id, draw(3), draw(2)]);
    const gone = [...now.values()].filter(row => String(next.get(row[0] as number)) !== String(row));
    const come = [...next.values()].filter(row => String(now.get(row[0] as number)) !== String(row));
    const step = answer.apply(tick, [...gone.map(() => -1), ...come.map(() => 1)], [...gone, ...come]);
    assert.deepEqual(held(answer), [...next.values()].map(row => row.join(' ')).sort());
    assert.deepEqual(step.came.sort(), [...next.keys()].filter(id => !now.has(id)).map(String).sort());
    assert.deepEqual(step.went.map(row => row.key).sort(), [...now.keys()].filter(id => !next.has(id)).map(String).sort());
    now = next;
  }
});
