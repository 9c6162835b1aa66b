// The list of my queries: colour, size, + and − of the last ticks, follow and drop.
import {count, fill, h, say} from './dom';
import type {Mine} from './mine';
import {css} from './theme';

const BARS = 16;
const BAR_PX = 5;
const HALF_PX = 12;

export interface QueryActions {
  choose(mine: Mine): void;
  follow(mine: Mine): void;
  drop(mine: Mine): void;
}

interface Card {
  element: HTMLElement;
  size: HTMLElement;
  last: HTMLElement;
  bars: SVGSVGElement;
  note: HTMLElement;
  follow: HTMLButtonElement;
  pick: HTMLButtonElement;
}

export class QueryList {
  private readonly cards = new Map<Mine, Card>();

  constructor(private readonly element: HTMLElement, private readonly empty: HTMLElement, private readonly actions: QueryActions) {}

  show(all: Iterable<Mine>, chosen: Mine | null): void {
    const list = [...all];
    for (const mine of [...this.cards.keys()]) if (!list.includes(mine)) this.cards.delete(mine);
    fill(this.element, ...list.map(mine => this.card(mine).element));
    this.empty.hidden = list.length > 0;
    for (const [mine, card] of this.cards) {
      card.pick.setAttribute('aria-pressed', String(mine === chosen));
      card.element.classList.toggle('chosen', mine === chosen);
      card.element.classList.toggle('companion', list.some(one => one.focal !== null && mine.shows(one.focal)));
    }
    list.forEach(mine => this.update(mine));
  }

  update(mine: Mine): void {
    const card = this.cards.get(mine);
    if (!card) return;
    const last = mine.answer.steps[mine.answer.steps.length - 1];
    say(card.size, mine.isReady ? count(mine.answer.size) : '…');
    fill(card.last, ...(last ? [signed('came', '+', last.came.length), ' ', signed('went', '−', last.went.length)] : []));
    card.last.title = last ? `last tick: ${count(last.came.length)} came, ${count(last.went.length)} went, ${count(last.changed.length)} changed` : '';
    card.follow.setAttribute('aria-pressed', String(mine.isFollowed));
    const isHidden = mine.isReady && !(mine.answer.isOnMap && mine.answer.hasKey);
    say(card.note, mine.problem?.detail ?? (isHidden ? `Not on the map: it does not select ${mine.stream.key}, ${mine.stream.x} and ${mine.stream.y}.` : ''));
    card.note.className = mine.problem ? 'bad' : 'note';
    card.note.hidden = !mine.problem && !isHidden;
    drawBars(card.bars, mine);
  }

  private card(mine: Mine): Card {
    const there = this.cards.get(mine);
    if (there) return there;
    const card: Card = {
      size: h('b', {class: 'size', title: 'rows in the answer'}),
      last: h('span', {class: 'last'}),
      bars: document.createElementNS('http://www.w3.org/2000/svg', 'svg'),
      note: h('p', {class: 'bad', hidden: true}),
      follow: h('button', {type: 'button', class: 'quiet', 'aria-pressed': 'false', onclick: () => this.actions.follow(mine)}, 'follow'),
      pick: h('button', {type: 'button', class: 'name', 'aria-pressed': 'false', onclick: () => this.actions.choose(mine)},
        h('i', {class: 'dot', style: `background:${css(mine.colour)}`}), mine.name),
      element: h('li', {class: 'query', 'data-query': mine.name}),
    };
    card.bars.setAttribute('class', 'bars');
    card.bars.setAttribute('aria-hidden', 'true');
    card.bars.setAttribute('viewBox', `0 0 ${BARS * BAR_PX} ${HALF_PX * 2}`);
    const word = mine.query.owner === null ? 'hide' : 'drop'; // what is nobody's stays
    const drop = h('button', {type: 'button', class: 'quiet', 'aria-label': `${word} ${mine.name}`, onclick: () => this.actions.drop(mine)}, word);
    card.element.append(
      h('div', {class: 'line'}, card.pick, card.bars, card.size, card.last),
      h('div', {class: 'line'}, h('code', {title: mine.query.sql}, shortened(mine.query.sql)), card.follow, drop),
      card.note,
    );
    this.cards.set(mine, card);
    return card;
  }
}

function signed(kind: 'came' | 'went', sign: string, n: number): HTMLElement {
  return h('span', {class: n ? kind : null}, `${sign}${count(n)}`);
}

/** What a query asks for, without what it shows. */
export function shortened(sql: string): string {
  const clause = /\b(WHERE|INSIDE|kNN)\b[\s\S]*$/i.exec(sql);
  return (clause ? clause[0] : sql).replace(/\s+/g, ' ');
}

/** Bars up for those that came, down for those that went; the tallest fills its half. */
function drawBars(svg: SVGSVGElement, mine: Mine): void {
  const steps = mine.answer.steps.slice(-BARS);
  const most = Math.max(1, ...steps.map(step => Math.max(step.came.length, step.went.length)));
  const tall = (n: number): number => (n === 0 ? 0 : Math.max(1.5, (n / most) * (HALF_PX - 1)));
  const from = BARS - steps.length;
  svg.innerHTML = steps.map((step, i) => {
    const [up, down] = [tall(step.came.length), tall(step.went.length)];
    const x = (from + i) * BAR_PX;
    return `<rect class="came" x="${x}" y="${HALF_PX - up}" width="3.5" height="${up}"/><rect class="went" x="${x}" y="${HALF_PX}" width="3.5" height="${down}"/>`;
  }).join('');
}
