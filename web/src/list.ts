// A list of any length: only rows that can be seen are elements.
import {fill, h} from './dom';

const ROW_PX = 26;
const TALL_PX = 44;
const HEAD_PX = 30;
const ROWS_BEYOND = 6;

export interface Line {
  id: string;
  cells: string[];
  /** What is said below the cells, in small letters: of a list whose rows are tall. */
  below?: string;
  mark?: 'came' | 'went' | null;
  colour?: string;
}

const NOTHING: Line = {id: '', cells: []};

export class VirtualList {
  readonly element: HTMLElement;
  onHover: (id: string | null) => void = () => undefined;
  onPick: (id: string) => void = () => undefined;
  /** The last line can be seen. */
  onEnd: () => void = () => undefined;
  private readonly head = h('div', {class: 'list-head', role: 'row'});
  private readonly room = h('div', {class: 'list-room', role: 'rowgroup'});
  private readonly scroller = h('div', {class: 'list-scroll', tabindex: 0});
  private length = 0;
  private lineAt: (place: number) => Line = () => NOTHING;
  private idAt: (place: number) => string = () => '';
  private active: string | null = null;
  private numeric: readonly boolean[] = [];
  private readonly tall: number;

  constructor(label: string, isTall = false) {
    this.tall = isTall ? TALL_PX : ROW_PX;
    this.scroller.append(this.room);
    this.element = h('div', {class: isTall ? 'list tall' : 'list', role: 'table', 'aria-label': label}, this.head, this.scroller);
    this.scroller.addEventListener('scroll', () => this.paint(), {passive: true});
    this.scroller.addEventListener('pointerover', e => this.hover(idAt(e)));
    this.scroller.addEventListener('pointerleave', () => this.hover(null));
    this.scroller.addEventListener('click', e => this.pick(idAt(e)));
    this.scroller.addEventListener('keydown', e => this.key(e));
    new ResizeObserver(() => this.paint()).observe(this.scroller);
  }

  /** Numbers stand right, one below the other. */
  setColumns(names: string[], numeric: readonly boolean[] = []): void {
    this.numeric = numeric;
    fill(this.head, ...names.map((name, i) => h('span', {role: 'columnheader', title: name, class: numeric[i] ? 'number' : null}, name)));
    this.element.style.setProperty('--columns', String(Math.max(1, names.length)));
  }

  setLines(lines: readonly Line[]): void {
    this.show(lines.length, place => lines[place], place => lines[place].id);
  }

  /** Of a long list only the lines that can be seen are asked for. */
  show(length: number, lineAt: (place: number) => Line, idAt: (place: number) => string): void {
    [this.length, this.lineAt, this.idAt] = [length, lineAt, idAt];
    this.element.setAttribute('aria-rowcount', String(length + 1));
    if (this.tall === TALL_PX) this.element.style.maxHeight = `${HEAD_PX + Math.max(1, length) * this.tall}px`;
    this.paint();
  }

  private placeOf(id: string | null): number {
    for (let place = 0; id !== null && place < this.length; place++) if (this.idAt(place) === id) return place;
    return -1;
  }

  /** Shown as the one that is meant, and brought into sight if it is asked for. */
  choose(id: string | null, isBrought = false): void {
    this.active = id;
    const place = isBrought ? this.placeOf(id) : -1;
    if (place >= 0) {
      const top = place * this.tall;
      if (top < this.scroller.scrollTop || top + this.tall > this.scroller.scrollTop + this.scroller.clientHeight) {
        this.scroller.scrollTop = top - this.scroller.clientHeight / 2;
      }
    }
    this.paint();
  }

  private paint(): void {
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / this.tall) - ROWS_BEYOND);
    const last = Math.min(this.length, Math.ceil((this.scroller.scrollTop + this.scroller.clientHeight) / this.tall) + ROWS_BEYOND);
    this.room.style.height = `${this.length * this.tall}px`;
    if (last === this.length && last > first) this.onEnd();
    fill(this.room, ...Array.from({length: Math.max(0, last - first)}, (_, i) => this.row(this.lineAt(first + i), first + i)));
  }

  private row(line: Line, place: number): HTMLElement {
    const classes = ['list-row', line.mark ?? '', line.id === this.active ? 'active' : ''].filter(Boolean).join(' ');
    const cells = line.cells.map((cell, i) => h('span', {role: 'cell', title: cell, class: this.numeric[i] ? 'number' : null}, cell));
    if (line.colour) cells[0]?.prepend(h('i', {class: 'dot', style: `background:${line.colour}`}));
    if (line.mark) cells[0]?.prepend(h('b', {class: 'sign'}, line.mark === 'came' ? '+' : '−'));
    return h('div', {
      class: classes, role: 'row', 'data-id': line.id, 'aria-rowindex': place + 2, 'aria-selected': line.id === this.active,
      style: `top:${place * this.tall}px`,
    }, ...cells, line.below !== undefined && h('code', {title: line.below}, line.below));
  }

  private hover(id: string | null): void {
    if (id === this.active) return;
    this.choose(id);
    this.onHover(id);
  }

  private pick(id: string | null): void {
    if (id !== null) this.onPick(id);
  }

  private key(e: KeyboardEvent): void {
    const place = this.placeOf(this.active);
    if (e.key === 'Enter' && this.active !== null) this.pick(this.active);
    const step = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0;
    if (!step || this.length === 0) return;
    e.preventDefault();
    const next = this.idAt(Math.min(this.length - 1, Math.max(0, place + step)));
    this.choose(next, true);
    this.onHover(next);
  }
}

function idAt(e: Event): string | null {
  return (e.target as Element).closest<HTMLElement>('.list-row')?.dataset.id ?? null;
}
