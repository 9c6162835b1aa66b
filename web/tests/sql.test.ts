import assert from 'node:assert/strict';
import {test} from 'node:test';
import {focalSelect, freshName, missing, name, pointedInto, rounded, selectOf, type Question} from '../src/sql';
import type {Stream} from '../src/wire';

const CITY: Stream = {
  name: 'city', key: 'id', x: 'x', y: 'y', globe: false, kind: 'type', heading: null, tick_seconds: 1, lateness_seconds: 0,
  columns: [{name: 'id', type: 'BIGINT'}, {name: 'x', type: 'DOUBLE'}, {name: 'y', type: 'DOUBLE'}, {name: 'type', type: 'STRING'}],
};
const SHIPS: Stream = {...CITY, name: 'my ships', columns: [{name: 'id', type: 'STRING'}]};

const asked = (some: Partial<Question>): string => selectOf({
  stream: CITY, kind: 'rectangle', shape: null, focal: '', radius: 300, k: 5, region: '', condition: '', columns: [], ...some,
});

test('each kind has its clause', () => {
  const said: [Partial<Question>, string][] = [
    [{shape: {kind: 'rectangle', from: [1, 2], to: [3, 4]}}, 'INSIDE (1, 2, 3, 4)'],
    [{kind: 'circle', shape: {kind: 'circle', centre: [1, 2], radius: 3}}, 'INSIDE (1, 2, 3)'],
    [{kind: 'polygon', shape: {kind: 'polygon', points: [[0, 0], [1, 0], [1, 1]]}}, 'INSIDE POLYGON ((0 0, 1 0, 1 1, 0 0))'],
    [{kind: 'line', shape: {kind: 'line', points: [[0, 0], [5, 0]], within: 20}}, 'INSIDE ON LINE (0 0, 5 0) WITHIN 20'],
    [{kind: 'nearest', shape: {kind: 'place', at: [7, 8]}}, 'kNN (5, 7, 8)'],
    [{kind: 'around', focal: '12'}, 'INSIDE AROUND (12, 300)'],
    [{kind: 'nearest-to', focal: '12', k: 3}, "kNN ('M', 3, 12)"],
    [{kind: 'region', region: 'old_town'}, 'INSIDE old_town'],
  ];
  for (const [some, clause] of said) assert.equal(asked(some), `SELECT id, x, y FROM city ${clause}`);
});

test('a question that is not whole has no SQL, and says what it lacks', () => {
  for (const kind of ['rectangle', 'circle', 'polygon', 'line', 'around', 'nearest', 'nearest-to', 'region'] as const) {
    assert.equal(asked({kind}), '');
    assert.notEqual(missing({stream: CITY, kind, shape: null, focal: '', radius: 1, k: 1, region: '', condition: '', columns: []}), '');
  }
});

test('condition and columns', () => {
  assert.equal(
    asked({kind: 'region', region: 'old_town', condition: " type = 'bus' ", columns: ['type']}),
    "SELECT id, x, y, type FROM city WHERE type = 'bus' INSIDE old_town",
  );
});

test('names and keys are quoted where they must be', () => {
  assert.equal(name('odd `name`'), '`odd ``name```');
  assert.equal(asked({stream: SHIPS, kind: 'around', focal: "O'Brien"}), "SELECT id, x, y FROM `my ships` INSIDE AROUND ('O''Brien', 300)");
  assert.equal(focalSelect(SHIPS, '7'), "SELECT id, x, y FROM `my ships` WHERE id = '7'");
  assert.equal(focalSelect(CITY, '7'), 'SELECT id, x, y FROM city WHERE id = 7');
});

test('no more digits than the screen shows', () => {
  assert.deepEqual([rounded(1234.567, 12), rounded(1234.567, 0.01), rounded(-0.2, 3)], [1235, 1234.57, 0]);
});

test('a fresh name is one that nobody has', () => {
  assert.equal(freshName('nearest-to', ['Nearest_to_1', 'x']), 'nearest_to_2');
});

test('a place far to the right is shown with what is around it', () => {
  assert.deepEqual(pointedInto('SELECT x', 8, 1), ['SELECT x', '       ^']);
  const [line, marks] = pointedInto(`${'a'.repeat(100)} typ = 1`, 102, 3);
  assert.equal(line.slice(marks.indexOf('^'), marks.indexOf('^') + 3), 'typ');
  assert.ok(line.startsWith('…') && line.length < 40);
});
