// The SELECT that a filled-in form means.
import {textOf, type Shape} from './shapes';
import type {Stream} from './wire';

export type Kind = 'rectangle' | 'circle' | 'polygon' | 'line' | 'around' | 'nearest' | 'nearest-to' | 'region';

export interface Question {
  stream: Stream;
  kind: Kind;
  shape: Shape | null;
  /** Key of the object that the region follows, or that the nearest are asked of. */
  focal: string;
  radius: number;
  k: number;
  region: string;
  condition: string;
  columns: string[];
}

/** What is still missing, in words; nothing if the question is whole. */
export function missing(question: Question): string {
  switch (question.kind) {
    case 'rectangle':
      return question.shape ? '' : 'Drag a rectangle on the map.';
    case 'circle':
      return question.shape ? '' : 'Press at the centre of a circle and drag to its edge.';
    case 'polygon':
      return question.shape ? '' : 'Click the corners of a polygon; a double click or Enter ends it.';
    case 'line':
      return question.shape ? '' : 'Click along a line; a double click or Enter ends it.';
    case 'nearest':
      return question.shape ? '' : 'Click a place on the map.';
    case 'around':
    case 'nearest-to':
      return question.focal ? '' : 'Click an object on the map, or write its key.';
    case 'region':
      return question.region ? '' : 'Choose a region.';
  }
}

export function selectOf(question: Question): string {
  if (missing(question)) return '';
  const {stream, condition} = question;
  const shown = [stream.key, stream.x, stream.y, ...question.columns];
  const where = condition.trim() ? ` WHERE ${condition.trim()}` : '';
  return `SELECT ${shown.map(name).join(', ')} FROM ${name(stream.name)}${where} ${clause(question)}`;
}

function clause(question: Question): string {
  const {shape, stream, k, radius} = question;
  switch (question.kind) {
    case 'around':
      return `INSIDE AROUND (${literal(question.focal, stream)}, ${radius})`;
    case 'nearest-to':
      return `kNN ('M', ${k}, ${literal(question.focal, stream)})`;
    case 'region':
      return `INSIDE ${name(question.region)}`;
  }
  switch (shape?.kind) {
    case 'rectangle':
      return `INSIDE (${[...shape.from, ...shape.to].join(', ')})`;
    case 'circle':
      return `INSIDE (${[...shape.centre, shape.radius].join(', ')})`;
    case 'polygon':
      return `INSIDE POLYGON ((${textOf([...shape.points, shape.points[0]])}))`;
    case 'line':
      return `INSIDE ON LINE (${textOf(shape.points)}) WITHIN ${shape.within}`;
    case 'place':
      return `kNN (${[k, ...shape.at].join(', ')})`;
    case 'named':
    case undefined:
      return '';
  }
}

/** A SELECT for one object alone: it shows where the object is that others are asked around. */
export function focalSelect(stream: Stream, key: string): string {
  const shown = [stream.key, stream.x, stream.y].map(name).join(', ');
  return `SELECT ${shown} FROM ${name(stream.name)} WHERE ${name(stream.key)} = ${literal(key, stream)}`;
}

export function name(word: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(word) ? word : `\`${word.replaceAll('`', '``')}\``;
}

function literal(key: string, stream: Stream): string {
  const type = stream.columns.find(column => column.name === stream.key)?.type ?? 'STRING';
  if (/INT|LONG/i.test(type) && /^-?\d+$/.test(key.trim())) return key.trim();
  return `'${key.replaceAll("'", "''")}'`;
}

const SHOWN_BEFORE = 24;

/** A line of SQL and marks below it; of a long line what is around the place. `column` counts from 1. */
export function pointedInto(line: string, column: number, length: number): [string, string] {
  const from = Math.max(0, column - 1 - SHOWN_BEFORE);
  const dots = from ? '…' : '';
  return [dots + line.slice(from), ' '.repeat(column - 1 - from + dots.length) + '^'.repeat(Math.max(1, length))];
}

/** A number with no more digits than the screen can show: 0.01 units a pixel, two digits. */
export function rounded(value: number, unitsPerPixel: number): number {
  const digits = Math.min(12, Math.max(0, Math.ceil(-Math.log10(unitsPerPixel))));
  return Number(value.toFixed(digits)) + 0; // + 0: no −0
}

/** A name nobody has yet: rectangle_1, rectangle_2, … */
export function freshName(kind: string, taken: Iterable<string>): string {
  const used = new Set([...taken].map(word => word.toLowerCase()));
  const stem = kind.replaceAll('-', '_');
  for (let n = 1; ; n++) if (!used.has(`${stem}_${n}`)) return `${stem}_${n}`;
}
