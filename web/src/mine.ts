// One query of mine: its answer as it changes, and how it looks on the map and in the list.
import {Answer, type Step} from './answer';
import type {Live, Tick} from './live';
import type {Colour} from './objects';
import type {Point} from './shapes';
import {focalSelect} from './sql';
import type {Column, Geometry, Problem, Query, Stream} from './wire';

export interface Watcher {
  /** What one tick did to it. */
  onStep(mine: Mine, step: Step): void;
  onProgress(mine: Mine, tick: Tick): void;
  onProblem(mine: Mine, problem: Problem): void;
}

export class Mine {
  answer = new Answer([]);
  isReady = false;
  isFollowed = false;
  problem: Problem | null = null;
  /** The key of the object that it follows, or whose nearest it asks for. */
  readonly focal: string | null;
  private readonly channel: number;

  constructor(
    readonly query: Query, readonly stream: Stream, readonly colour: Colour, private readonly live: Live, watcher: Watcher,
  ) {
    const focal = query.focal ?? query.nearest?.focal ?? null;
    this.focal = focal === null ? null : String(focal);
    this.channel = live.subscribe(query.name, {
      onColumns: columns => this.begin(columns),
      onRows: (tick, signs, rows, isWhole) => {
        const step = isWhole ? this.answer.replace(tick, rows) : this.answer.apply(tick, signs, rows);
        if (this.isReady) this.answer.note(step);
        watcher.onStep(this, step);
      },
      onProgress: tick => {
        this.isReady = true;
        watcher.onProgress(this, tick);
      },
      onError: problem => {
        this.problem = problem;
        watcher.onProblem(this, problem);
      },
    });
  }

  get name(): string {
    return this.query.name;
  }

  /** The columns come at each (re)connection; what is known stays. */
  private begin(columns: Column[]): void {
    if (this.answer.columns.length === 0) this.answer = new Answer(columns);
  }

  end(): void {
    this.live.unsubscribe(this.channel);
  }

  /** Whether it was asked for only to show one object. */
  shows(key: string): boolean {
    return this.query.sql.trim().replace(/;$/, '') === focalSelect(this.stream, key);
  }

  /** Rings of its region, around the object it follows if `focal` says where that is. */
  rings(focal: Point | null): Point[][] {
    if (!this.query.region) return [];
    const rings = ringsOf(this.query.region);
    if (this.query.focal === null) return rings;
    return focal ? ringsAround(rings, focal, this.stream.globe) : [];
  }

  /** The middle of what it holds. */
  middle(): Point | null {
    let [x, y, n] = [0, 0, 0];
    for (const key of this.answer.rows.keys()) {
      const at = this.answer.placeOf(key);
      if (at) [x, y, n] = [x + at[0], y + at[1], n + 1];
    }
    return n ? [x / n, y / n] : null;
  }
}

/** Rings that follow, around where their object is. On the globe they are drawn for the equator: a degree of longitude has fewer metres elsewhere. */
export function ringsAround(rings: Point[][], [x0, y0]: Point, isGlobe: boolean): Point[][] {
  const across = isGlobe ? 1 / Math.max(1e-6, Math.cos((y0 * Math.PI) / 180)) : 1;
  return rings.map(ring => ring.map(([x, y]): Point => [x0 + x * across, y0 + y]));
}

export function ringsOf({type, coordinates}: Geometry): Point[][] {
  if (type === 'Polygon' || type === 'MultiLineString') return coordinates as Point[][];
  if (type === 'MultiPolygon') return (coordinates as Point[][][]).flat();
  return type === 'LineString' ? [coordinates as Point[]] : [];
}
