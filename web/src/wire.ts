// What the server says, in its own words (docs/api.md).

export type Role = 'key' | 'x' | 'y' | 'heading' | 'kind' | null;
export type Value = string | number | boolean | null;

export interface Column {
  name: string;
  type: string;
  role: Role;
}

export interface Stream {
  name: string;
  key: string;
  x: string;
  y: string;
  globe: boolean;
  /** Columns that say what an object is, and where it is going. */
  kind: string | null;
  heading: string | null;
  tick_seconds: number;
  lateness_seconds: number;
  columns: {name: string; type: string}[];
}

export interface About {
  version: string;
  you: {owner: string; role: 'client' | 'operator'};
  tick: string | null;
  /** What lies beneath the objects. */
  map: {roads: boolean; tiles: boolean; style: string | null};
}

export interface Geometry {
  type: string;
  coordinates: unknown;
}

export interface Query {
  name: string;
  sql: string;
  kind: 'query' | 'trigger' | 'pattern';
  owner: string | null;
  stream: string | null;
  columns: Column[];
  /** Around 0, 0 if it follows an object, `focal`. */
  region: Geometry | null;
  focal: string | number | null;
  nearest: {k: number; x?: number; y?: number; focal?: string | number} | null;
  /** Of a query that somebody looks at; and what its last change was. */
  size: number | null;
  came: number | null;
  went: number | null;
}

export interface Place {
  line: number;
  column: number;
  length: number;
  text: string;
}

/** A refusal, as RFC 9457 has it. */
export interface Problem {
  code: string;
  detail: string;
  hint?: string;
  place?: Place | null;
  status?: number;
}

export class Refused extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}
