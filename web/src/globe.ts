// The globe: MapLibre below, our layers in a canvas above it. Its megabyte is loaded only when something is on the globe.
import type {Layer, PickingInfo, Viewport} from '@deck.gl/core';
import {MapLibreOverlay} from '@deck.gl/maplibre';
import * as maplibre from 'maplibre-gl';
import {FLAT, type Beneath, type Box, type Ground, type Listeners} from './ground';
import type {Point} from './shapes';
import {isDark} from './theme';
import {Tiles} from './tiles';

const HERE = new URL('.', import.meta.url).href;

export async function openGlobe(parent: HTMLDivElement, beneath: Beneath, listeners: Listeners): Promise<Ground> {
  const sheet = document.createElement('link');
  sheet.rel = 'stylesheet';
  sheet.href = `${HERE}maplibre-gl.css`;
  document.head.append(sheet);
  maplibre.setWorkerUrl(`${HERE}maplibre-gl-worker.mjs`);
  const tiles = beneath.style === null && beneath.tiles ? await Tiles.open('/map/tiles.pmtiles') : null;
  const map = new maplibre.Map({
    container: parent,
    style: beneath.style ?? tiles?.style(isDark()) ?? {version: 8, sources: {}, layers: []},
    attributionControl: beneath.style || tiles ? {compact: true} : false,
    dragRotate: false,
    pitchWithRotate: false,
  });
  map.touchZoomRotate.disableRotation();
  map.on('move', () => listeners.onMoved());
  await map.once('load');
  return new Globe(map, tiles, listeners);
}

class Globe implements Ground {
  readonly origin: Point = [0, 0];
  private readonly overlay: MapLibreOverlay;

  constructor(private readonly map: maplibre.Map, private readonly tiles: Tiles | null, listeners: Listeners) {
    this.overlay = new MapLibreOverlay({
      interleaved: false,
      pickingRadius: 8,
      parameters: FLAT,
      onHover: (info: PickingInfo) => listeners.onHover(info),
      layers: [],
    });
    map.addControl(this.overlay);
  }

  setLayers(layers: Layer[]): void {
    this.overlay.setProps({layers});
  }

  redraw(): void {
    (this.overlay as unknown as {_deck?: {redraw(why: string): void}})._deck?.redraw('glide');
  }

  viewport(): Viewport | undefined {
    const deck = (this.overlay as unknown as {_deck?: {isInitialized: boolean; getViewports(): Viewport[]}})._deck;
    return deck?.isInitialized ? deck.getViewports()[0] : undefined;
  }

  fit([x1, y1, x2, y2]: Box): void {
    this.map.fitBounds([[x1, y1], [x2, y2]], {padding: 24, animate: false, maxZoom: 18});
  }

  look(at: Point): void {
    this.map.setCenter(at);
  }

  zoomBy(steps: number): void {
    this.map.zoomTo(this.map.getZoom() + steps, {animate: false});
  }

  close(): void {
    this.map.remove();
  }

  retint(): void {
    if (this.tiles) this.map.setStyle(this.tiles.style(isDark()));
  }
}
