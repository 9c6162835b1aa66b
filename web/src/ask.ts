// The form that asks: a kind, what is drawn for it, the SQL it makes, checked while it is edited.
//
// kind, shape, numbers, condition ──► question ──► SQL ⇄ the reader ──► check (dry) ──► submit
import * as api from './api';
import {byId, fill, h, say} from './dom';
import type {LiveMap} from './map';
import {Pencil, pointsIn, textOf, type Point, type Shape, type ShapeKind} from './shapes';
import {freshName, missing, name, pointedInto, rounded, selectOf, type Kind, type Question} from './sql';
import type {Problem, Stream} from './wire';

const CHECK_AFTER_MS = 250;
const KINDS: {kind: Kind; words: string; icon: string; draws: ShapeKind | null}[] = [
  {kind: 'rectangle', words: 'Inside a rectangle', icon: 'M4 6h16v12H4z', draws: 'rectangle'},
  {kind: 'circle', words: 'Inside a circle', icon: 'M12 4a8 8 0 1 0 .01 0z', draws: 'circle'},
  {kind: 'polygon', words: 'Inside a polygon', icon: 'M4 10 13 4l7 7-4 9H7z', draws: 'polygon'},
  {kind: 'line', words: 'Along a line', icon: 'M4 18 9 8l6 6 5-9', draws: 'line'},
  {kind: 'around', words: 'Around an object', icon: 'M12 4a8 8 0 1 0 .01 0zM12 10a2 2 0 1 0 .01 0z', draws: null},
  {kind: 'nearest', words: 'Nearest to a place', icon: 'M12 3a6 6 0 0 1 6 6c0 4-6 12-6 12S6 13 6 9a6 6 0 0 1 6-6z', draws: 'place'},
  {kind: 'nearest-to', words: 'Nearest to an object', icon: 'M12 12 5 6M12 12l8-4M12 12l-3 8M12 10a2 2 0 1 0 .01 0z', draws: null},
  {kind: 'region', words: 'Inside a region by name', icon: 'M6 21V4h12l-3 4 3 4H6', draws: null},
];

export interface NamedRegion {
  name: string;
  rings: Point[][];
}

export class Ask {
  /** Called with a name and a SELECT, or statements without a name. */
  onSubmit: (name: string | null, sql: string, question: Question) => Promise<void> = async () => undefined;
  /** Names that are taken. */
  taken: () => Iterable<string> = () => [];
  onWaitForObject: (isWaiting: boolean) => void = () => undefined;
  private kind: Kind | null = null;
  private shape: Shape | null = null;
  private stream: Stream;
  private regions: NamedRegion[] = [];
  private isByHand = false;
  private isNew = false;
  private timer = 0;
  private checks = 0;
  private readonly tools = byId('tools');
  private readonly form = byId<HTMLFormElement>('ask');
  private readonly fields = byId('ask-fields');
  private readonly say = byId('ask-say');
  private readonly sql = byId<HTMLTextAreaElement>('ask-sql');
  private readonly title = byId<HTMLInputElement>('ask-name');
  private readonly condition = byId<HTMLInputElement>('ask-condition');
  private readonly columns = byId('ask-columns');
  private readonly submit = byId<HTMLButtonElement>('ask-submit');
  private readonly numbers = {k: 5, radius: 300, within: 20};
  private focal = '';
  private region = '';

  constructor(private readonly map: LiveMap, private readonly streams: Stream[], private readonly signal: AbortSignal) {
    this.stream = streams[0];
    fill(this.tools, ...KINDS.map(tool => this.button(tool)));
    this.offerStreams();
    this.offerColumns();
    map.onDrawn = shape => this.drawn(shape);
    this.condition.addEventListener('input', () => this.changed(), {signal});
    this.sql.addEventListener('input', () => {
      this.isByHand = true;
      this.checkSoon();
    }, {signal});
    this.title.addEventListener('input', () => this.checkSoon(), {signal});
    byId('ask-cancel').addEventListener('click', () => this.reset(), {signal});
    this.form.addEventListener('submit', e => {
      e.preventDefault();
      void this.send();
    }, {signal});
    document.addEventListener('keydown', e => {
      if (e.key === 'Escape') this.reset();
      if (e.key === 'Enter' && map.isDrafting && !this.form.contains(e.target as Node)) {
        e.preventDefault(); // the tool's button has the focus, and would put the tool away
        map.finishDraft();
      }
    }, {signal});
    signal.addEventListener('abort', () => this.reset());
  }

  setRegions(regions: NamedRegion[]): void {
    if (regions.map(one => one.name).join() === this.regions.map(one => one.name).join()) return;
    this.regions = regions;
    if (this.kind === 'region') this.showFields();
  }

  /** An object was clicked; true if the form wanted one. */
  picked(key: string): boolean {
    if (this.kind !== 'around' && this.kind !== 'nearest-to') return false;
    this.focal = key;
    this.showFields();
    this.changed();
    return true;
  }

  choose(kind: Kind): void {
    this.kind = kind;
    this.shape = null;
    this.map.setDraft(null);
    this.isByHand = false;
    const view = this.map.view;
    if (view) this.numbers.radius = nice((view.box[2] - view.box[0]) / (this.map.measure.isGlobe ? 1e-4 : 12));
    if (view) this.numbers.within = nice((view.box[2] - view.box[0]) / (this.map.measure.isGlobe ? 1e-3 : 60));
    this.title.value = freshName(kind, this.taken());
    this.form.hidden = false;
    this.unfold(this.isNew);
    for (const button of this.tools.querySelectorAll('button')) {
      button.setAttribute('aria-pressed', String(button.dataset.kind === kind));
    }
    this.pencil();
    this.onWaitForObject(kind === 'around' || kind === 'nearest-to');
    this.showFields();
    this.changed();
  }

  /** Whoever has asked nothing yet is told what the tools do; later their pictures will do, until they are pointed at. */
  unfold(isNew: boolean): void {
    this.isNew = isNew;
    this.tools.classList.toggle('unfolded', isNew && this.kind === null);
    this.tools.classList.toggle('drawing', this.kind !== null); // then they are not to be in the way
  }

  /** A question that needs no drawing: the nearest to the middle of what can be seen. */
  suggest(): void {
    const box = this.map.view?.box;
    if (!box) return;
    this.choose('nearest');
    this.map.draft(null);
    this.drawn({kind: 'place', at: [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2]});
  }

  reset(): void {
    this.kind = null;
    this.shape = null;
    this.map.setDraft(null);
    this.map.draft(null);
    this.onWaitForObject(false);
    this.hint('');
    this.condition.value = ''; // it belonged to that question
    this.form.hidden = true;
    this.unfold(this.isNew);
    for (const button of this.tools.querySelectorAll('button')) button.setAttribute('aria-pressed', 'false');
  }

  // ----- what is asked

  private get question(): Question {
    const columns = [...this.columns.querySelectorAll<HTMLInputElement>('input:checked')].map(box => box.value);
    return {
      stream: this.stream, kind: this.kind ?? 'rectangle', shape: this.shape, focal: this.focal, radius: this.numbers.radius,
      k: this.numbers.k, region: this.region, condition: this.condition.value, columns,
    };
  }

  private drawn(shape: Shape): void {
    const view = this.map.view;
    this.shape = view ? roundedShape(shape, 1 / view.pixelsPerUnit, this.map.measure.isGlobe) : shape;
    this.showFields();
    this.changed();
    this.submit.focus({preventScroll: true});
    this.submit.scrollIntoView({block: 'nearest'}); // on a phone it is below the map
  }

  private pencil(): void {
    const draws = KINDS.find(tool => tool.kind === this.kind)?.draws ?? null;
    this.map.draft(draws ? new Pencil(draws, this.map.measure, this.numbers.within) : null);
  }

  private changed(): void {
    this.map.setDraft(this.shape);
    if (!this.isByHand) this.sql.value = selectOf(this.question);
    this.checkSoon();
  }

  // ----- check and submit

  private checkSoon(): void {
    clearTimeout(this.timer);
    const lacks = this.isByHand ? '' : missing(this.question);
    this.submit.disabled = true;
    this.tell(lacks, '');
    this.hint(lacks);
    if (lacks || !this.sql.value.trim()) return;
    this.timer = window.setTimeout(() => void this.check(), CHECK_AFTER_MS);
  }

  private async check(): Promise<void> {
    const number = ++this.checks;
    try {
      await api.check(this.statement);
      if (number !== this.checks) return;
      this.tell('This can be asked.', 'good');
      this.submit.disabled = false;
    } catch (e) {
      if (number === this.checks) this.refuse(api.problemIn(e));
    }
  }

  private get isSelect(): boolean {
    return /^\s*(SELECT|WITH|\()/i.test(this.sql.value);
  }

  private get statement(): string {
    return this.isSelect ? `REGISTER QUERY ${name(this.title.value)} AS\n${this.sql.value}` : this.sql.value;
  }

  private async send(): Promise<void> {
    clearTimeout(this.timer);
    this.submit.disabled = true;
    try {
      await this.onSubmit(this.isSelect ? this.title.value : null, this.sql.value.trim().replace(/;$/, ''), this.question);
      this.reset();
    } catch (e) {
      this.refuse(api.problemIn(e));
    }
  }

  private refuse(problem: Problem): void {
    this.tell([problem.detail, problem.hint].filter(Boolean).join(' — '), 'bad');
    const {place} = problem;
    // The statement that is checked has a line of ours before the reader's.
    const line = place ? place.line - (this.isSelect ? 1 : 0) : 0;
    if (!place || line < 1) return;
    const [text, marks] = pointedInto(this.sql.value.split('\n')[line - 1] ?? '', place.column, place.length);
    this.say.append(h('pre', {class: 'place', 'aria-hidden': true}, `${text}\n${marks}`));
  }

  /** What to do next, where it is done. */
  private hint(words: string): void {
    const hint = byId('map-hint');
    hint.hidden = !words || this.kind === 'region';
    const isLong = this.kind === 'polygon' || this.kind === 'line'; // a finger has no double click
    fill(hint, words, isLong && h('button', {type: 'button', tabindex: -1, onclick: () => this.map.finishDraft()}, 'Done'));
  }

  private tell(words: string, kind: 'good' | 'bad' | ''): void {
    say(this.say, words);
    this.say.className = kind;
    this.sql.setAttribute('aria-invalid', String(kind === 'bad'));
  }

  // ----- fields

  private showFields(): void {
    const numbers: HTMLElement[] = [];
    const add = (label: string, value: number, set: (value: number) => void): void => {
      const input = h('input', {type: 'number', step: 'any', value, oninput: () => {
        if (Number.isFinite(input.valueAsNumber)) set(input.valueAsNumber);
        this.isByHand = false;
        this.changed();
      }});
      numbers.push(h('label', {}, label, input));
    };
    if (this.kind === 'nearest' || this.kind === 'nearest-to') add('how many', this.numbers.k, v => (this.numbers.k = Math.max(1, Math.round(v))));
    if (this.kind === 'around') add(this.map.measure.isGlobe ? 'within, metres' : 'within', this.numbers.radius, v => (this.numbers.radius = v));
    if (this.kind === 'around' || this.kind === 'nearest-to') numbers.push(this.keyField());
    if (this.kind === 'region') numbers.push(this.regionField());
    const {shape, stream: {x: across, y: up}} = this;
    const metres = this.map.measure.isGlobe ? ', metres' : '';
    // Who does not draw writes the numbers: that is how it goes with a keyboard.
    const written = (labels: string[], values: number[], made: (values: number[]) => Shape): void => {
      labels.forEach((label, i) => add(label, values[i] ?? NaN, v => {
        values[i] = v;
        if (labels.every((_, n) => Number.isFinite(values[n]))) this.setShape(made(values));
      }));
    };
    if (this.kind === 'nearest') written([across, up], shape?.kind === 'place' ? [...shape.at] : [], ([x, y]) => ({kind: 'place', at: [x, y]}));
    if (this.kind === 'circle') {
      written([across, up, `radius${metres}`], shape?.kind === 'circle' ? [...shape.centre, shape.radius] : [], ([x, y, radius]) => ({kind: 'circle', centre: [x, y], radius}));
    }
    if (this.kind === 'rectangle') {
      const corners = shape?.kind === 'rectangle' ? [...shape.from, ...shape.to] : [];
      written([`${across} from`, `${up} from`, `${across} to`, `${up} to`], corners, ([x1, y1, x2, y2]) => ({kind: 'rectangle', from: [x1, y1], to: [x2, y2]}));
    }
    if (this.kind === 'polygon' || this.kind === 'line') numbers.push(this.pointsField(this.kind));
    if (this.kind === 'line') add(`within${metres}`, this.numbers.within, v => {
      this.numbers.within = v;
      if (this.shape?.kind === 'line') this.shape.within = v;
    });
    fill(this.fields, ...numbers);
  }

  /** Written, not drawn: the pencil is put away. */
  private setShape(shape: Shape): void {
    this.shape = shape;
    this.map.draft(null);
  }

  private pointsField(kind: 'polygon' | 'line'): HTMLElement {
    const {shape} = this;
    const value = shape && 'points' in shape ? textOf(shape.points) : '';
    const input = h('input', {value, placeholder: `${this.stream.x} ${this.stream.y}, …`, spellcheck: 'false', autocomplete: 'off', oninput: () => {
      const points = pointsIn(input.value);
      if (points.length >= (kind === 'polygon' ? 3 : 2)) this.setShape(kind === 'polygon' ? {kind, points} : {kind, points, within: this.numbers.within});
      this.isByHand = false;
      this.changed();
    }});
    return h('label', {class: 'wide'}, kind === 'polygon' ? 'corners' : 'points', input);
  }

  private keyField(): HTMLElement {
    const input = h('input', {value: this.focal, placeholder: 'click one, or write its key', oninput: () => {
      this.focal = input.value;
      this.isByHand = false;
      this.changed();
    }});
    return h('label', {}, `${this.stream.key} of the object`, input);
  }

  private regionField(): HTMLElement {
    const select = h('select', {onchange: () => {
      this.region = select.value;
      const found = this.regions.find(one => one.name === this.region);
      this.shape = found ? {kind: 'named', rings: found.rings} : null;
      this.isByHand = false;
      this.changed();
    }}, h('option', {value: ''}, this.regions.length ? 'choose …' : 'there is none'), ...this.regions.map(({name}) => h('option', {selected: name === this.region}, name)));
    return h('label', {}, 'region', select);
  }

  private offerStreams(): void {
    const select = byId<HTMLSelectElement>('ask-stream');
    fill(select, ...this.streams.map(stream => h('option', {}, stream.name)));
    (select.closest('label') as HTMLElement).hidden = this.streams.length < 2;
    select.addEventListener('change', () => {
      this.stream = this.streams[select.selectedIndex];
      this.offerColumns();
      this.showFields();
      this.changed();
    }, {signal: this.signal});
  }

  private offerColumns(): void {
    const {stream} = this;
    const own = new Set([stream.key, stream.x, stream.y]);
    const others = stream.columns.filter(column => !own.has(column.name) && !/TIMESTAMP|DATE/i.test(column.type));
    fill(this.columns, ...others.map(column => h('label', {}, h('input', {
      type: 'checkbox', value: column.name, checked: column.name === stream.kind || column.name === stream.heading,
      onchange: () => {
        this.isByHand = false;
        this.changed();
      },
    }), column.name)));
    this.condition.placeholder = `${stream.kind ?? others[0]?.name ?? stream.key} = …`;
  }

  private button({kind, words, icon}: (typeof KINDS)[number]): HTMLElement {
    const svg = `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${icon}"/></svg>`;
    const button = h('button', {
      type: 'button', 'data-kind': kind, 'aria-pressed': 'false', title: words,
      onclick: () => (this.kind === kind ? this.reset() : this.choose(kind)),
    });
    button.innerHTML = svg;
    button.append(h('span', {}, words));
    return button;
  }
}

function nice(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return Number((Math.ceil(value / unit) * unit).toPrecision(3));
}

function roundedShape(shape: Shape, unitsPerPixel: number, isGlobe: boolean): Shape {
  const point = ([x, y]: Point): Point => [rounded(x, unitsPerPixel), rounded(y, unitsPerPixel)];
  const length = (value: number): number => rounded(value, isGlobe ? 1 : unitsPerPixel);
  switch (shape.kind) {
    case 'rectangle':
      return {...shape, from: point(shape.from), to: point(shape.to)};
    case 'circle':
      return {...shape, centre: point(shape.centre), radius: length(shape.radius)};
    case 'place':
      return {...shape, at: point(shape.at)};
    case 'named':
      return shape;
    default:
      return {...shape, points: shape.points.map(point)};
  }
}
