// The map: what is drawn, what the pointer is over, and drawing with it.
//
// roads · regions · objects · a ring around the chosen ──► layers ──► ground (plane or globe)
import type {Layer, PickingInfo} from '@deck.gl/core';
import {SolidPolygonLayer} from '@deck.gl/layers';
import {Dots} from './dots';
import {Plane, type Beneath, type Box, type Ground} from './ground';
import {LineBuffer, Lines} from './lines';
import {Objects, type Colour} from './objects';
import {outline, type Measure, type Pencil, type Point, type Shape} from './shapes';

export interface Region {
  rings: Point[][];
  colour: Colour;
  isFilled: boolean;
}

export interface Tint {
  road: Colour;
  mainRoad: Colour;
  draft: Colour;
  ring: Colour;
}

// Keys on the map: they move it by a part of what can be seen.
const WAYS: Record<string, Point> = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};
const ZOOMS: Record<string, number> = {'+': 0.5, '=': 0.5, '-': -0.5};
const PART = 0.15;

interface Road {
  geometry: {type: string; coordinates: Point[] | Point[][] | Point[][][]};
  properties?: {class?: number} | null;
}

const MAIN_CLASSES = 3;
/** How large a dot is where so many are drawn, in pixels. */
const SIZES: [number, number][] = [[300, 8], [2000, 6.5], [10_000, 5], [Infinity, 4]];

export class LiveMap {
  readonly objects = new Objects();
  onHover: (slot: number | null, at: {x: number; y: number}) => void = () => undefined;
  onPick: (slot: number | null, at: Point) => void = () => undefined;
  onDrawn: (shape: Shape) => void = () => undefined;
  onMoved: () => void = () => undefined;
  measure: Measure = {isGlobe: false};
  private ground: Ground | null = null;
  private pencil: Pencil | null = null;
  private drafted: Shape | null = null;
  private roads: Road[] = [];
  private roadLayer: Layer | null = null;
  private regions: Region[] = [];
  private regionLayers: Layer[] = [];
  private chosen: number | null = null;
  private drawn = -1;
  private isStale = true;
  private restUntil = 0;
  private isClosed = false;

  constructor(private readonly parent: HTMLDivElement, private tint: Tint) {
    this.listen();
    const frame = (): void => {
      if (this.isClosed) return;
      this.draw();
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  async open(isGlobe: boolean, box: Box, beneath: Beneath): Promise<void> {
    this.measure = {isGlobe};
    const listeners = {
      onHover: (info: PickingInfo) => this.onHover(slotOf(info), {x: info.x, y: info.y}),
      onMoved: () => this.onMoved(),
    };
    if (isGlobe) this.ground = await (await import('./globe')).openGlobe(this.parent, beneath, listeners);
    else this.ground = new Plane(this.parent, [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2], listeners);
    this.ground.fit(box);
    this.setRoads(this.roads);
    this.setRegions(this.regions);
  }

  /** Nothing is drawn any more, and what the GPU holds is given back. */
  close(): void {
    this.isClosed = true;
    this.ground?.close();
  }

  // ----- what is shown

  get now(): number {
    return performance.now() / 1000;
  }

  place(slot: number, x: number, y: number, heading: number): void {
    const [x0, y0] = this.ground?.origin ?? [0, 0];
    this.objects.place(slot, x - x0, y - y0, heading, this.now);
  }

  placeOf(slot: number): Point {
    const [x, y] = this.objects.drawnAt(slot, this.now);
    const [x0, y0] = this.ground?.origin ?? [0, 0];
    return [x + x0, y + y0];
  }

  goalOf(slot: number): Point {
    const [x0, y0] = this.ground?.origin ?? [0, 0];
    return [this.objects.goals[2 * slot] + x0, this.objects.goals[2 * slot + 1] + y0];
  }

  setTint(tint: Tint): void {
    this.tint = tint;
    this.ground?.retint();
    this.setRoads(this.roads);
    this.setRegions(this.regions);
  }

  setRoads(roads: Road[]): void {
    this.roads = roads;
    if (!this.ground) return;
    const buffer = new LineBuffer();
    for (const {geometry, properties} of roads) {
      const isMain = (properties?.class ?? MAIN_CLASSES) < MAIN_CLASSES;
      for (const line of linesOf(geometry)) buffer.add(this.local(line), [...(isMain ? this.tint.mainRoad : this.tint.road), 255]);
    }
    this.roadLayer = new Lines({id: 'roads', data: buffer.data, isWide: false});
    this.isStale = true;
  }

  setRegions(regions: Region[]): void {
    this.regions = regions;
    if (!this.ground) return;
    const buffer = new LineBuffer();
    const filled: {ring: Point[]; colour: number[]}[] = [];
    for (const {rings, colour, isFilled} of regions) {
      for (const ring of rings) {
        const local = this.local(ring);
        buffer.add(local, [...colour, 255]);
        if (isFilled && isClosed(ring)) filled.push({ring: local, colour: [...colour, 36]});
      }
    }
    this.regionLayers = [
      new SolidPolygonLayer({
        id: 'fills', data: filled, getPolygon: (d: {ring: Point[]}) => d.ring, getFillColor: (d: {colour: number[]}) => d.colour as never,
      }),
      new Lines({id: 'borders', data: buffer.data, isWide: true}),
    ];
    this.isStale = true;
  }

  /** A shape that is asked about, but not yet. */
  setDraft(shape: Shape | null): void {
    this.drafted = shape;
    this.isStale = true;
  }

  /** A ring around one object, wherever it goes. */
  choose(slot: number | null): void {
    this.chosen = slot;
    this.isStale = true;
  }

  fit(box: Box): void {
    this.ground?.fit(box);
    this.onMoved();
  }

  look(at: Point): void {
    this.ground?.look(at);
    this.onMoved();
  }

  zoomBy(steps: number): void {
    this.ground?.zoomBy(steps);
    this.onMoved();
  }

  /** What can be seen, and how many pixels a unit has. */
  get view(): {box: Box; pixelsPerUnit: number; width: number; height: number} | null {
    const viewport = this.ground?.viewport();
    if (!viewport) return null;
    const [a, b] = [this.at(0, viewport.height), this.at(viewport.width, 0)];
    if (!a || !b) return null;
    const box: Box = [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[0], b[0]), Math.max(a[1], b[1])];
    return {box, pixelsPerUnit: viewport.width / Math.max(1e-12, box[2] - box[0]), width: viewport.width, height: viewport.height};
  }

  /** Where on the screen a place is. */
  project(at: Point): Point | null {
    const [x, y] = this.ground?.viewport()?.project(this.local([at])[0]) ?? [NaN, NaN];
    return Number.isFinite(x) ? [x, y] : null;
  }

  // ----- drawing by hand

  draft(pencil: Pencil | null): void {
    this.pencil = pencil;
    this.parent.classList.toggle('drawing', pencil !== null);
    this.isStale = true;
  }

  get isDrafting(): boolean {
    return this.pencil !== null;
  }

  finishDraft(): void {
    const shape = this.pencil?.finish();
    if (shape) this.done(shape);
  }

  private done(shape: Shape): void {
    this.draft(null);
    this.onDrawn(shape);
  }

  private listen(): void {
    let pressedAt: Point | null = null;
    const on = (kind: 'pointerdown' | 'pointermove' | 'pointerup' | 'dblclick', then: (at: Point, e: MouseEvent) => void): void =>
      this.parent.addEventListener(kind, e => {
        const frame = this.parent.getBoundingClientRect();
        const at = this.at(e.clientX - frame.left, e.clientY - frame.top);
        if (!at) return;
        if (this.pencil) {
          e.stopPropagation();
          e.preventDefault();
        }
        then(at, e);
      }, {capture: true});
    on('pointerdown', (at, e) => {
      pressedAt = [e.clientX, e.clientY];
      if (!this.pencil) return;
      this.parent.setPointerCapture((e as PointerEvent).pointerId);
      this.pencil.press(at);
      this.isStale = true;
    });
    on('pointermove', at => {
      if (!this.pencil) return;
      this.pencil.move(at);
      this.isStale = true;
    });
    on('pointerup', (at, e) => {
      const isClick = pressedAt !== null && Math.hypot(e.clientX - pressedAt[0], e.clientY - pressedAt[1]) < 5;
      pressedAt = null;
      if (this.pencil) {
        const shape = this.pencil.release(at);
        if (shape) this.done(shape);
        this.isStale = true;
      } else if (isClick) this.onPick(this.nearest(e), at);
    });
    on('dblclick', () => this.finishDraft());
    this.parent.addEventListener('keydown', e => {
      const way = WAYS[e.key];
      const view = this.view;
      if (e.target !== this.parent || !view || (!way && !(e.key in ZOOMS))) return;
      e.preventDefault();
      const [x1, y1, x2, y2] = view.box;
      if (way) this.look([(x1 + x2) / 2 + way[0] * PART * (x2 - x1), (y1 + y2) / 2 + way[1] * PART * (y2 - y1)]);
      else this.zoomBy(ZOOMS[e.key]);
    });
  }

  /** The object that is drawn nearest to the pointer, if it is near. */
  private nearest(e: MouseEvent): number | null {
    const viewport = this.ground?.viewport();
    if (!viewport) return null;
    const frame = this.parent.getBoundingClientRect();
    const [px, py] = [e.clientX - frame.left, e.clientY - frame.top];
    let found: number | null = null;
    let least = 14 ** 2;
    for (let slot = 0; slot < this.objects.count; slot++) {
      if (!this.objects.isThere(slot)) continue;
      const [x, y] = viewport.project(this.objects.drawnAt(slot, this.now));
      const far = (x - px) ** 2 + (y - py) ** 2;
      if (far < least) [least, found] = [far, slot];
    }
    return found;
  }

  private at(x: number, y: number): Point | null {
    const found = this.ground?.viewport()?.unproject([x, y]);
    const [x0, y0] = this.ground?.origin ?? [0, 0];
    return found ? [found[0] + x0, found[1] + y0] : null;
  }

  private local(points: readonly Point[]): Point[] {
    const [x0, y0] = this.ground?.origin ?? [0, 0];
    return points.map(([x, y]) => [x - x0, y - y0]);
  }

  // ----- each frame

  private draw(): void {
    if (!this.ground) return;
    if (this.isStale || this.drawn !== this.objects.version) {
      this.drawn = this.objects.version;
      this.isStale = false;
      this.restUntil = this.now + this.objects.glide_s + 0.1;
      this.ground.setLayers(this.layers());
    }
    // Nothing moves once all have come to where they are: no frame is drawn for nothing.
    if (this.now < this.restUntil) this.ground.redraw();
  }

  private layers(): Layer[] {
    const {objects} = this;
    const size = SIZES.find(([most]) => objects.count <= most)?.[1] ?? 4;
    const shared = {clock: () => this.now, glide: objects.glide_s};
    const layers: Layer[] = this.roadLayer ? [this.roadLayer, ...this.regionLayers] : [...this.regionLayers];
    layers.push(new Dots({id: 'objects', ...shared, pickable: true, size, isRing: false, data: dataOf(objects, 0, objects.count)}));
    if (this.chosen !== null && objects.isThere(this.chosen)) {
      const data = dataOf(objects, this.chosen, this.chosen + 1);
      data.attributes.getColour = {value: new Uint8Array([...this.tint.ring, 255]), size: 4, type: 'unorm8', normalized: true};
      data.attributes.getHeading = {value: new Float32Array([-1]), size: 1};
      layers.push(new Dots({id: 'ring', ...shared, pickable: false, size: size + 10, isRing: true, data}));
    }
    const shape = this.pencil?.shape ?? this.drafted;
    if (shape) {
      const buffer = new LineBuffer();
      for (const ring of outline(shape, this.measure)) buffer.add(this.local(ring), [...this.tint.draft, 255]);
      layers.push(new Lines({id: 'draft', data: buffer.data, isWide: true}));
    }
    return layers;
  }
}

function slotOf(info: PickingInfo): number | null {
  return info.layer?.id === 'objects' && info.index >= 0 ? info.index : null;
}

function dataOf(objects: Objects, from: number, to: number): Dots['props']['data'] {
  return {
    length: to - from,
    attributes: {
      getStart: {value: objects.starts.subarray(from * 3, to * 3), size: 3},
      getGoal: {value: objects.goals.subarray(from * 2, to * 2), size: 2},
      getColour: {value: objects.colours.subarray(from * 4, to * 4), size: 4, type: 'unorm8', normalized: true},
      getHeading: {value: objects.headings.subarray(from, to), size: 1},
    },
  };
}

function linesOf({type, coordinates}: Road['geometry']): Point[][] {
  if (type === 'LineString') return [coordinates as Point[]];
  if (type === 'MultiLineString' || type === 'Polygon') return coordinates as Point[][];
  return type === 'MultiPolygon' ? (coordinates as Point[][][]).flat() : [];
}

function isClosed(ring: Point[]): boolean {
  const [first, last] = [ring[0], ring[ring.length - 1]];
  return ring.length > 3 && first[0] === last[0] && first[1] === last[1];
}
