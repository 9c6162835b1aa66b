// A map in a notebook: the page's own map, told by the program that has the session. Bundled by itself.
//
// frames of signed rows ──► the answer ──► objects ──► the map
import {tableFromIPC} from 'apache-arrow';
import {Answer, type Step} from './answer';
import {numbersOf, valuesOf} from './frames';
import type {Box} from './ground';
import {LiveMap} from './map';
import {Slots} from './objects';
import {colourOf, tint} from './theme';
import type {Column} from './wire';

/** What a notebook gives a widget (anywidget). */
export interface Model {
  get(name: string): unknown;
  on(event: string, then: (said: Said, buffers: DataView[]) => void): void;
  off(event: string, then: (said: Said, buffers: DataView[]) => void): void;
  send(said: unknown): void;
}

interface Said {
  op: string;
  whole?: boolean;
}

const LEAST_SIZE = 1e-6;

class Shown {
  private readonly answer: Answer;
  private readonly slots = new Slots();
  private readonly map: LiveMap;
  private opening: Promise<void> | null = null;

  constructor(private readonly place: HTMLDivElement, private readonly name: string, columns: Column[]) {
    this.answer = new Answer(columns);
    this.map = new LiveMap(place, tint());
    this.map.onHover = slot => {
      const key = slot === null ? undefined : this.slots.nameOf(slot);
      place.title = key === undefined ? '' : (this.answer.rows.get(key)?.[0]?.values.map(String).join(', ') ?? '');
    };
    this.tell();
  }

  /** Rows of one tick or of several, in order; `isWhole`: nothing else is there. */
  async take(bytes: DataView, isWhole: boolean): Promise<void> {
    const table = tableFromIPC(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    const [ticks, signs] = [numbersOf(table.getChildAt(0)!), numbersOf(table.getChildAt(1)!)];
    const columns = this.answer.columns.map((_, i) => valuesOf(table.getChildAt(2 + i)!));
    const rows = Array.from({length: table.numRows}, (_, row) => columns.map(column => column[row]));
    const steps: Step[] = [];
    if (isWhole) steps.push(this.answer.replace(ticks[0] ?? 0, rows));
    for (let from = 0; !isWhole && from < rows.length;) {
      let to = from;
      while (to < rows.length && ticks[to] === ticks[from]) to++;
      steps.push(this.answer.apply(ticks[from], Array.from(signs).slice(from, to), rows.slice(from, to)));
      from = to;
    }
    await this.open();
    for (const step of steps) for (const key of [...step.came, ...step.changed, ...step.went.map(row => row.key)]) this.put(key);
    this.tell();
  }

  /** Once, around what is there first. */
  private open(): Promise<void> {
    const places = [...this.answer.rows.keys()].map(key => this.answer.placeOf(key)).filter(at => at !== null);
    if (!this.opening && places.length) {
      const [xs, ys] = [places.map(at => at[0]), places.map(at => at[1])];
      const box: Box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
      const room = Math.max(box[2] - box[0], box[3] - box[1], LEAST_SIZE) / 10;
      // On a plane even what is on the globe: a notebook has no tiles to lie beneath.
      this.opening = this.map.open(false, [box[0] - room, box[1] - room, box[2] + room, box[3] + room], {tiles: false, style: null});
    }
    return this.opening ?? Promise.resolve();
  }

  private put(key: string): void {
    const at = this.answer.placeOf(key);
    if (!at) {
      const slot = this.slots.get(key);
      if (slot !== undefined) this.map.objects.hide(slot);
      this.slots.give(key);
      return;
    }
    const slot = this.slots.take(key);
    this.map.place(slot, ...at);
    this.map.objects.paint(slot, colourOf(0));
  }

  private tell(): void {
    const words = this.answer.isOnMap ? `${this.answer.size} rows` : 'it does not select a location';
    this.place.setAttribute('aria-label', `${this.name}: ${words}`);
  }

  close(): void {
    this.map.close();
  }
}

function render({model, el}: {model: Model; el: HTMLElement}): () => void {
  const place = document.createElement('div');
  place.style.cssText = `position: relative; overflow: hidden; width: 100%; height: ${Number(model.get('height'))}px`;
  place.setAttribute('role', 'img');
  el.append(place);
  const shown = new Shown(place, String(model.get('name')), model.get('columns') as Column[]);
  let last: Promise<void> = Promise.resolve();
  const hear = (said: Said, buffers: DataView[]): void => {
    if (said.op === 'rows') last = last.then(() => shown.take(buffers[0], said.whole === true));
  };
  model.on('msg:custom', hear);
  model.send({op: 'ready'});
  return () => {
    model.off('msg:custom', hear);
    shown.close();
  };
}

export default {render};
