// The page's elements. All that is shown goes in as text; names of agents each in a direction of their own (<bdi>), so
// that no letter in one can reorder the state that stands behind it.

import { now } from './server.js';
import { duration, holdingWords, plain, shorten, signs } from './words.js';

const holdersShown = 8;
/** A deadline that is farther away is of no interest yet, in milliseconds. */
const nearMs = 15 * 60_000;

export const view = (id) => document.getElementById(id);

/** Sets a text, if it is another one: a live region speaks only then, and a selection survives. */
export function say(id, text) {
  const element = view(id);
  if (element.textContent !== text) element.textContent = text;
}

/** The list of what there is. */
export function showEntries(entries, selected) {
  say('entries-message', entries.length > 0 ? '' : 'Nothing was sent yet. What is sent shows up here by itself.');
  sync(view('entries'), entries, createEntry, updateEntry);
  markCurrent(selected);
}

/** Marks the entry that is shown, also for who cannot see it. */
export function markCurrent(selected) {
  for (const link of view('entries').querySelectorAll('a')) {
    if (link.hash === `#${selected}`) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
}

/** A message instead of a tree. */
export function showNoTree(text) {
  view('tree-view').hidden = true;
  say('outcome', '');
  say('tree-message', plain(text));
  document.title = 'Stemma';
}

/** A run or a root. */
export function showTree({ name, shown, summary, holding, rows, left }) {
  say('tree-message', '');
  view('tree-view').hidden = false;
  view('outcome').dataset.state = shown;
  say('outcome', `${signs[shown]} ${name}: ${summary}`);
  document.title = `${signs[shown]} ${name}: ${shown} – Stemma`;
  view('holding-title').hidden = holding.length === 0;
  const holders = holding.map((each) => ({ ...each, id: `${each.noticeId ?? each.executionId} ${each.why}` }));
  sync(view('holding'), holders.slice(0, holdersShown), createHolder, updateHolder);
  say('holding-more', holders.length > holdersShown ? `and ${holders.length - holdersShown} more` : '');
  sync(view('rows'), rows, createRow, updateRow);
  say('rows-more', left > 0 ? `${left} more: "stemma tree" shows all.` : '');
  keepOneTabStop(view('rows'));
}

/** Lets the times of what lasts go on. */
export function showAges() {
  for (const age of document.querySelectorAll('.age[data-since]:not([data-ended])')) showAge(age);
}

/** Keys in the tree: up, down, first, last, to the parent, to the first child. */
export function moveInTree(event) {
  const here = document.activeElement;
  const tree = event.currentTarget;
  if (event.altKey || event.ctrlKey || event.metaKey || here.parentElement !== tree) return;
  const next = {
    ArrowDown: () => here.nextElementSibling,
    ArrowUp: () => here.previousElementSibling,
    Home: () => tree.firstElementChild,
    End: () => tree.lastElementChild,
    ArrowLeft: () => parentOf(here),
    ArrowRight: () => childOf(here),
  }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  const target = next();
  if (!target) return;
  for (const item of tree.querySelectorAll('[tabindex="0"]')) item.tabIndex = -1;
  target.tabIndex = 0;
  target.focus();
}

function createEntry() {
  const item = document.createElement('li');
  addParts(item.appendChild(document.createElement('a')));
  return item;
}

function updateEntry(item, entry) {
  const link = item.firstElementChild;
  link.href = `#${entry.id}`;
  const held = entry.holding.slice(0, 3).map((each) => `${shorten(each.name, 60)} (${holdingWords({ why: each.why })})`);
  if (entry.holding.length > held.length) held.push(`and ${entry.holding.length - held.length} more`);
  const remarks = held.length === 0 ? entry.remarks : [...entry.remarks, `held by ${held.join(', ')}`];
  const { kind, name, attempt } = entry;
  const aside = attempt > 1 ? `(attempt ${attempt})` : '';
  fill(link, { ...entry, title: { kind, name: shorten(name, 120), aside }, remarks });
}

function createRow() {
  const item = document.createElement('li');
  item.setAttribute('role', 'treeitem');
  item.tabIndex = -1;
  addParts(item);
  return item;
}

function updateRow(item, row) {
  item.setAttribute('aria-level', String(row.level + 1));
  item.style.setProperty('--level', String(Math.min(row.level, 12)));
  item.dataset.opens = row.opens ?? '';
  fill(item, row);
}

function createHolder() {
  const item = document.createElement('li');
  item.append(make('bdi', 'name'), ' ', make('bdi', 'quiet'), ' ', make('span', 'age'));
  return item;
}

function updateHolder(item, holding) {
  const [name, why, age] = item.children;
  name.textContent = shorten(holding.name ?? holding.noticeId ?? holding.executionId, 120);
  why.textContent = holdingWords(holding);
  setAge(age, holding.since, undefined, holding.until);
}

/** The parts of a row, to be filled. */
export function addParts(element) {
  const symbol = make('span', 'symbol');
  symbol.setAttribute('aria-hidden', 'true');
  const state = make('span', 'state');
  state.append(make('span', 'word'), ' ', make('span', 'age'));
  element.append(symbol, make('span', 'name'), state, make('span', 'more'));
}

/** Fills the parts of a row. */
export function fill(element, { shown, words = shown, title, place, since, ended, until, remarks }) {
  element.dataset.state = shown;
  const [symbol, name, state, more] = element.children;
  symbol.textContent = signs[shown] ?? '·';
  name.replaceChildren(...titleParts(title, place));
  state.firstElementChild.textContent = words;
  setAge(state.lastElementChild, since, ended, until);
  more.replaceChildren(...remarks.flatMap((text, index) => [index > 0 ? ' · ' : '', bdi(text)]));
}

function titleParts({ kind, name, aside }, place) {
  const what = make('span', 'quiet');
  what.textContent = place ? `${kind} ${place}` : kind;
  const parts = [what, ' ', bdi(name)];
  return aside ? [...parts, ` ${aside}`] : parts;
}

function setAge(element, since, ended, until) {
  for (const [key, value] of Object.entries({ since, ended, until })) {
    if (value === undefined) delete element.dataset[key];
    else element.dataset[key] = value;
  }
  showAge(element);
}

function showAge(element) {
  const { since, ended, until } = element.dataset;
  const lasted = since ? duration((ended ? Date.parse(ended) : now()) - Date.parse(since)) : '';
  const leftMs = until ? Date.parse(until) - now() : Number.POSITIVE_INFINITY;
  element.textContent = leftMs < nearMs ? `${lasted}, ${duration(leftMs)} left` : lasted;
}

/**
 * Gives a list one element for each row, in order. An element belongs to its id, so that focus and scroll position
 * survive; one whose row is as before is not touched, so that thousands of rows stay usable.
 */
export function sync(list, rows, create, update) {
  const ids = new Set(rows.map(({ id }) => id));
  const known = new Map();
  for (const element of [...list.children]) {
    const { id } = shownOn.get(element);
    if (ids.has(id) && !known.has(id)) known.set(id, element);
    else element.remove();
  }
  let place = list.firstElementChild;
  for (const row of rows) {
    const element = known.get(row.id) ?? create();
    known.set(row.id, element);
    const text = JSON.stringify(row);
    if (shownOn.get(element)?.text !== text) {
      shownOn.set(element, { id: row.id, text });
      update(element, row);
    }
    if (element === place) place = place.nextElementSibling;
    else list.insertBefore(element, place);
  }
}

/** What each element of a list shows. */
const shownOn = new WeakMap();

function keepOneTabStop(list) {
  if (list.querySelector(':scope > [tabindex="0"]') === null && list.firstElementChild)
    list.firstElementChild.tabIndex = 0;
}

function parentOf(item) {
  const level = levelOf(item);
  let other = item.previousElementSibling;
  while (other && levelOf(other) >= level) other = other.previousElementSibling;
  return other;
}

function childOf(item) {
  const next = item.nextElementSibling;
  return next && levelOf(next) > levelOf(item) ? next : null;
}

function levelOf(item) {
  return Number(item.getAttribute('aria-level'));
}

/** A new element. */
export function make(name, className) {
  const element = document.createElement(name);
  element.className = className;
  return element;
}

function bdi(text) {
  const element = document.createElement('bdi');
  element.textContent = text;
  return element;
}
