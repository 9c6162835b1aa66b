// A list of any length: only rows that can be seen are elements.
import {fill, h} from './dom';

const ROW_PX = 26;
const ROWS_BEYOND = 6;

export interface Line {
  id: string;
  cells: string[];
  mark?: 'came' | 'went' | null;
  colour?: string;
}

export class VirtualList {
  readonly element: HTMLElement;
  onHover: (id: string | null) => void = () => undefined;
  onPick: (id: string) => void = () => undefined;
  /** The last line can be seen. */
  onEnd: () => void = () => undefined;
  private readonly head = h('div', {class: 'list-head', role: 'row'});
  private readonly room = h('div', {class: 'list-room', role: 'rowgroup'});
  private readonly scroller = h('div', {class: 'list-scroll', tabindex: 0});
  private lines: Line[] = [];
  private active: string | null = null;

  constructor(label: string, className = '') {
    this.scroller.append(this.room);
    this.element = h('div', {class: `list ${className}`, role: 'table', 'aria-label': label}, this.head, this.scroller);
    this.scroller.addEventListener('scroll', () => this.paint(), {passive: true});
    this.scroller.addEventListener('pointerover', e => this.hover(idAt(e)));
    this.scroller.addEventListener('pointerleave', () => this.hover(null));
    this.scroller.addEventListener('click', e => this.pick(idAt(e)));
    this.scroller.addEventListener('keydown', e => this.key(e));
    new ResizeObserver(() => this.paint()).observe(this.scroller);
  }

  setColumns(names: string[]): void {
    fill(this.head, ...names.map(name => h('span', {role: 'columnheader', title: name}, name)));
    this.element.style.setProperty('--columns', String(Math.max(1, names.length)));
  }

  setLines(lines: Line[]): void {
    this.lines = lines;
    this.element.setAttribute('aria-rowcount', String(lines.length + 1));
    this.paint();
  }

  /** Shown as the one that is meant, and brought into sight if it is asked for. */
  choose(id: string | null, isBrought = false): void {
    this.active = id;
    const place = id === null ? -1 : this.lines.findIndex(line => line.id === id);
    if (isBrought && place >= 0) {
      const top = place * ROW_PX;
      if (top < this.scroller.scrollTop || top + ROW_PX > this.scroller.scrollTop + this.scroller.clientHeight) {
        this.scroller.scrollTop = top - this.scroller.clientHeight / 2;
      }
    }
    this.paint();
  }

  private paint(): void {
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW_PX) - ROWS_BEYOND);
    const last = Math.min(this.lines.length, Math.ceil((this.scroller.scrollTop + this.scroller.clientHeight) / ROW_PX) + ROWS_BEYOND);
    this.room.style.height = `${this.lines.length * ROW_PX}px`;
    if (last === this.lines.length && last > first) this.onEnd();
    fill(this.room, ...this.lines.slice(first, last).map((line, i) => this.row(line, first + i)));
  }

  private row(line: Line, place: number): HTMLElement {
    const classes = ['list-row', line.mark ?? '', line.id === this.active ? 'active' : ''].filter(Boolean).join(' ');
    const cells = line.cells.map(cell => h('span', {role: 'cell', title: cell}, cell));
    if (line.colour) cells[0]?.prepend(h('i', {class: 'dot', style: `background:${line.colour}`}));
    if (line.mark) cells[0]?.prepend(h('b', {class: 'sign'}, line.mark === 'came' ? '+' : '−'));
    return h('div', {
      class: classes, role: 'row', 'data-id': line.id, 'aria-rowindex': place + 2, 'aria-selected': line.id === this.active,
      style: `top:${place * ROW_PX}px`,
    }, ...cells);
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
    const place = this.lines.findIndex(line => line.id === this.active);
    if (e.key === 'Enter' && this.active !== null) this.pick(this.active);
    const step = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0;
    if (!step || this.lines.length === 0) return;
    e.preventDefault();
    const next = this.lines[Math.min(this.lines.length - 1, Math.max(0, place + step))];
    this.choose(next.id, true);
    this.onHover(next.id);
  }
}

function idAt(e: Event): string | null {
  return (e.target as Element).closest<HTMLElement>('.list-row')?.dataset.id ?? null;
}
