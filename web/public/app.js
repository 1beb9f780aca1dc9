// The plain page: live roots, one live tree, and what holds each open. The server's answers are the truth; an event
// only says that it is time to ask again, so a lost or repeated one can never show something that is not so.
// One file, although it is long: it is served as it is, and a server that is updated must not mix two versions of it.

const symbols = {
  queued: '◌',
  running: '▶',
  waiting: '‖',
  succeeded: '✓',
  failed: '✗',
  cancelled: '⊘',
  lost: '?',
};

const refreshPauseMs = 250;
const reconnectPauseMs = 2000;
const holdersShown = 4;

const view = (id) => document.getElementById(id);

const state = {
  selected: '',
  rootOfSelected: '',
  /** Since when what is shown may be out of date. */
  lostAt: undefined,
  /** Server time minus the time of this machine, in milliseconds. */
  skewMs: 0,
  source: undefined,
};

const monitor = refresher(async () => {
  const answer = await ask('/api/v1/monitor?limit=200');
  showRoots(answer.items);
  return answer.eventCursor;
});

const tree = refresher(async () => {
  const id = state.selected;
  if (id === '') return showNoTree('Choose a root to see what it set in motion.');
  const answer = await ask(`/api/v1/executions/${encodeURIComponent(id)}/tree`);
  if (id === state.selected) showTree(answer);
});

start();

function start() {
  addEventListener('hashchange', select);
  view('executions').addEventListener('keydown', moveInTree);
  setInterval(showAges, 1000);
  select();
  connect();
}

function select() {
  state.selected = location.hash.slice(1);
  state.rootOfSelected = '';
  for (const button of view('roots').querySelectorAll('button')) markCurrent(button);
  if (state.selected !== '') showNoTree('Loading…');
  tree.soon();
}

// First the snapshot, then the stream from the very place of the snapshot: nothing falls between the two.
async function connect() {
  state.source?.close();
  try {
    const cursor = await monitor.now();
    await tree.now();
    follow(cursor);
  } catch (error) {
    showLost(error);
    setTimeout(connect, reconnectPauseMs);
  }
}

function follow(cursor) {
  const source = new EventSource(`/api/v1/events?after=${encodeURIComponent(cursor)}`);
  state.source = source;
  source.onopen = () => {
    showConnection('live', 'live');
    monitor.soon();
    tree.soon();
  };
  source.onmessage = (message) => hear(message.data);
  source.addEventListener('reset', () => {
    monitor.soon();
    tree.soon();
  });
  source.onerror = () => {
    showDisconnected('trying again');
    // The browser tries again by itself after a broken connection, but gives up for ever after an answer it dislikes.
    if (source.readyState !== EventSource.CLOSED || state.source !== source) return;
    setTimeout(connect, reconnectPauseMs);
  };
}

function hear(data) {
  const event = JSON.parse(data);
  monitor.soon();
  if (event.rootId === undefined || event.rootId === state.rootOfSelected) tree.soon();
}

async function ask(path) {
  const response = await fetch(path, { headers: { accept: 'application/json' } });
  const date = Date.parse(response.headers.get('date') ?? '');
  if (Number.isFinite(date)) state.skewMs = date - Date.now();
  const answer = await response.json();
  if (response.ok) return answer;
  throw Object.assign(new Error(answer.detail ?? `HTTP ${response.status}`), { status: response.status });
}

// Runs one request at a time; what is asked for meanwhile runs once more after it, however often it was asked for.
function refresher(load) {
  let running;
  let again = false;
  let timer;
  const now = async () => {
    if (running) {
      again = true;
      return running;
    }
    running = load();
    try {
      return await running;
    } finally {
      running = undefined;
      if (again) soon();
      again = false;
    }
  };
  const soon = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      now().catch(showLost);
    }, refreshPauseMs);
  };
  return { now, soon };
}

function showConnection(kind, text) {
  if (kind === 'live') state.lostAt = undefined;
  view('connection').dataset.state = kind;
  view('connection').textContent = text;
  document.body.classList.toggle('stale', kind === 'lost');
}

function showLost(error) {
  if (error.status === 401) {
    state.source?.close();
    return showConnection('lost', 'signed out: run "stemma open" on the machine of the server');
  }
  if (error.status === 404) return showNoTree(error.message);
  showDisconnected(error.message);
}

function showDisconnected(why) {
  state.lostAt ??= new Date();
  showConnection('lost', `disconnected since ${state.lostAt.toLocaleTimeString()}: ${why}`);
}

function showRoots(rows) {
  view('roots-count').textContent = rows.length === 0 ? '' : `(${rows.length})`;
  view('roots-message').hidden = rows.length > 0;
  view('roots-message').textContent = 'Nothing is running. What is sent shows up here by itself.';
  sync(view('roots'), rows, createRoot, updateRoot);
}

function createRoot(row) {
  const item = document.createElement('li');
  const button = item.appendChild(document.createElement('button'));
  button.type = 'button';
  button.dataset.id = row.id;
  button.addEventListener('click', () => {
    location.hash = row.id;
  });
  addParts(button);
  return item;
}

function updateRoot(item, row) {
  const button = item.firstElementChild;
  const below = row.open.executions > 0 ? [`${row.open.executions} open below`] : [];
  const owed = row.open.notices > 0 ? [`${row.open.notices} to deliver`] : [];
  fill(button, row, [...below, ...owed]);
  const held = row.holding.slice(0, holdersShown).map((each) => `${nameOf(each)} (${words(each.why)})`);
  const rest = row.holding.length - held.length;
  if (rest > 0) held.push(`and ${rest} more`);
  button.querySelector('.more').textContent = held.length === 0 ? '' : `held by ${held.join(', ')}`;
  markCurrent(button);
}

function markCurrent(button) {
  button.setAttribute('aria-current', String(button.dataset.id === state.selected));
}

function showNoTree(text) {
  view('tree-view').hidden = true;
  view('tree-message').hidden = false;
  view('tree-message').textContent = text;
}

function showTree(answer) {
  state.rootOfSelected = answer.root;
  view('tree-message').hidden = true;
  view('tree-view').hidden = false;
  const code = answer.outcomeCode ? ` (${answer.outcomeCode})` : '';
  const end = answer.closed ? `closed: ${answer.outcome ?? 'ended'}${code}` : 'open';
  view('tree-outcome').textContent = `${answer.root}: ${end}`;
  view('holding-title').hidden = answer.holding.length === 0;
  const names = new Map(answer.executions.map((each) => [each.id, each.name]));
  const holding = answer.holding.map((each) => ({ ...each, id: each.noticeId ?? each.executionId }));
  sync(view('holding'), holding, createHolding, (item, each) => updateHolding(item, each, names));
  sync(view('executions'), inOrder(answer), createExecution, updateExecution);
  keepOneTabStop();
}

function createHolding() {
  const item = document.createElement('li');
  for (const className of ['name', 'quiet', 'age']) {
    item.appendChild(document.createElement('span')).className = className;
    item.append(' ');
  }
  return item;
}

function updateHolding(item, each, names) {
  const [name, evidence, age] = item.children;
  name.textContent = `${each.name ?? names.get(each.executionId) ?? each.id}: ${words(each.why)}`;
  evidence.textContent = each.evidence;
  age.dataset.since = each.since;
  age.dataset.until = each.until ?? '';
  showAge(age);
}

// Depth first, in the order of birth, each with its level and its undelivered results.
function inOrder({ root, executions, notices }) {
  const children = groupBy(executions, (each) => each.parentId);
  const results = groupBy(notices, (notice) => notice.executionId);
  const ordered = [];
  const pending = executions.filter((each) => each.id === root).map((each) => ({ each, level: 0 }));
  while (pending.length > 0) {
    const { each, level } = pending.pop();
    ordered.push({ ...each, level, notices: results.get(each.id) ?? [] });
    const below = (children.get(each.id) ?? []).toSorted((a, b) => (a.id < b.id ? 1 : -1));
    for (const child of below) pending.push({ each: child, level: level + 1 });
  }
  return ordered;
}

function groupBy(rows, keyOf) {
  const groups = new Map();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group) group.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return groups;
}

function createExecution() {
  const item = document.createElement('li');
  item.setAttribute('role', 'treeitem');
  item.tabIndex = -1;
  addParts(item);
  return item;
}

function updateExecution(item, execution) {
  const { level, notices, kind, error, result, waiting, closed, attempt } = execution;
  item.setAttribute('aria-level', String(level + 1));
  item.style.setProperty('--level', Math.min(level, 12));
  fill(item, execution, attempt > 1 ? [kind, `attempt ${attempt}`] : [kind]);
  const details = [
    closed ? 'closed' : '',
    waiting ? `waits for ${waiting.for}${waiting.text ? `: ${waiting.text}` : ''}` : '',
    error ? `${error.code}: ${error.message}` : (result ?? ''),
    ...notices.map((notice) => `result ${notice.state} to ${notice.sessionId}${notice.reason ? ` (${notice.reason})` : ''}`),
  ];
  item.querySelector('.more').textContent = shorten(details.filter((text) => text !== '').join(' · '), 400);
}

function addParts(element) {
  for (const className of ['symbol', 'name', 'age', 'more']) {
    element.appendChild(document.createElement('span')).className = className;
  }
}

function fill(element, thing, asides) {
  const shown = thing.waiting && thing.state === 'running' ? 'waiting' : thing.state;
  element.dataset.state = shown;
  const [symbol, name, age] = element.children;
  symbol.textContent = symbols[shown] ?? '·';
  symbol.setAttribute('aria-hidden', 'true');
  name.textContent = `${shorten(thing.name, 200)} — ${[shown, ...asides].join(', ')}`;
  age.dataset.since = thing.startedAt ?? thing.createdAt;
  age.dataset.end = thing.endedAt ?? '';
  showAge(age);
}

// Keeps an element for each id, so that focus and scroll position survive every refresh.
function sync(list, rows, create, update) {
  const known = new Map([...list.children].map((element) => [element.dataset.key, element]));
  rows.forEach((row, index) => {
    const element = known.get(row.id) ?? create(row);
    known.delete(row.id);
    element.dataset.key = row.id;
    update(element, row);
    if (list.children[index] !== element) list.insertBefore(element, list.children[index] ?? null);
  });
  for (const element of known.values()) element.remove();
}

function keepOneTabStop() {
  const items = [...view('executions').children];
  const stop = items.find((item) => item.tabIndex === 0) ?? items[0];
  for (const item of items) item.tabIndex = item === stop ? 0 : -1;
}

function moveInTree(event) {
  const items = [...view('executions').children];
  const here = items.indexOf(document.activeElement);
  const moves = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: items.length - 1 };
  const next = items[moves[event.key]];
  if (next === undefined) return;
  event.preventDefault();
  for (const item of items) item.tabIndex = item === next ? 0 : -1;
  next.focus();
}

function showAges() {
  for (const element of document.querySelectorAll('.age')) showAge(element);
}

function showAge(element) {
  const { since, end, until } = element.dataset;
  if (!since) return;
  const now = end ? Date.parse(end) : Date.now() + state.skewMs;
  const left = until ? `, until ${new Date(until).toLocaleTimeString()}` : '';
  element.textContent = `${duration(now - Date.parse(since))}${left}`;
}

function duration(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

function nameOf(holding) {
  return holding.name ?? holding.noticeId ?? holding.executionId;
}

function words(why) {
  return why.replaceAll('_', ' ');
}

function shorten(text, longest) {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
