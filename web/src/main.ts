// Where the page begins: who am I, which streams are there, then the map and one of the two views.
import * as api from './api';
import {Client} from './client';
import {byId, clock, fill, h, say} from './dom';
import type {Box} from './ground';
import {Live, type LinkState} from './live';
import {LiveMap} from './map';
import {Operator} from './operator';
import {tint, watchTheme} from './theme';
import type {Stream} from './wire';

const WORDS: Record<LinkState, string> = {open: 'live', opening: 'connecting', lost: 'connection lost, trying again'};
const SOMEWHERE: Box = [-1000, -1000, 1000, 1000];

interface View {
  start(): Promise<void>;
  stop(): void;
  /** Light or dark has changed. */
  retint?(): void;
}

async function begin(): Promise<void> {
  const map = new LiveMap(byId<HTMLDivElement>('map'), tint());
  let view: View | null = null;
  watchTheme(byId<HTMLButtonElement>('theme'), () => {
    map.setTint(tint());
    view?.retint?.();
  });
  const [about, all] = await Promise.all([api.about(), api.streams()]);
  if (all.length === 0) throw new Error('There is no stream yet: the script that is served declares none.');
  const streams = onOneMap(all, new URLSearchParams(location.search).get('stream'));
  const stream = streams[0];
  offerStreams(all, stream);
  const roads = about.map.roads ? await baseMap() : [];
  const box = boxOf(roads) ?? (stream.globe ? [-179, -60, 179, 75] : SOMEWHERE);
  map.objects.glide_s = matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : Math.min(5, stream.tick_seconds);
  await map.open(stream.globe, box, about.map);
  map.setRoads(roads);
  for (const [id, then] of [['zoom-in', () => map.zoomBy(1)], ['zoom-out', () => map.zoomBy(-1)], ['zoom-all', () => map.fit(box)]] as const) {
    byId(id).addEventListener('click', then);
  }
  const live = new Live(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api/v1/live`);
  live.onState = state => showState(state);
  let latest = '';
  const onTick = (tick: number | string): void => {
    const words = clock(tick);
    if (words <= latest) return;
    latest = words;
    const [day, time, zone] = words.split(' ');
    fill(byId('tick'), h('span', {class: 'day'}, `${day} `), time, h('span', {class: 'day'}, ` ${zone}`));
  };
  byId('to-operator').hidden = about.you.role !== 'operator';

  const turn = async (): Promise<void> => {
    const isOperator = location.hash === '#operator' && about.you.role === 'operator';
    view?.stop();
    map.objects.clear();
    map.setRegions([]);
    show(isOperator);
    view = isOperator ? new Operator(map, live, streams, onTick) : new Client(map, live, about, streams, onTick);
    // For whoever drives the page from outside, as our tests do.
    Object.assign(window, {sanderling: {map, live, view}});
    await view.start().catch(complain);
  };
  addEventListener('hashchange', () => void turn());
  await turn();
}

/** The stream that is wanted, else the first, and those that can be shown beside it. */
function onOneMap(all: Stream[], wanted: string | null): Stream[] {
  const first = all.find(stream => stream.name === wanted) ?? all[0];
  return [first, ...all.filter(stream => stream !== first && stream.globe === first.globe)];
}

function offerStreams(all: Stream[], shown: Stream): void {
  const select = byId<HTMLSelectElement>('stream');
  select.hidden = all.length < 2;
  fill(select, ...all.map(stream => h('option', {selected: stream === shown}, stream.name)));
  select.addEventListener('change', () => location.assign(`?stream=${encodeURIComponent(select.value)}${location.hash}`));
}

function show(isOperator: boolean): void {
  for (const part of document.querySelectorAll<HTMLElement>('.client')) part.hidden = isOperator;
  for (const part of document.querySelectorAll<HTMLElement>('.operator')) part.hidden = !isOperator;
  byId('to-client').toggleAttribute('aria-current', !isOperator);
  byId('to-operator').toggleAttribute('aria-current', isOperator);
}

function showState(state: LinkState): void {
  const link = byId('link');
  link.className = state;
  say(link, WORDS[state]);
}

type Roads = Parameters<LiveMap['setRoads']>[0];

async function baseMap(): Promise<Roads> {
  const said = await api.get<{features: Roads} | null>('/map/roads.geojson').catch(() => null);
  return said?.features ?? [];
}

function boxOf(roads: Roads): Box | null {
  const box: Box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const {geometry} of roads) {
    const numbers = geometry.coordinates.flat(Infinity) as unknown as number[];
    for (let i = 0; i + 1 < numbers.length; i += 2) {
      box[0] = Math.min(box[0], numbers[i]);
      box[1] = Math.min(box[1], numbers[i + 1]);
      box[2] = Math.max(box[2], numbers[i]);
      box[3] = Math.max(box[3], numbers[i + 1]);
    }
  }
  return box[0] < box[2] ? box : null;
}

function complain(e: unknown): void {
  const {code, detail, hint} = api.problemIn(e);
  const note = byId('map-note');
  note.hidden = false;
  say(note, code === 'auth.missing' ? 'Open the address that the server printed: it holds your token.' : [detail, hint].filter(Boolean).join(' — '));
}

begin().catch(complain);
