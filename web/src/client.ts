// The client's view: my queries, what they hold on the map and in the list, and asking for more.
//
// updates of my queries ──► answers ──► objects on the map, rows of the list, alerts
import {Alerts} from './alerts';
import type {Step} from './answer';
import * as api from './api';
import {Ask} from './ask';
import {byId, count, digitsOf, fill, h, isNumeric, say, shown} from './dom';
import {VirtualList, type Line} from './list';
import type {Live, Tick} from './live';
import type {LiveMap, Region} from './map';
import {Mine, ringsOf} from './mine';
import {Slots} from './objects';
import {QueryList} from './queries';
import type {Point} from './shapes';
import {focalSelect, freshName, type Question} from './sql';
import {colourOf} from './theme';
import type {About, Column, Geometry, Query, Stream, Value} from './wire';

const MARKED_MS = 1000;
const SETTLE_MS = 250;
const LOOK_AGAIN_MS = 5000;
const FADED = 150;
const MOST_QUERIES = 1000;
const MOST_OFFERED = 40;
const DEGREE_DIGITS = 5;
const SAMPLED = 200;
const MOST_TOLD = 3;

interface Named {
  properties: {name: string};
  geometry: Geometry | null;
}

interface Gone {
  values: Value[];
  at: number;
}

export class Client {
  readonly mine = new Map<string, Mine>();
  private readonly looked = new Set<string>(); // of the script's
  private readonly slots = new Slots();
  private readonly list = new VirtualList('answer');
  private readonly cards: QueryList;
  private readonly alerts: Alerts;
  readonly ask: Ask;
  private chosen: Mine | null = null;
  private colours = 0;
  private cameAt = new Map<string, number>();
  private gone = new Map<string, Gone>();
  private hovered: string | null = null;
  private isListStale = true;
  private areRegionsStale = true;
  private isWanted = false;
  private readonly tip = h('div', {class: 'tip', hidden: true});
  private readonly over = new AbortController();

  constructor(private readonly map: LiveMap, private readonly live: Live, private readonly about: About, private readonly streams: Stream[], private readonly onTick: (tick: Tick) => void) {
    byId('answer').append(this.list.element);
    byId('map').append(this.tip);
    this.cards = new QueryList(byId('mine'), byId('mine-empty'), {
      choose: mine => this.choose(mine),
      follow: mine => this.follow(mine),
      drop: mine => void this.drop(mine),
    });
    this.alerts = new Alerts(live, byId('alerts'), byId('alerts-of'), byId('alerts-count'), byId('alerts-empty'));
    this.ask = new Ask(map, streams, this.over.signal);
    this.ask.taken = () => this.mine.keys();
    this.ask.onSubmit = (name, sql, question) => this.submit(name, sql, question);
    this.ask.onWaitForObject = isWaiting => (this.isWanted = isWaiting);
    byId('suggest').addEventListener('click', () => this.ask.suggest(), {signal: this.over.signal});
    this.list.onHover = id => this.hover(id === null ? null : this.slotOf(this.chosen, id), id);
    this.list.onPick = id => this.lookAt(id);
    map.onHover = (slot, at) => this.hoverMap(slot, at);
    map.onPick = slot => this.pick(slot);
  }

  async start(): Promise<void> {
    await this.refresh();
    const timers = [
      window.setInterval(() => void this.refresh().catch(() => undefined), LOOK_AGAIN_MS),
      window.setInterval(() => this.settle(), SETTLE_MS),
    ];
    this.over.signal.addEventListener('abort', () => timers.forEach(clearInterval));
  }

  stop(): void {
    this.over.abort();
    for (const mine of this.mine.values()) mine.end();
    this.cards.show([], null);
    this.alerts.close();
    this.list.element.remove();
    this.tip.remove();
  }

  // ----- which queries there are

  private async refresh(): Promise<void> {
    const {owner} = this.about.you;
    const there = await api.queries({limit: MOST_QUERIES});
    if (this.over.signal.aborted) return;
    // What the script says belongs to nobody; its alerts are the operators'.
    this.alerts.watch(there.filter(query => query.kind !== 'query' && (query.owner === owner || query.owner === null)), owner);
    const queries = there.filter(query => query.kind === 'query');
    const plain = queries.filter(query => query.owner === owner || this.looked.has(query.name));
    this.offer(queries.filter(query => query.owner === null && !this.looked.has(query.name)));
    for (const query of plain) if (!this.mine.has(query.name)) this.add(query);
    for (const mine of [...this.mine.values()]) if (!plain.some(query => query.name === mine.name)) this.remove(mine);
    this.showCards();
    const regions = await api.get<{features: Named[]}>('regions').catch((): {features: Named[]} => ({features: []}));
    this.ask.setRegions(regions.features.map(({properties, geometry}) => ({name: properties.name, rings: geometry ? ringsOf(geometry) : []})));
  }

  /** What the script has registered is nobody's: operators may look at it, too. */
  private offer(queries: Query[]): void {
    const also = byId('also');
    also.hidden = queries.length === 0;
    fill(also, also.firstElementChild!, ...queries.slice(0, MOST_OFFERED).map(({name, sql}) =>
      h('button', {type: 'button', class: 'quiet', title: sql, 'aria-label': `look at ${name}`, onclick: () => void this.lookInto(name)}, name)));
  }

  private async lookInto(name: string): Promise<void> {
    this.looked.add(name);
    await this.refresh();
    this.choose(this.mine.get(name) ?? this.chosen);
  }

  private add(query: Query): Mine {
    const stream = this.streams.find(one => one.name === query.stream) ?? this.streams[0];
    const mine = new Mine(query, stream, colourOf(this.colours++), this.live, {
      onStep: (which, step) => this.step(which, step),
      onProgress: (which, tick) => this.progress(which, tick),
      onProblem: which => this.cards.update(which),
    });
    this.mine.set(query.name, mine);
    this.areRegionsStale = true;
    if (!this.chosen) this.choose(mine);
    return mine;
  }

  private remove(mine: Mine): void {
    mine.end();
    this.mine.delete(mine.name);
    const wasChosen = this.chosen === mine;
    if (wasChosen) this.chosen = null; // nothing is on the map for its sake any more
    for (const key of mine.answer.rows.keys()) this.place(mine, key);
    if (wasChosen) this.choose(this.mine.values().next().value ?? null);
    this.areRegionsStale = true;
    this.showCards();
  }

  private showCards(): void {
    this.cards.show(this.mine.values(), this.chosen);
    this.ask.unfold(this.mine.size === 0);
    byId('answer-section').hidden = this.mine.size === 0; // until something is asked there is one thing to do
  }

  private async submit(name: string | null, sql: string, question: Question): Promise<void> {
    if (name === null) await api.run(sql);
    else {
      await api.register(name, sql);
      const focal = question.kind === 'around' || question.kind === 'nearest-to' ? question.focal : '';
      if (focal && !this.placeOfFocal(question.stream, focal)) await this.showFocal(question.stream, focal);
    }
    await this.refresh();
    const added = name === null ? null : this.mine.get(name);
    if (added) this.choose(added);
  }

  /** Only objects of my queries are sent to me: the one that others are asked around becomes a query too. */
  private async showFocal(stream: Stream, key: string): Promise<void> {
    const taken = [...this.mine.keys()];
    const wanted = `object_${key.replace(/\W+/g, '_')}`;
    await api.register(taken.includes(wanted) ? freshName(wanted, taken) : wanted, focalSelect(stream, key));
  }

  private async drop(mine: Mine): Promise<void> {
    if (this.looked.delete(mine.name)) {
      this.remove(mine);
      return this.refresh();
    }
    try {
      await api.drop(mine.name);
      this.remove(mine);
      const {focal} = mine;
      const others = [...this.mine.values()];
      const left = focal === null || others.some(one => one.focal === focal) ? undefined : others.find(one => one.shows(focal));
      if (left) await this.drop(left);
    } catch (e) {
      mine.problem = api.problemIn(e);
      this.cards.update(mine);
    }
  }

  // ----- what a tick changed

  private step(mine: Mine, step: Step): void {
    for (const key of [...step.came, ...step.changed, ...step.went.map(row => row.key)]) this.place(mine, key);
    this.areRegionsStale = true; // one of them may be around an object of this one
    if (mine !== this.chosen) return;
    this.isListStale = true;
    const now = performance.now();
    if (mine.isReady) {
      for (const key of step.came) this.cameAt.set(key, now);
      for (const row of step.went) this.gone.set(row.key, {values: row.values, at: now});
    }
  }

  private progress(mine: Mine, tick: Tick): void {
    this.cards.update(mine);
    this.onTick(tick);
    if (!mine.isFollowed) return;
    const middle = (mine.focal === null ? null : this.placeOfFocal(mine.stream, mine.focal)) ?? mine.middle();
    if (middle) this.map.look(middle);
  }

  /** An object is where my queries say it is; the chosen query paints it, else the first that holds it. */
  private place(mine: Mine, key: string): void {
    if (!mine.answer.isOnMap && mine.answer.columns.length) return;
    const holder = this.holderOf(mine.stream, key);
    const id = objectId(mine.stream, key);
    if (!holder) {
      const slot = this.slots.get(id);
      if (slot !== undefined) this.map.objects.hide(slot);
      this.slots.give(id);
      return;
    }
    const at = holder.answer.placeOf(key);
    if (!at) return;
    const slot = this.slots.take(id);
    this.map.place(slot, ...at);
    this.paint(slot, holder);
  }

  private holderOf(stream: Stream, key: string): Mine | null {
    const holds = (mine: Mine): boolean => mine.stream === stream && mine.answer.isOnMap && mine.answer.hasKey && mine.answer.rows.has(key);
    if (this.chosen && holds(this.chosen)) return this.chosen;
    for (const mine of this.mine.values()) if (holds(mine)) return mine;
    return null;
  }

  private paint(slot: number, holder: Mine): void {
    this.map.objects.paint(slot, holder.colour, this.chosen && holder !== this.chosen ? FADED : 255);
  }

  private choose(mine: Mine | null): void {
    this.chosen = mine;
    this.cameAt.clear();
    this.gone.clear();
    this.hover(null, null);
    for (const one of this.mine.values()) {
      for (const key of one.answer.rows.keys()) {
        const holder = this.holderOf(one.stream, key);
        const slot = this.slots.get(objectId(one.stream, key));
        if (holder && slot !== undefined) this.paint(slot, holder);
      }
    }
    this.areRegionsStale = this.isListStale = true;
    this.showCards();
    this.settle();
  }

  private follow(mine: Mine): void {
    const isFollowed = !mine.isFollowed;
    for (const one of this.mine.values()) one.isFollowed = one === mine && isFollowed;
    const middle = mine.middle();
    if (isFollowed && middle) this.map.look(middle);
    this.showCards();
  }

  // ----- a few times a second, what is stale is shown anew

  private settle(): void {
    if (this.areRegionsStale) this.showRegions();
    const now = performance.now();
    for (const [key, at] of this.cameAt) if (now - at > MARKED_MS) this.isListStale = this.cameAt.delete(key);
    for (const [key, {at}] of this.gone) if (now - at > MARKED_MS) this.isListStale = this.gone.delete(key);
    if (this.isListStale) this.showList();
  }

  private showRegions(): void {
    this.areRegionsStale = false;
    const regions: Region[] = [];
    for (const mine of this.mine.values()) {
      const focal = mine.focal === null ? null : this.placeOfFocal(mine.stream, mine.focal);
      const rings = mine.rings(focal);
      if (rings.length) regions.push({rings, colour: mine.colour, isFilled: mine === this.chosen});
    }
    this.map.setRegions(regions);
  }

  private showList(): void {
    this.isListStale = false;
    const {chosen} = this;
    say(byId('answer-of'), chosen ? chosen.name : '');
    byId('answer-empty').hidden = chosen !== null;
    this.list.element.hidden = chosen === null;
    if (!chosen) return;
    say(byId('answer-size'), chosen.isReady ? `${count(chosen.answer.size)} rows` : 'waiting for the next tick …');
    const {columns} = chosen.answer;
    this.list.setColumns(columns.map(column => column.name), columns.map(column => isNumeric(column.type)));
    const gone = [...this.gone].filter(([key]) => !chosen.answer.rows.has(key));
    const rows = [...chosen.answer.rows].flatMap(([key, held]) => held.map((row): [string, Value[]] => [key, row.values]));
    const isDegree = (column: Column): boolean => chosen.stream.globe && (column.role === 'x' || column.role === 'y');
    const digits = columns.map((column, i) => (isDegree(column) ? DEGREE_DIGITS : digitsOf(sampled(rows, i))));
    const lineOf = (id: string, values: Value[], mark: Line['mark']): Line => ({id, mark, cells: values.map((value, i) => shown(value, columns[i].type, digits[i]))});
    const lineAt = (place: number): Line => {
      if (place < gone.length) return lineOf(gone[place][0], gone[place][1].values, 'went');
      const [key, values] = rows[place - gone.length];
      return lineOf(key, values, this.cameAt.has(key) ? 'came' : null);
    };
    this.list.show(gone.length + rows.length, lineAt, place => (place < gone.length ? gone[place] : rows[place - gone.length])[0]);
  }

  // ----- hovering and clicking

  private slotOf(mine: Mine | null, key: string): number | undefined {
    return mine ? this.slots.get(objectId(mine.stream, key)) : undefined;
  }

  private hover(slot: number | null | undefined, key: string | null): void {
    this.hovered = key;
    this.map.choose(slot ?? null);
    if (key === null) this.tip.hidden = true;
  }

  private hoverMap(slot: number | null, at: {x: number; y: number}): void {
    const key = slot === null ? null : keyIn(this.slots.nameOf(slot) ?? '');
    if (key !== this.hovered) {
      this.hover(slot, key);
      this.list.choose(key, true);
    }
    if (slot === null || key === null) return;
    const holders = [...this.mine.values()].filter(mine => mine.answer.rows.has(key));
    fill(this.tip, h('b', {}, key), ...holders.slice(0, 1).map(mine => saidOf(mine, key)), h('small', {}, `in ${holders.map(mine => mine.name).join(', ')}`));
    this.tip.hidden = false;
    this.tip.style.translate = `${at.x + 12}px ${at.y + 12}px`;
  }

  private pick(slot: number | null): void {
    const key = slot === null ? null : keyIn(this.slots.nameOf(slot) ?? '');
    if (key === null) return;
    if (this.isWanted && this.ask.picked(key)) return;
    const holder = [...this.mine.values()].find(mine => mine.answer.rows.has(key));
    if (holder && (!this.chosen || !this.chosen.answer.rows.has(key))) this.choose(holder);
    this.hover(slot, key);
    this.list.choose(key, true);
  }

  private lookAt(key: string): void {
    const at = this.chosen?.answer.placeOf(key);
    if (at) this.map.look([at[0], at[1]]);
  }

  private placeOfFocal(stream: Stream, key: string): Point | null {
    for (const mine of this.mine.values()) {
      if (mine.stream !== stream) continue;
      const at = mine.answer.placeOf(key);
      if (at) return [at[0], at[1]];
    }
    return null;
  }
}

function objectId(stream: Stream, key: string): string {
  return `${stream.name}\u001e${key}`;
}

function keyIn(id: string): string {
  return id.slice(id.indexOf('\u001e') + 1);
}

/** What its first row says beside who and where it is. */
function saidOf({answer}: Mine, key: string): string {
  const values = answer.rows.get(key)?.[0]?.values ?? [];
  const told = answer.columns.map((column, i) => (column.role === null || column.role === 'kind' ? shown(values[i] ?? null, column.type) : ''));
  return told.filter(Boolean).slice(0, MOST_TOLD).map(word => ` · ${word}`).join('');
}

/** Some values of a column: how long its numbers are is seen by them. */
function* sampled(rows: readonly [string, Value[]][], column: number): Iterable<Value> {
  for (let i = 0; i < Math.min(rows.length, SAMPLED); i++) yield rows[i][1][column];
}

