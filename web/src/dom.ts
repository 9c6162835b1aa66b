// Elements in one line each, and how values read.
import type {Value} from './wire';

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((e: never) => void)>;

/** h('button', {class: 'quiet', onclick: drop}, 'drop'): attributes, listeners (on…), children. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

export function byId<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(...children.filter((child): child is Node | string => Boolean(child)));
}

/** Text only when it is another: what nobody changed is not laid out again. */
export function say(element: Element, words: string): void {
  if (element.textContent !== words) element.textContent = words;
}

const whole = new Intl.NumberFormat('en', {maximumFractionDigits: 0});
const fine = new Intl.NumberFormat('en', {maximumSignificantDigits: 6, useGrouping: false});

function number(value: number): string {
  return Number.isInteger(value) && Math.abs(value) >= 10_000 ? whole.format(value) : Number.isInteger(value) ? String(value) : fine.format(value);
}

export function count(value: number): string {
  return whole.format(value);
}

/** A time, as text or in milliseconds, in UTC as everywhere. */
export function clock(time: string | number): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? String(time) : `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

const SIGNIFICANT = 5;

export function isNumeric(type: string): boolean {
  return /INT|LONG|DOUBLE|FLOAT|DECIMAL|NUMERIC|REAL/i.test(type);
}

/** How many digits after the point the numbers of a column have: as many as its largest one is worth. */
export function digitsOf(values: Iterable<Value>): number {
  let [most, isFine] = [0, false];
  for (const value of values) {
    if (typeof value !== 'number' || !Number.isFinite(value)) continue;
    most = Math.max(most, Math.abs(value));
    isFine ||= !Number.isInteger(value);
  }
  return isFine ? Math.max(0, SIGNIFICANT - 1 - Math.floor(Math.log10(Math.max(most, 1e-9)))) : 0;
}

/** A value as a list shows it; a number that is no whole one with so many digits after the point. */
export function shown(value: Value, type: string, digits?: number): string {
  if (value === null) return '–';
  if (typeof value === 'number' && digits && isNumeric(type)) return value.toFixed(Math.min(digits, 9));
  if (typeof value !== 'number') return String(value);
  if (/TIMESTAMP/i.test(type)) return clock(value).slice(0, 19);
  if (/DATE/i.test(type)) return clock(value).slice(0, 10);
  return number(value);
}
