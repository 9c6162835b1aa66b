import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Objects, Slots} from '../src/objects';

test('an object glides from where it is drawn to where it is', () => {
  const objects = new Objects();
  objects.place(0, 0, 0, -1, 10);
  objects.paint(0, [1, 2, 3]);
  assert.deepEqual(objects.drawnAt(0, 10), [0, 0]);
  objects.place(0, 8, 4, 90, 20);
  assert.deepEqual(objects.drawnAt(0, 20.5), [4, 2]);
  objects.place(0, 4, 2, 90, 20.5); // told again on its way: it turns round where it is
  assert.deepEqual(objects.drawnAt(0, 20.5), [4, 2]);
  assert.deepEqual(objects.drawnAt(0, 99), [4, 2]);
});

test('who was nowhere does not glide in from where somebody else was', () => {
  const objects = new Objects();
  objects.place(3, 100, 100, -1, 0);
  objects.paint(3, [0, 0, 0]);
  objects.hide(3);
  assert.equal(objects.isThere(3), false);
  objects.place(3, 1, 1, -1, 5);
  objects.paint(3, [0, 0, 0]);
  assert.deepEqual(objects.drawnAt(3, 5), [1, 1]);
});

test('room grows and keeps what is there', () => {
  const objects = new Objects();
  for (let slot = 0; slot < 5000; slot++) {
    objects.place(slot, slot, -slot, slot % 360, 1);
    objects.paint(slot, [slot % 256, 0, 0]);
  }
  assert.equal(objects.count, 5000);
  assert.deepEqual([objects.drawnAt(7, 9), objects.headings[7], objects.colours[7 * 4]], [[7, -7], 7, 7]);
  assert.equal(objects.isThere(5000), false);
});

test('a slot that was given back is given again', () => {
  const slots = new Slots();
  assert.deepEqual(['a', 'b', 'a'].map(name => slots.take(name)), [0, 1, 0]);
  slots.give('a');
  assert.equal(slots.get('a'), undefined);
  assert.equal(slots.take('c'), 0);
  assert.equal(slots.nameOf(0), 'c');
});
