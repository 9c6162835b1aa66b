import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Field, Float64, Int64, Int8, makeData, RecordBatch, Schema, Struct, Table, tableToIPC, TimestampMicrosecond, Utf8, vectorFromArray} from 'apache-arrow';
import {readFrame, valuesOf} from '../src/frames';
import {ticksOf} from '../src/live';
import type {Column} from '../src/wire';

const COLUMNS: Column[] = [{name: 'id', type: 'BIGINT', role: 'key'}, {name: 'line', type: 'STRING', role: null}];

/** A frame as the server makes it. */
function frame(channel: number, flags: number, ticks: number[], signs: number[], ids: bigint[], names: (string | null)[]): ArrayBuffer {
  const vectors = [
    vectorFromArray(ticks.map(tick => tick / 1000), new TimestampMicrosecond()), vectorFromArray(signs, new Int8()),
    vectorFromArray(ids, new Int64()), vectorFromArray(names, new Utf8()),
  ];
  const schema = new Schema(['tick', 'sign', 'id', 'line'].map((name, i) => new Field(name, vectors[i].type, true)));
  const data = makeData({type: new Struct(schema.fields), length: ticks.length, nullCount: 0, children: vectors.map(v => v.data[0])});
  const body = tableToIPC(new Table(schema, [new RecordBatch(schema, data)]), 'stream');
  const bytes = new Uint8Array(8 + body.length);
  new DataView(bytes.buffer).setUint32(0, channel, true);
  bytes.set([1, flags], 4);
  bytes.set(body, 8);
  return bytes.buffer;
}

test('a frame says whose it is, and its rows come tick by tick', () => {
  const read = readFrame(frame(70_000, 0, [1e6, 1e6, 2e6], [-1, 1, 1], [1n, 1n, 9007199254740993n], ['a', null, 'c']));
  assert.deepEqual([read.channel, read.kind, read.flags], [70_000, 1, 0]);
  const parts = ticksOf(read, COLUMNS);
  assert.deepEqual(parts.map(part => [part.signs, part.rows, part.isWhole]), [
    [[-1, 1], [[1, 'a'], [1, null]], false],
    [[1], [['9007199254740993', 'c']], false],
  ]);
});

test('a whole answer is one part, also if it is empty', () => {
  assert.deepEqual(ticksOf(readFrame(frame(1, 1, [], [], [], [])), COLUMNS).map(part => [part.rows, part.isWhole]), [[[], true]]);
  const [part, ...more] = ticksOf(readFrame(frame(1, 1, [1e6, 1e6], [1, 1], [1n, 2n], ['a', 'b'])), COLUMNS);
  assert.deepEqual([part.rows.length, part.isWhole, more.length], [2, true, 0]);
});

test('values that a list can show', () => {
  assert.deepEqual(valuesOf(vectorFromArray([1n, null, 2n ** 60n], new Int64())), [1, null, '1152921504606846976']);
  assert.deepEqual(Array.from(valuesOf(vectorFromArray([1.5, 2], new Float64()))), [1.5, 2]);
  assert.deepEqual(valuesOf(vectorFromArray([1.5, null], new Float64())), [1.5, null]);
});
