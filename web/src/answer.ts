// What a query holds now: the sum of its updates. By key, so that a row that moves is neither come nor gone.
//
// signed rows of a tick ──► rows by key ──► the step: who came, who went, how many only changed
import type {Column, Value} from './wire';

export interface Row {
  key: string;
  values: Value[];
}

/** One tick of one query. */
export interface Step {
  tick: number;
  came: string[];
  went: Row[];
  changed: string[];
  rowsIn: number;
  rowsOut: number;
}

export const STEPS_KEPT = 24;

export class Answer {
  /** Rows of one key; nearly always one. */
  readonly rows = new Map<string, Row[]>();
  readonly steps: Step[] = [];
  size = 0;
  private readonly keys: number[];
  private readonly key: number; // the only one of them, if there is one
  readonly x: number;
  readonly y: number;
  readonly heading: number;

  constructor(readonly columns: Column[]) {
    const place = (role: string): number => columns.findIndex(column => column.role === role);
    this.x = place('x');
    this.y = place('y');
    this.heading = place('heading');
    const key = place('key');
    // Without a key a row is known by all that it says.
    this.keys = key >= 0 ? [key] : columns.map((_, i) => i);
    this.key = this.keys.length === 1 ? this.keys[0] : -1;
  }

  get isOnMap(): boolean {
    return this.x >= 0 && this.y >= 0;
  }

  get hasKey(): boolean {
    return this.keys.length === 1 && this.columns[this.keys[0]]?.role === 'key';
  }

  keyOf(values: Value[]): string {
    return this.key >= 0 ? String(values[this.key]) : this.keys.map(i => String(values[i])).join('\u001f');
  }

  /** Where the first row of a key is; null if it is nowhere. */
  placeOf(key: string): [number, number, number] | null {
    const values = this.rows.get(key)?.[0]?.values;
    if (!values || !this.isOnMap) return null;
    const [x, y] = [values[this.x], values[this.y]];
    if (typeof x !== 'number' || typeof y !== 'number') return null;
    const heading = this.heading < 0 ? null : values[this.heading];
    return [x, y, typeof heading === 'number' ? heading : -1];
  }

  /** The whole answer, whatever was known before: the step is the difference. */
  replace(tick: number, rows: Value[][]): Step {
    const old = [...this.rows.values()].flat().map(row => row.values);
    return this.apply(tick, [...old.map(() => -1), ...rows.map(() => 1)], [...old, ...rows]);
  }

  /** Signed rows of one tick, − and + in any order. */
  apply(tick: number, signs: ArrayLike<number>, rows: Value[][]): Step {
    const step: Step = {tick, came: [], went: [], changed: [], rowsIn: 0, rowsOut: 0};
    const touched = new Map<string, Touched>();
    // What is looked for is looked for once a key: of a hundred thousand objects that is most of the work.
    const of = rows.map((values): Touched => {
      const key = this.keyOf(values);
      let one = touched.get(key);
      if (!one) touched.set(key, (one = {key, values, held: this.rows.get(key) ?? [], isNew: !this.rows.has(key)}));
      return one;
    });
    for (let i = 0; i < rows.length; i++) {
      if (signs[i] < 0) {
        step.rowsOut++;
        if (takeAway(of[i].held, rows[i])) this.size--;
      }
    }
    for (let i = 0; i < rows.length; i++) {
      if (signs[i] > 0) {
        step.rowsIn++;
        this.size++;
        of[i].held.push({key: of[i].key, values: rows[i]});
      }
    }
    for (const {key, values, held, isNew} of touched.values()) {
      if (held.length === 0) {
        if (!isNew && this.rows.delete(key)) step.went.push({key, values});
      } else if (isNew) {
        this.rows.set(key, held);
        step.came.push(key);
      } else step.changed.push(key);
    }
    return step;
  }

  /** A step to be shown; the first answer is none. */
  note(step: Step): void {
    this.steps.push(step);
    if (this.steps.length > STEPS_KEPT) this.steps.shift();
  }
}

/** A key of which a tick told something: its rows, and what was told of it first. */
interface Touched extends Row {
  held: Row[];
  isNew: boolean;
}

function takeAway(held: Row[], values: Value[]): boolean {
  const found = held.findIndex(row => isSame(row.values, values));
  if (found >= 0) held.splice(found, 1);
  return found >= 0;
}

function isSame(a: Value[], b: Value[]): boolean {
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false;
  return true;
}
