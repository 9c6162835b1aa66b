// Two curves over the last minutes: how long ticks were on their way, and how long batches took.
import uPlot from 'uplot';
import {isDark} from './theme';

export interface Sample {
  at: number;
  latency_s: number | null;
  batch_s: number | null;
}

const MOST = 300;

/** Asked at each drawing. */
const inTheme = (light: string, dark: string) => (): string => (isDark() ? dark : light);

export class Curves {
  private readonly plot: uPlot;
  private readonly samples: Sample[] = [];

  constructor(private readonly parent: HTMLElement) {
    const grid = {stroke: inTheme('#dde1e7', '#2b313b'), width: 1};
    const axis = {stroke: inTheme('#5a6472', '#98a2b1'), grid, ticks: {...grid, size: 4}, font: '11px system-ui'};
    this.plot = new uPlot({
      width: parent.clientWidth || 360,
      height: 130,
      cursor: {drag: {x: false, y: false}},
      axes: [{...axis, space: 76, size: 26, values: (_, times) => times.map(time => new Date(time * 1000).toISOString().slice(11, 19))}, {...axis, size: 46, values: (_, ticks) => ticks.map(tick => `${tick} s`)}],
      scales: {y: {range: () => [0, this.top()]}},
      series: [
        {},
        {label: 'latency', stroke: inTheme('#0072b2', '#5ab4ec'), width: 2, points: {show: false}},
        {label: 'batch', stroke: inTheme('#c06000', '#ffb454'), width: 2, points: {show: false}},
      ],
    }, [[], [], []], parent);
    new ResizeObserver(() => this.plot.setSize({width: parent.clientWidth, height: 130})).observe(parent);
  }

  add(samples: Sample[]): void {
    const last = this.samples[this.samples.length - 1]?.at ?? -Infinity;
    this.samples.push(...samples.filter(sample => sample.at > last));
    this.samples.splice(0, this.samples.length - MOST);
    const column = (of: (sample: Sample) => number | null): (number | null)[] => this.samples.map(of);
    this.plot.setData([column(s => s.at) as number[], column(s => s.latency_s), column(s => s.batch_s)]);
  }

  /** What waited for the start takes long once, and is not to press all else to the ground. */
  private top(): number {
    const all = this.samples.flatMap(sample => [sample.latency_s ?? 0, sample.batch_s ?? 0]).sort((a, b) => a - b);
    return Math.max(1, (all[Math.floor(all.length * 0.95)] ?? 0) * 1.4);
  }

  /** Light or dark has changed. */
  retint(): void {
    this.plot.redraw();
  }

  close(): void {
    this.plot.destroy();
    this.parent.replaceChildren();
  }
}
