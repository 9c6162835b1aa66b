// Colours: light or dark as the system says, or as the reader chose; and one for each query.
import type {Tint} from './map';
import type {Colour} from './objects';

const KEPT = 'sanderling.theme';
// Far apart for people who see red and green alike too (after Okabe and Ito), and readable on both grounds.
const PALETTE: Colour[] = [
  [0, 114, 178], [230, 120, 0], [0, 158, 115], [204, 80, 150], [150, 100, 220], [170, 135, 0], [213, 64, 40], [86, 160, 220],
];

export function colourOf(place: number): Colour {
  return PALETTE[place % PALETTE.length];
}

export function css(colour: Colour): string {
  return `rgb(${colour.join(' ')})`;
}

export function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

export function tint(): Tint {
  return isDark()
    ? {road: [52, 58, 66], mainRoad: [86, 94, 106], draft: [255, 196, 60], ring: [255, 255, 255]}
    : {road: [214, 216, 220], mainRoad: [168, 173, 182], draft: [200, 90, 0], ring: [20, 24, 30]};
}

/** Calls back when it changes, by the button or by the system. */
export function watchTheme(button: HTMLButtonElement, changed: () => void): void {
  const kept = localStorage.getItem(KEPT);
  if (kept === 'light' || kept === 'dark') document.documentElement.dataset.theme = kept;
  const show = (): void => {
    button.setAttribute('aria-pressed', String(isDark()));
    changed();
  };
  button.addEventListener('click', () => {
    const next = isDark() ? 'light' : 'dark';
    document.documentElement.dataset.theme = next;
    localStorage.setItem(KEPT, next);
    show();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show);
  show();
}
