// One socket, many channels. When it is lost it is opened again, and every channel goes on where it was.
//
// socket ──► text: subscribed, progress, reset, error ──► the channel's listener
//        └─► frames of Arrow ──► signed rows, or places
import {numbersOf, readFrame, valuesOf, WHOLE, type Frame} from './frames';
import type {Column, Problem, Value} from './wire';

export type Tick = number | string;
export type LinkState = 'opening' | 'open' | 'lost';

export interface UpdateListener {
  onColumns(columns: Column[]): void;
  /** Signed rows of one tick, all of them; or the whole answer, and what was known before is over. */
  onRows(tick: number, signs: ArrayLike<number>, rows: Value[][], isWhole: boolean): void;
  onProgress(tick: Tick): void;
  onError(problem: Problem): void;
}

export interface View {
  stream: string;
  box: [number, number, number, number];
  /** How long a pixel is, in the stream's units. */
  pixel: number;
  most: number;
}

export interface ViewListener {
  onFrame(frame: Frame): void;
  /** Who has these slots from now on. */
  onKeys(slots: number[], keys: unknown[]): void;
  onError(problem: Problem): void;
}

type Channel =
  | {kind: 'updates'; query: string; listener: UpdateListener; last: string | null; columns: Column[]; waiting: Part[]}
  | {kind: 'view'; view: View; listener: ViewListener};

const PROTOCOL = 'sanderling.v1';
const WAITS_MS = [300, 600, 1200, 2500, 5000];

export class Live {
  private socket: WebSocket | null = null;
  private readonly channels = new Map<number, Channel>();
  private next = 1;
  private tries = 0;
  private timer = 0;
  onState: (state: LinkState) => void = () => undefined;

  constructor(private readonly address: string) {
    this.open();
    addEventListener('online', () => this.hurry());
  }

  subscribe(query: string, listener: UpdateListener): number {
    return this.add({kind: 'updates', query, listener, last: null, columns: [], waiting: []});
  }

  view(view: View, listener: ViewListener): number {
    return this.add({kind: 'view', view, listener});
  }

  /** Looks elsewhere. */
  turn(number: number, view: View): void {
    const channel = this.channels.get(number);
    if (channel?.kind !== 'view') return;
    channel.view = view;
    this.tell(number, channel);
  }

  unsubscribe(number: number): void {
    if (this.channels.delete(number)) this.send({op: 'unsubscribe', channel: number});
  }

  /** Closes the socket as a broken line would. */
  breakOff(): void {
    this.socket?.close();
  }

  private add(channel: Channel): number {
    const number = this.next++;
    this.channels.set(number, channel);
    this.tell(number, channel);
    return number;
  }

  private tell(number: number, channel: Channel): void {
    if (channel.kind === 'view') return this.send({op: 'view', channel: number, ...channel.view});
    channel.waiting = [];
    this.send({op: 'subscribe', channel: number, query: channel.query, from: channel.last ?? 'answer'});
  }

  private send(words: object): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(words));
  }

  private open(): void {
    this.onState('opening');
    const socket = new WebSocket(this.address, PROTOCOL);
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    socket.onopen = () => {
      this.tries = 0;
      this.onState('open');
      for (const [number, channel] of this.channels) this.tell(number, channel);
    };
    socket.onmessage = e => {
      if (typeof e.data === 'string') this.hear(JSON.parse(e.data) as Said);
      else this.take(e.data as ArrayBuffer);
    };
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.onState('lost');
      const wait = WAITS_MS[Math.min(this.tries++, WAITS_MS.length - 1)];
      this.timer = window.setTimeout(() => this.open(), wait);
    };
  }

  private hurry(): void {
    if (this.socket?.readyState !== WebSocket.CLOSED) return;
    clearTimeout(this.timer);
    this.open();
  }

  private hear(said: Said): void {
    const channel = said.channel === undefined ? undefined : this.channels.get(said.channel);
    if (!channel) return;
    if (said.op === 'error') {
      channel.listener.onError({code: said.code ?? '', detail: said.message ?? '', hint: said.hint});
    } else if (channel.kind === 'view') {
      if (said.op === 'keys') channel.listener.onKeys(said.slots ?? [], said.keys ?? []);
    } else if (said.op === 'subscribed') {
      channel.columns = said.columns ?? [];
      channel.listener.onColumns(channel.columns);
    } else if (said.op === 'progress' && said.tick !== undefined) {
      // Only now: of a tick that was half told when the line broke, all is told again.
      for (const part of channel.waiting.splice(0)) channel.listener.onRows(part.tick, part.signs, part.rows, part.isWhole);
      channel.last = said.id ?? String(said.tick);
      channel.listener.onProgress(said.tick);
    } else if (said.op === 'reset') {
      channel.last = null;
      channel.waiting = [];
    } else if (said.op === 'ended') {
      channel.listener.onError({code: 'session.no_query', detail: said.why ?? 'it has ended'});
    }
  }

  private take(bytes: ArrayBuffer): void {
    const frame = readFrame(bytes);
    const channel = this.channels.get(frame.channel);
    if (!channel) return;
    if (channel.kind === 'view') channel.listener.onFrame(frame);
    else channel.waiting.push(...ticksOf(frame, channel.columns));
  }
}

interface Said {
  op: string;
  channel?: number;
  columns?: Column[];
  tick?: Tick;
  id?: string;
  why?: string;
  code?: string;
  message?: string;
  hint?: string;
  slots?: number[];
  keys?: unknown[];
}

interface Part {
  tick: number;
  signs: number[];
  rows: Value[][];
  isWhole: boolean;
}

/** The rows of a frame, tick by tick, as lists of values in the order of the columns. */
export function ticksOf({table, flags}: Frame, columns: Column[]): Part[] {
  const tick = numbersOf(table.getChildAt(0)!);
  const sign = numbersOf(table.getChildAt(1)!);
  const values = columns.map((_, i) => valuesOf(table.getChildAt(2 + i)!));
  const isWhole = (flags & WHOLE) !== 0;
  // A whole answer is one part, also if there is nothing in it.
  const parts: Part[] = isWhole ? [{tick: tick[0] ?? 0, signs: [], rows: [], isWhole}] : [];
  for (let i = 0; i < table.numRows; i++) {
    let part = parts[parts.length - 1];
    if (!part || (part.tick !== tick[i] && !isWhole)) parts.push((part = {tick: tick[i], signs: [], rows: [], isWhole: false}));
    part.signs.push(sign[i]);
    part.rows.push(values.map(column => column[i]));
  }
  return parts;
}
