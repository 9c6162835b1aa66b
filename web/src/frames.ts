// A binary message: eight bytes that say whose it is, then one Arrow stream.
import {DataType, tableFromIPC, type Table, type Vector} from 'apache-arrow';
import type {Value} from './wire';

export const HEADER_BYTES = 8;
export const WHOLE = 1;

export interface Frame {
  channel: number;
  kind: number;
  flags: number;
  table: Table;
}

/** Of a frame of places: how many are in view and how many of them are shown, where 0, 0 is, and the kinds by number. */
export interface Shot {
  tick: string | null;
  shown: number;
  in_view: number;
  origin: [number, number];
  kinds: (string | null)[];
}

export function readFrame(bytes: ArrayBuffer): Frame {
  const head = new DataView(bytes, 0, HEADER_BYTES);
  return {
    channel: head.getUint32(0, true),
    kind: head.getUint8(4),
    flags: head.getUint8(5),
    table: tableFromIPC(new Uint8Array(bytes, HEADER_BYTES)),
  };
}

export function shotOf({table}: Frame): Shot {
  return JSON.parse(table.schema.metadata.get('sanderling') ?? '{}') as Shot;
}

/** The values of a column as a list can show them: whole numbers of 64 bits that fit are numbers, others texts. */
export function valuesOf(column: Vector): ArrayLike<Value> {
  // Numbers without gaps are an array already: of a hundred thousand objects most columns are.
  const raw = DataType.isFloat(column.type) || DataType.isInt(column.type) ? rawOf(column) : null;
  if (raw) return raw;
  const found: Value[] = new Array(column.length);
  for (let i = 0; i < column.length; i++) found[i] = plain(column.get(i));
  return found;
}

/** Numbers of a column, times in milliseconds; without copying where it has no gaps and the type is right. */
export function numbersOf(column: Vector): ArrayLike<number> {
  return rawOf(column) ?? Float64Array.from({length: column.length}, (_, i) => Number(column.get(i) ?? NaN));
}

function rawOf(column: Vector): ArrayLike<number> | null {
  const raw: unknown = column.nullCount === 0 && column.data.length === 1 ? column.toArray() : null;
  return raw instanceof Float32Array || raw instanceof Float64Array || raw instanceof Uint32Array || raw instanceof Uint8Array ||
    raw instanceof Int8Array || raw instanceof Int32Array || raw instanceof Uint16Array ? raw : null;
}

function plain(value: unknown): Value {
  if (value === null || value === undefined) return null;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean') return value;
  return String(value);
}
