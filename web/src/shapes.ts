// Shapes that people draw: what they are, the tool that draws them point by point, and their outlines on the map.

export type Point = [number, number];
export type Shape =
  | {kind: 'rectangle'; from: Point; to: Point}
  | {kind: 'circle'; centre: Point; radius: number}
  | {kind: 'polygon'; points: Point[]}
  | {kind: 'line'; points: Point[]; within: number}
  | {kind: 'place'; at: Point}
  | {kind: 'named'; rings: Point[][]};
/** What can be drawn. */
export type ShapeKind = Exclude<Shape['kind'], 'named'>;

/** What the map is measured in: the plane's own units, or degrees and metres. */
export interface Measure {
  isGlobe: boolean;
}

const EARTH_M = 6_371_008.8;
const M_PER_DEGREE = (Math.PI / 180) * EARTH_M;
const CORNERS = 64;

/** One shape in the making. Drags make rectangles and circles, clicks polygons and lines. */
export class Pencil {
  points: Point[] = [];
  private isDown = false;

  constructor(readonly kind: ShapeKind, readonly measure: Measure, readonly within: number) {}

  get isDragged(): boolean {
    return this.kind === 'rectangle' || this.kind === 'circle';
  }

  /** What is drawn so far, with the pointer at its end. */
  get shape(): Shape | null {
    return shapeOf(this.kind, this.points, this.measure, this.within);
  }

  press(at: Point): void {
    this.isDown = true;
    if (this.isDragged) this.points = [at, at];
    else if (this.kind === 'place') this.points = [at];
    else if (this.points.length === 0) this.points = [at, at];
    else this.points = [...this.points.slice(0, -1), at, at];
  }

  move(at: Point): void {
    if (this.points.length === 0 || (this.isDragged && !this.isDown) || this.kind === 'place') return;
    this.points = [...this.points.slice(0, -1), at];
  }

  /** The finished shape, if letting go finishes it. */
  release(at: Point): Shape | null {
    this.move(at);
    this.isDown = false;
    return this.isDragged || this.kind === 'place' ? this.shape : null;
  }

  /** The finished shape, without the point that still hung on the pointer. */
  finish(): Shape | null {
    const points = this.isDragged ? this.points : withoutRepeats(this.points.slice(0, -1));
    return shapeOf(this.kind, points, this.measure, this.within);
  }
}

function shapeOf(kind: ShapeKind, points: Point[], measure: Measure, within: number): Shape | null {
  const [first, second] = points;
  if (!first) return null;
  if (kind === 'place') return {kind, at: first};
  if (!second || isSamePoint(first, second) && points.length === 2) return null;
  if (kind === 'rectangle') {
    return first[0] === second[0] || first[1] === second[1] ? null : {kind, from: first, to: second};
  }
  if (kind === 'circle') return {kind, centre: first, radius: distance(first, second, measure)};
  if (kind === 'line') return {kind, points, within};
  return points.length < 3 ? null : {kind, points};
}

function isSamePoint(a: Point, b: Point): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

function withoutRepeats(points: Point[]): Point[] {
  return points.filter((point, i) => i === 0 || !isSamePoint(point, points[i - 1]));
}

export function textOf(points: readonly Point[]): string {
  return points.map(point => point.join(' ')).join(', ');
}

/** Points as SQL writes them, `x y, x y`; as far as they can be read. */
export function pointsIn(text: string): Point[] {
  const points: Point[] = [];
  for (const part of text.split(',')) {
    const [x, y, ...more] = part.trim().split(/\s+/).map(Number);
    if (!Number.isFinite(x) || !Number.isFinite(y) || more.length) break;
    points.push([x, y]);
  }
  return points;
}

export function distance(a: Point, b: Point, measure: Measure): number {
  if (!measure.isGlobe) return Math.hypot(a[0] - b[0], a[1] - b[1]);
  const [u, v] = [a, b].map(([lon, lat]) => {
    const [l, p] = [(lon * Math.PI) / 180, (lat * Math.PI) / 180];
    return [Math.cos(p) * Math.cos(l), Math.cos(p) * Math.sin(l), Math.sin(p)];
  });
  return 2 * EARTH_M * Math.asin(Math.min(1, Math.hypot(u[0] - v[0], u[1] - v[1], u[2] - v[2]) / 2));
}

/** Rings to show a shape by. A line's corridor is shown by its middle. */
export function outline(shape: Shape, measure: Measure): Point[][] {
  switch (shape.kind) {
    case 'rectangle': {
      const [[x1, y1], [x2, y2]] = [shape.from, shape.to];
      return [[[x1, y1], [x2, y1], [x2, y2], [x1, y2], [x1, y1]]];
    }
    case 'circle':
      return [circle(shape.centre, shape.radius, measure)];
    case 'polygon':
      return [[...shape.points, shape.points[0]]];
    case 'line':
      return [shape.points];
    case 'named':
      return shape.rings;
    case 'place':
      return [];
  }
}

function circle([x, y]: Point, radius: number, measure: Measure): Point[] {
  const up = measure.isGlobe ? radius / M_PER_DEGREE : radius;
  const across = measure.isGlobe ? up / Math.max(1e-6, Math.cos((y * Math.PI) / 180)) : radius;
  return Array.from({length: CORNERS + 1}, (_, i) => {
    const turn = (2 * Math.PI * (i % CORNERS)) / CORNERS;
    return [x + across * Math.cos(turn), y + up * Math.sin(turn)] as Point;
  });
}
