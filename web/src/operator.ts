// The operator's view: all objects (thinned, and said so), all queries, clients, streams, dead letters, curves, the plan.
import * as api from './api';
import {Curves, type Sample} from './curves';
import {byId, count, fill, h, say} from './dom';
import {numbersOf, shotOf, type Frame} from './frames';
import {VirtualList, type Line} from './list';
import type {Live, Tick, View} from './live';
import type {LiveMap, Region} from './map';
import {ringsAround, ringsOf} from './mine';
import {shortened} from './queries';
import type {Point} from './shapes';
import {colourOf, css} from './theme';
import type {Query, Stream} from './wire';

const LOOK_AGAIN_MS = 2000;
const TURN_AFTER_MS = 150;
const MOST_OBJECTS = 30_000;
// Of any number of queries so many are fetched at once; the next when they are scrolled to.
const PAGE = 500;
const SILENT: Figures['streams'][string] = {readings_per_second: 0, letters: {}};
const QUERY_COLOUR = colourOf(7);
const OTHER_COLOUR = colourOf(6);

interface Figures {
  ticks: {tick: string | null; latency_s: number | null; batch_s: number | null; readings: number; updates: number}[];
  streams: Record<string, {readings_per_second: number; letters: Record<string, number>}>;
}

interface Plan {
  columns: string[];
  rows: string[][];
}

interface Connected {
  owner: string;
  role?: string;
  address?: string;
  looks_at: string[];
  waiting_bytes: number;
  lag_s?: number | null;
}

export class Operator {
  private readonly list = new VirtualList('queries', true);
  private readonly search = h('input', {type: 'search', class: 'search', placeholder: 'part of a name or of the SQL', 'aria-label': 'search queries'});
  private readonly figures = h('div', {class: 'figures'});
  private readonly clients = h('div', {class: 'scroll'});
  private readonly letters = h('div', {class: 'scroll'});
  private readonly streamTable = h('div', {class: 'scroll'});
  private readonly plan = h('div', {class: 'plan', tabindex: 0});
  private readonly aboutQuery = h('p', {class: 'note sql'});
  private readonly aboutCount = h('p', {class: 'note'});
  private readonly curves: Curves;
  private queries: Query[] = [];
  private total = 0;
  private isFetching = false;
  private chosen: string | null = null;
  private channel = 0;
  private reading = 0;
  private timers: number[] = [];
  private turning = 0;
  private there: ArrayLike<number> = [];
  private readonly keys: unknown[] = [];
  private readonly slotByKey = new Map<string, number>();
  private readonly tip = h('div', {class: 'tip', hidden: true});

  constructor(private readonly map: LiveMap, private readonly live: Live, private readonly streams: Stream[], private readonly onTick: (tick: Tick) => void) {
    const curve = h('div', {class: 'curve'});
    const part = (title: string, ...inside: Node[]): HTMLElement => h('section', {'aria-label': title}, h('h2', {}, title), ...inside);
    const legend = h('p', {class: 'note'}, h('i', {class: 'dot latency'}), ' from reading to update  ', h('i', {class: 'dot batch'}), ' between batches');
    fill(byId('operator'),
      h('p', {class: 'note lead'}, 'All that moves, and all that is asked. To ask something yourself, go to ', h('a', {href: '#client'}, 'Ask'), '.'),
      part('Now', this.figures), part('Latency and batches', curve, legend),
      part('Queries', this.search, this.list.element, this.aboutCount, this.aboutQuery), part('Plan', this.plan),
      part('Streams', this.streamTable), part('Dead letters', this.letters), part('Clients', this.clients));
    this.curves = new Curves(curve);
    this.list.setColumns(['query', 'owner', 'rows', '+', '−'], [false, false, true, true, true]);
    this.list.onHover = name => this.chooseQuery(name);
    this.list.onPick = name => this.showPlan(name);
    this.list.onEnd = () => void this.more();
    this.search.addEventListener('input', () => void this.refreshQueries());
    byId('map').append(this.tip);
    map.onHover = (slot, at) => this.hover(slot, at);
    map.onPick = () => undefined;
  }

  async start(): Promise<void> {
    this.say('waiting for the next tick …');
    this.channel = this.live.view(this.view, {
      onFrame: frame => this.take(frame),
      onKeys: (slots, keys) => slots.forEach((slot, i) => this.name(slot, keys[i])),
      onError: problem => this.say(problem.detail),
    });
    this.map.onMoved = () => this.turnSoon();
    await Promise.all([this.refresh(), this.refreshQueries()]);
    this.showPlan(this.queries[0]?.name ?? null);
    this.timers.push(window.setInterval(() => void this.refresh().catch(() => undefined), LOOK_AGAIN_MS));
    this.timers.push(window.setInterval(() => void this.refreshQueries().catch(() => undefined), LOOK_AGAIN_MS * 2));
  }

  stop(): void {
    this.timers.splice(0).forEach(clearInterval);
    this.map.onMoved = () => undefined;
    this.live.unsubscribe(this.channel);
    if (this.reading) this.live.unsubscribe(this.reading);
    this.curves.close();
    this.tip.remove();
    byId('map-note').hidden = true;
  }

  retint(): void {
    this.curves.retint();
  }

  // ----- all objects

  private name(slot: number, key: unknown): void {
    const before = String(this.keys[slot]);
    if (this.slotByKey.get(before) === slot) this.slotByKey.delete(before);
    this.keys[slot] = key;
    this.slotByKey.set(String(key), slot);
  }

  private get view(): View {
    const view = this.map.view;
    return {stream: this.streams[0].name, box: view?.box ?? [-1e9, -1e9, 1e9, 1e9], pixel: view ? 1 / view.pixelsPerUnit : 0, most: MOST_OBJECTS};
  }

  private turnSoon(): void {
    clearTimeout(this.turning);
    this.turning = window.setTimeout(() => this.live.turn(this.channel, this.view), TURN_AFTER_MS);
  }

  /** A frame holds all that are to be shown: who is not in it is nowhere. */
  private take(frame: Frame): void {
    const {shown, in_view, origin, kinds, tick} = shotOf(frame);
    const column = (name: string): ArrayLike<number> => numbersOf(frame.table.getChild(name)!);
    const [slot, x, y, kind] = [column('slot'), column('x'), column('y'), column('kind')];
    const heading = frame.table.getChild('heading') ? column('heading') : null;
    const {objects} = this.map;
    const isHere = new Uint8Array(objects.count + slot.length + 1);
    for (let i = 0; i < slot.length; i++) if (slot[i] < isHere.length) isHere[slot[i]] = 1;
    for (let i = 0; i < this.there.length; i++) if (!isHere[this.there[i]]) objects.hide(this.there[i]);
    for (let i = 0; i < slot.length; i++) {
      this.map.place(slot[i], x[i] + origin[0], y[i] + origin[1], heading ? heading[i] * (360 / 256) : -1);
      objects.paint(slot[i], colourOf(kind[i]));
    }
    this.there = slot;
    if (this.queries.some(query => query.focal !== null)) this.showRegions();
    if (tick) this.onTick(tick);
    const said = shown < in_view ? `${count(shown)} of ${count(in_view)} objects in view are shown` : `${count(in_view)} objects in view`;
    this.say(said, kinds.map((name, i) => h('span', {}, h('i', {class: 'dot', style: `background:${css(colourOf(i))}`}), ` ${name ?? '–'}`)));
  }

  private say(words: string, legend: HTMLElement[] = []): void {
    const note = byId('map-note');
    note.hidden = false;
    fill(note, words, ...legend);
  }

  private hover(slot: number | null, at: {x: number; y: number}): void {
    this.map.choose(slot);
    this.tip.hidden = slot === null;
    if (slot === null) return;
    say(this.tip, String(this.keys[slot] ?? slot));
    this.tip.style.translate = `${at.x + 12}px ${at.y + 12}px`;
  }

  // ----- queries

  private async refreshQueries(): Promise<void> {
    const {rows, total} = await this.page(0, Math.max(PAGE, this.queries.length));
    [this.queries, this.total] = [rows, total];
    this.showQueries();
  }

  private async more(): Promise<void> {
    if (this.queries.length >= this.total || this.isFetching) return;
    this.isFetching = true;
    const {rows, total} = await this.page(this.queries.length, PAGE).finally(() => (this.isFetching = false));
    [this.queries, this.total] = [[...this.queries, ...rows], total];
    this.showQueries();
  }

  private page(offset: number, limit: number): Promise<{rows: Query[]; total: number}> {
    const like = this.search.value.trim();
    return api.page('queries', {offset, limit, ...(like ? {like} : {})});
  }

  private showQueries(): void {
    this.list.setLines(this.queries.map((query): Line => ({
      id: query.name,
      colour: css(query.kind === 'query' ? QUERY_COLOUR : OTHER_COLOUR),
      cells: [query.name, query.owner ?? 'script', ...[query.size, query.came, query.went].map(n => (n === null ? '–' : count(n)))],
      below: shortened(query.sql),
    })));
    say(this.aboutCount, `${count(this.total)} ${this.total === 1 ? 'query' : 'queries'}`);
    this.showRegions();
  }

  /** One that follows an object is shown around it, as long as the object is. */
  private showRegions(): void {
    const regions: Region[] = [];
    for (const {region, focal, name} of this.queries) {
      if (!region) continue;
      const rings = focal === null ? ringsOf(region) : this.around(focal, ringsOf(region));
      if (rings.length) regions.push({rings, colour: QUERY_COLOUR, isFilled: name === this.chosen});
    }
    this.map.setRegions(regions);
  }

  private around(focal: string | number, rings: Point[][]): Point[][] {
    const slot = this.slotByKey.get(String(focal));
    if (slot === undefined || !this.map.objects.isThere(slot)) return [];
    return ringsAround(rings, this.map.goalOf(slot), this.streams[0].globe);
  }

  private chooseQuery(name: string | null): void {
    this.chosen = name ?? this.chosen;
    const query = this.queries.find(one => one.name === this.chosen);
    say(this.aboutQuery, query ? query.sql : '');
    this.showQueries();
  }

  private showPlan(name: string | null): void {
    this.chooseQuery(name);
    if (name === null) return;
    this.read(name);
    api.get<Plan>(`plan/${encodeURIComponent(name)}?analyze=true`).then(
      plan => fill(this.plan, table(plan.columns, plan.rows)), e => say(this.plan, api.problemIn(e).detail));
  }

  /** How large a query is, is known of those that somebody reads. */
  private read(name: string): void {
    if (this.reading) this.live.unsubscribe(this.reading);
    const nothing = (): void => undefined;
    this.reading = this.live.subscribe(name, {onColumns: nothing, onRows: nothing, onProgress: nothing, onError: nothing});
  }

  // ----- figures

  private async refresh(): Promise<void> {
    const [figures, clients] = await Promise.all([api.get<Figures>('figures'), api.get<Connected[]>('clients')]);
    const ticks = figures.ticks.filter(tick => tick.tick !== null);
    const last = ticks[ticks.length - 1];
    if (last?.tick) this.onTick(last.tick);
    const streams = this.streams.map(stream => ({name: stream.name, lateness: stream.lateness_seconds, ...(figures.streams[stream.name] ?? SILENT)}));
    const figure = (value: string, words: string): HTMLElement => h('div', {}, h('b', {}, value), h('span', {}, words));
    fill(this.figures,
      figure(count(streams.reduce((sum, stream) => sum + stream.readings_per_second, 0)), 'readings/s'),
      figure(count(last?.updates ?? 0), 'updates a batch'), figure(count(this.total), this.total === 1 ? 'query' : 'queries'),
      figure(seconds(last?.latency_s), 'latency'), figure(seconds(last?.batch_s), 'a batch every'), figure(count(clients.length), clients.length === 1 ? 'client' : 'clients'));
    fill(this.streamTable, table(['stream', 'readings/s', 'lateness', 'too late', 'dead letters'], streams.map(s => {
      const all = Object.values(s.letters).reduce((a, b) => a + b, 0);
      return [s.name, count(s.readings_per_second), seconds(s.lateness), count(s.letters.late ?? 0), count(all)];
    })));
    const letters = streams.flatMap(s => Object.entries(s.letters).map(([reason, n]) => [s.name, reason, count(n)]));
    fill(this.letters, letters.length ? table(['stream', 'reason', 'rows'], letters) : h('p', {class: 'note'}, 'None.'));
    fill(this.clients, clients.length ? table(['client', 'reads', 'waiting', 'lag'], clients.map(c => [
      [c.owner, c.address].filter(Boolean).join(' · '), count(c.looks_at.length), bytes(c.waiting_bytes), seconds(c.lag_s)]))
      : h('p', {class: 'note'}, 'Nobody is connected.'));
    this.curves.add(ticks.map((tick): Sample => ({at: Date.parse(tick.tick ?? '') / 1000, latency_s: tick.latency_s, batch_s: tick.batch_s})));
  }
}

function table(heads: string[], rows: string[][]): HTMLElement {
  const cell = (tag: 'th' | 'td', words: string, i: number): HTMLElement => h(tag, {class: i ? 'number' : '', scope: tag === 'th' ? 'col' : null}, words);
  return h('table', {}, h('thead', {}, h('tr', {}, ...heads.map((words, i) => cell('th', words, i)))),
    h('tbody', {}, ...rows.map(row => h('tr', {}, ...row.map((words, i) => cell('td', words, i))))));
}

function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (value > 86_400) return `${count(value / 86_400)} days`; // of readings of another time
  return `${value.toFixed(value < 10 && !Number.isInteger(value) ? 2 : 0)} s`;
}

function bytes(value: number): string {
  return value < 1e5 ? `${count(value / 1e3)} kB` : `${(value / 1e6).toFixed(1)} MB`;
}
