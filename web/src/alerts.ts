// Alerts of triggers and matches of patterns: the last ones, newest first, read out as they come.
import type {Live} from './live';
import {clock, h, shown} from './dom';
import type {Column, Query, Value} from './wire';

const MOST = 100;

export class Alerts {
  private readonly channels = new Map<string, number>();
  private told = 0;

  constructor(
    private readonly live: Live, private readonly list: HTMLElement, private readonly badge: HTMLElement,
    private readonly empty: HTMLElement,
  ) {}

  /** Reads along with exactly these. */
  watch(queries: Query[]): void {
    for (const [name, channel] of this.channels) {
      if (queries.some(query => query.name === name)) continue;
      this.live.unsubscribe(channel);
      this.channels.delete(name);
    }
    for (const query of queries) if (!this.channels.has(query.name)) this.channels.set(query.name, this.read(query));
    this.empty.textContent = queries.length ? 'Nothing has happened yet.' : 'No trigger or pattern of yours.';
  }

  close(): void {
    this.watch([]);
    this.list.replaceChildren();
    this.badge.hidden = true;
    this.empty.hidden = false;
  }

  private read(query: Query): number {
    let columns: Column[] = [];
    return this.live.subscribe(query.name, {
      onColumns: given => (columns = given),
      onRows: (tick, _signs, rows) => rows.forEach(row => this.add(query, tick, columns, row)),
      onProgress: () => undefined,
      onError: problem => this.add(query, Date.now(), [{name: 'problem', type: 'STRING', role: null}], [problem.detail]),
    });
  }

  private add(query: Query, tick: number, columns: Column[], row: Value[]): void {
    const words = columns.map((column, i) => `${column.name} ${shown(row[i], column.type)}`).join(', ');
    this.list.prepend(h('li', {class: query.kind}, h('b', {}, query.name), ' ', h('time', {}, clock(tick).slice(11, 19)), h('p', {}, words)));
    while (this.list.children.length > MOST) this.list.lastElementChild?.remove();
    this.badge.textContent = String(++this.told);
    this.badge.hidden = false;
    this.empty.hidden = true;
  }
}
