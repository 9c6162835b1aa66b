// Where objects were and are, as arrays by slot: what the map uploads when something was told, and draws each frame.

const FIRST_ROOM = 1024;
export type Colour = readonly [number, number, number];

export class Objects {
  count = 0;
  /** x, y, and the second at which it set out. */
  starts = new Float32Array(FIRST_ROOM * 3);
  goals = new Float32Array(FIRST_ROOM * 2);
  colours = new Uint8Array(FIRST_ROOM * 4);
  headings = new Float32Array(FIRST_ROOM).fill(-1);
  /** Rises with each change. */
  version = 0;
  /** How long an object glides to where it is. */
  glide_s = 1;

  /** An object is told to be here now; it glides from where it is drawn, unless it was nowhere. */
  place(slot: number, x: number, y: number, heading: number, now_s: number): void {
    this.makeRoom(slot + 1);
    let [fromX, fromY] = [x, y];
    if (this.isThere(slot)) [fromX, fromY] = this.drawnAt(slot, now_s);
    this.starts[slot * 3] = fromX;
    this.starts[slot * 3 + 1] = fromY;
    this.starts[slot * 3 + 2] = now_s;
    this.goals[slot * 2] = x;
    this.goals[slot * 2 + 1] = y;
    this.headings[slot] = heading;
    this.version++;
  }

  paint(slot: number, colour: Colour, alpha = 255): void {
    this.makeRoom(slot + 1);
    this.colours[slot * 4] = colour[0];
    this.colours[slot * 4 + 1] = colour[1];
    this.colours[slot * 4 + 2] = colour[2];
    this.colours[slot * 4 + 3] = alpha;
    this.version++;
  }

  /** It is nowhere from now on. */
  hide(slot: number): void {
    if (slot >= this.count) return;
    this.colours[slot * 4 + 3] = 0;
    this.version++;
  }

  clear(): void {
    this.colours.fill(0);
    this.count = 0;
    this.version++;
  }

  isThere(slot: number): boolean {
    return slot < this.count && this.colours[slot * 4 + 3] > 0;
  }

  drawnAt(slot: number, now_s: number): [number, number] {
    const part = this.glide_s <= 0 ? 1 : Math.min(1, Math.max(0, (now_s - this.starts[slot * 3 + 2]) / this.glide_s));
    const mix = (from: number, to: number): number => from + (to - from) * part;
    return [
      mix(this.starts[slot * 3], this.goals[slot * 2]),
      mix(this.starts[slot * 3 + 1], this.goals[slot * 2 + 1]),
    ];
  }

  private makeRoom(count: number): void {
    if (count > this.colours.length / 4) {
      const room = Math.max(count, (this.colours.length / 4) * 2);
      this.starts = longer(this.starts, new Float32Array(room * 3));
      this.goals = longer(this.goals, new Float32Array(room * 2));
      this.colours = longer(this.colours, new Uint8Array(room * 4));
      this.headings = longer(this.headings, new Float32Array(room).fill(-1));
    }
    this.count = Math.max(this.count, count);
  }
}

function longer<T extends Float32Array | Uint8Array>(old: T, room: T): T {
  room.set(old);
  return room;
}

/** Numbers for names, given again when they are free: so arrays stay as short as what is there. */
export class Slots {
  private readonly slots = new Map<string, number>();
  private readonly names: (string | undefined)[] = [];
  private readonly free: number[] = [];

  get(name: string): number | undefined {
    return this.slots.get(name);
  }

  take(name: string): number {
    const there = this.slots.get(name);
    if (there !== undefined) return there;
    const slot = this.free.pop() ?? this.names.length;
    this.slots.set(name, slot);
    this.names[slot] = name;
    return slot;
  }

  give(name: string): void {
    const slot = this.slots.get(name);
    if (slot === undefined) return;
    this.slots.delete(name);
    this.names[slot] = undefined;
    this.free.push(slot);
  }

  nameOf(slot: number): string | undefined {
    return this.names[slot];
  }
}
