// What the map stands on: a plane in any unit, or the globe (globe.ts, loaded when a stream is on it).
import {Deck, OrthographicView, type Layer, type PickingInfo, type Viewport} from '@deck.gl/core';
import type {Point} from './shapes';

export type Box = [number, number, number, number];

export interface Listeners {
  onHover(info: PickingInfo): void;
  onMoved(): void;
}

/** What the server has to lie beneath the globe: an archive of tiles, or the address of a style. */
export interface Beneath {
  tiles: boolean;
  style: string | null;
}

export interface Ground {
  /** Added to what is drawn, it gives what is meant: numbers on the GPU are short. */
  readonly origin: Point;
  setLayers(layers: Layer[]): void;
  redraw(): void;
  viewport(): Viewport | undefined;
  fit(box: Box): void;
  look(at: Point): void;
  zoomBy(steps: number): void;
  /** Light or dark has changed. */
  retint(): void;
  close(): void;
}

const ROOM_AROUND = 1.1;
/** A map is flat: what is drawn later is on top, however depths are rounded. */
export const FLAT = {depthCompare: 'always', depthWriteEnabled: false} as const;

export class Plane implements Ground {
  private readonly deck: Deck<OrthographicView>;

  constructor(private readonly parent: HTMLDivElement, readonly origin: Point, listeners: Listeners) {
    this.deck = new Deck({
      parent,
      views: new OrthographicView({flipY: false}),
      initialViewState: {target: [0, 0, 0], zoom: 0},
      controller: {keyboard: true, inertia: 200},
      pickingRadius: 8,
      parameters: FLAT,
      useDevicePixels: Math.min(2, window.devicePixelRatio),
      onHover: info => listeners.onHover(info),
      onViewStateChange: () => listeners.onMoved(),
      layers: [],
    });
  }

  setLayers(layers: Layer[]): void {
    this.deck.setProps({layers});
  }

  redraw(): void {
    if (this.deck.isInitialized) this.deck.redraw('glide');
  }

  viewport(): Viewport | undefined {
    return this.deck.isInitialized ? this.deck.getViewports()[0] : undefined;
  }

  fit([x1, y1, x2, y2]: Box): void {
    const {clientWidth, clientHeight} = this.parent;
    const unitsPerPixel = Math.max((x2 - x1) / (clientWidth || 1), (y2 - y1) / (clientHeight || 1), 1e-9) * ROOM_AROUND;
    this.show([(x1 + x2) / 2 - this.origin[0], (y1 + y2) / 2 - this.origin[1]], -Math.log2(unitsPerPixel));
  }

  look(at: Point): void {
    this.show([at[0] - this.origin[0], at[1] - this.origin[1]], this.zoom());
  }

  zoomBy(steps: number): void {
    const centre = this.viewport()?.center ?? [0, 0];
    this.show([centre[0], centre[1]], this.zoom() + steps);
  }

  retint(): void {} // the page's own colours do it

  close(): void {
    this.deck.finalize();
  }

  private zoom(): number {
    return this.viewport()?.zoom ?? 0;
  }

  private show(target: Point, zoom: number): void {
    this.deck.setProps({initialViewState: {target: [...target, 0], zoom}});
  }
}
