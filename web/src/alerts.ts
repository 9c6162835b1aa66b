// Alerts of triggers and matches of patterns: the last ones, newest first, read out as they come.
import type {Live} from './live';
import * as api from './api';
import {clock, fill, h, shown} from './dom';
import type {Column, Query, Value} from './wire';

const MOST = 100;
const PROBLEM: Column[] = [{name: 'problem', type: 'STRING', role: null}];

export class Alerts {
  private readonly channels = new Map<string, number>();
  private told = 0;
  private named = '';

  constructor(
    private readonly live: Live, private readonly list: HTMLElement, private readonly names: HTMLElement,
    private readonly badge: HTMLElement, private readonly empty: HTMLElement,
  ) {}

  /** Reads along with exactly these; those of `owner` can be dropped. */
  watch(queries: Query[], owner: string | null): void {
    for (const [name, channel] of this.channels) {
      if (queries.some(query => query.name === name)) continue;
      this.live.unsubscribe(channel);
      this.channels.delete(name);
    }
    for (const query of queries) if (!this.channels.has(query.name)) this.channels.set(query.name, this.read(query));
    this.showNames(queries, owner);
    this.empty.textContent = queries.length ? 'Nothing has happened yet.' : 'No trigger or pattern of yours.';
  }

  close(): void {
    this.watch([], null);
    this.list.replaceChildren();
    this.badge.hidden = true;
    this.empty.hidden = false;
  }

  private showNames(queries: Query[], owner: string | null): void {
    const said = queries.map(query => query.name).join('\n');
    if (said === this.named) return;
    this.named = said;
    fill(this.names, ...queries.map(query => h('li', {class: 'line', title: query.sql, 'data-query': query.name}, h('b', {}, query.name), h('small', {}, query.kind),
      query.owner === owner && h('button', {type: 'button', class: 'quiet', 'aria-label': `drop ${query.name}`, onclick: () => void this.drop(query)}, 'drop'))));
  }

  private async drop(query: Query): Promise<void> {
    await api.drop(query.name).catch(e => this.add(query, Date.now(), PROBLEM, [api.problemIn(e).detail]));
    this.names.querySelector(`[data-query="${CSS.escape(query.name)}"]`)?.remove();
  }

  private read(query: Query): number {
    let columns: Column[] = [];
    return this.live.subscribe(query.name, {
      onColumns: given => (columns = given),
      onRows: (tick, _signs, rows) => rows.forEach(row => this.add(query, tick, columns, row)),
      onProgress: () => undefined,
      onError: problem => problem.code !== 'session.no_query' && this.add(query, Date.now(), PROBLEM, [problem.detail]),
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
