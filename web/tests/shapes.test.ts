import assert from 'node:assert/strict';
import {test} from 'node:test';
import {distance, outline, Pencil, pointsIn, textOf} from '../src/shapes';

const PLANE = {isGlobe: false};
const GLOBE = {isGlobe: true};

test('a drag makes a rectangle, a click alone none', () => {
  const pencil = new Pencil('rectangle', PLANE, 1);
  pencil.press([0, 0]);
  pencil.move([4, 2]);
  assert.deepEqual(pencil.shape, {kind: 'rectangle', from: [0, 0], to: [4, 2]});
  assert.deepEqual(pencil.release([5, 3]), {kind: 'rectangle', from: [0, 0], to: [5, 3]});
  pencil.press([1, 1]);
  assert.equal(pencil.release([1, 1]), null);
});

test('a circle is drawn from its centre', () => {
  const pencil = new Pencil('circle', PLANE, 1);
  pencil.press([1, 1]);
  assert.deepEqual(pencil.release([4, 5]), {kind: 'circle', centre: [1, 1], radius: 5});
});

test('clicks make a polygon, and the point under the pointer is none of it', () => {
  const pencil = new Pencil('polygon', PLANE, 1);
  for (const at of [[0, 0], [4, 0], [4, 4]] as const) {
    pencil.press([...at]);
    assert.equal(pencil.release([...at]), null);
  }
  pencil.move([9, 9]);
  assert.deepEqual(pencil.finish(), {kind: 'polygon', points: [[0, 0], [4, 0], [4, 4]]});
});

test('a double click gives no point twice', () => {
  const pencil = new Pencil('line', PLANE, 20);
  for (const at of [[0, 0], [4, 0], [4, 0]] as const) {
    pencil.press([...at]);
    pencil.release([...at]);
  }
  assert.deepEqual(pencil.finish(), {kind: 'line', points: [[0, 0], [4, 0]], within: 20});
});

test('too few corners are no shape', () => {
  const pencil = new Pencil('polygon', PLANE, 1);
  pencil.press([0, 0]);
  pencil.press([1, 0]);
  assert.equal(pencil.finish(), null);
  assert.equal(new Pencil('line', PLANE, 1).finish(), null);
});

test('a place is one click', () => {
  const pencil = new Pencil('place', PLANE, 1);
  pencil.press([3, 4]);
  assert.deepEqual(pencil.release([3, 4]), {kind: 'place', at: [3, 4]});
});

test('on the globe distances are metres, and a circle is wider in degrees than it is high', () => {
  assert.ok(Math.abs(distance([0, 0], [1, 0], GLOBE) - 111_195) < 1);
  assert.ok(Math.abs(distance([10, 60], [11, 60], GLOBE) - 55_597) < 5);
  const [ring] = outline({kind: 'circle', centre: [10, 60], radius: 1000}, GLOBE);
  const width = Math.max(...ring.map(p => p[0])) - Math.min(...ring.map(p => p[0]));
  const height = Math.max(...ring.map(p => p[1])) - Math.min(...ring.map(p => p[1]));
  assert.ok(Math.abs(width / height - 2) < 0.01);
});

test('outlines of what is closed end where they begin', () => {
  for (const shape of [
    {kind: 'rectangle', from: [0, 0], to: [1, 1]}, {kind: 'circle', centre: [0, 0], radius: 3}, {kind: 'polygon', points: [[0, 0], [1, 0], [1, 1]]},
  ] as Parameters<typeof outline>[0][]) {
    const [ring] = outline(shape, PLANE);
    assert.deepEqual(ring[0], ring[ring.length - 1]);
  }
  assert.deepEqual(outline({kind: 'place', at: [0, 0]}, PLANE), []);
});

test('points that are written are read as far as they can be', () => {
  assert.deepEqual(pointsIn(' 1 2,3.5  -4 , 5'), [[1, 2], [3.5, -4]]);
  assert.deepEqual(pointsIn('1 2 3, 4 5'), []);
  assert.deepEqual(pointsIn(''), []);
  assert.deepEqual(pointsIn(textOf([[0, 0], [1, 0.5]])), [[0, 0], [1, 0.5]]);
});
