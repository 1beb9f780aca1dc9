// The plain page: what there is to see, one live tree, and what holds it open. The server's answers are the truth; an
// event only says that it is time to ask again, so a lost or repeated one can never show something that is not so.

import { ask, followEvents, refresher } from './server.js';
import { markCurrent, moveInTree, say, showAges, showEntries, showNoTree, showTree, view } from './show.js';
import { showSteps } from './show-steps.js';
import { viewOfSteps } from './steps.js';
import { viewOfRun, viewOfTree } from './trees.js';
import { attemptsOf, entriesOf, mergeRoots, missingRoots } from './work.js';

const reconnectMs = 1_000;
const reconnectSignedOutMs = 5_000;
/** Without any event, ask again after this: a connection can be dead and not say so. */
const quietMs = 15_000;
/** Of a long run, the trees of this many messages are read. */
const treesShown = 20;
/** Roots that have vanished from every list are asked for one by one, at most so many at once. */
const mostMissing = 20;

const state = {
  /** What is shown: the id in the address, else the newest that is live. */
  selected: '',
  entries: [],
  roots: new Map(),
  runs: [],
  /** The roots of what is shown: events of others do not concern it. */
  shownRoots: new Set(),
  /** Trees that are closed never change. */
  closedTrees: new Map(),
  stream: undefined,
  retry: undefined,
  /** Since when what is shown may be out of date. */
  lostAt: undefined,
};

const list = refresher(loadList, showLost);
const detail = refresher(loadDetail, showLost);

addEventListener('hashchange', select);
addEventListener('online', () => state.lostAt && connect());
document.addEventListener('visibilitychange', () => document.hidden || list.soon());
view('rows').addEventListener('keydown', moveInTree);
view('rows').addEventListener('keydown', (event) => event.key === 'Enter' && openTree(event.target));
view('rows').addEventListener('dblclick', (event) => openTree(event.target.closest('li')));
setInterval(showAges, 1_000);
setInterval(list.soon, quietMs);
connect();

// First the snapshot, then the stream from the very place of the snapshot: nothing falls between the two.
async function connect() {
  clearTimeout(state.retry);
  state.stream?.close();
  try {
    const cursor = await list.now();
    await detail.now();
    state.stream?.close();
    state.stream = followEvents(cursor, {
      opened: () => {
        showConnection('live', 'live');
        list.soon();
        detail.soon();
      },
      heard: hear,
      broken: () => showLost(new Error('the connection broke')),
    });
  } catch (error) {
    showLost(error);
  }
}

function hear({ rootId, data }) {
  list.soon();
  if (rootId === undefined || state.shownRoots.has(rootId) || data.runId === state.selected) detail.soon();
}

async function loadList() {
  const monitor = await ask('/monitor?limit=200');
  // Read after the monitor, so that what has closed in between is known to be closed, and by which run it was sent.
  const [recent, runs] = await Promise.all([ask('/executions?limit=100'), ask('/runs?limit=20')]);
  const missing = missingRoots(state.roots, [...monitor.items, ...recent.items]).slice(0, mostMissing);
  const found = await Promise.all(missing.map((id) => ask(`/executions/${id}`)));
  state.roots = mergeRoots(state.roots, monitor.items, [...found, ...recent.items]);
  state.runs = runs.items;
  state.entries = entriesOf(state.roots, state.runs);
  showEntries(state.entries, state.selected);
  select();
  return monitor.eventCursor;
}

function select() {
  const chosen = location.hash.slice(1);
  const selected = chosen || (state.entries[0]?.id ?? '');
  view('follow').hidden = chosen === '';
  view('following').hidden = chosen !== '' || selected === '';
  if (selected === state.selected) return;
  state.selected = selected;
  state.shownRoots = new Set();
  state.closedTrees.clear();
  markCurrent(selected);
  showNoTree('Loading…');
  detail.now().catch(showLost);
}

async function loadDetail() {
  const id = state.selected;
  if (id === '') return showNoTree('The newest sequence or message is shown here, live.');
  try {
    const { steps, ...loaded } = id.startsWith('run_') ? await loadRun(id) : await loadRoot(id);
    if (id !== state.selected) return;
    showSteps(steps);
    state.shownRoots = loaded.roots;
    showTree(loaded);
  } catch (error) {
    if (error.status !== 404) throw error;
    if (id === state.selected) showNoTree(error.message);
  }
}

async function loadRun(id) {
  const run = await ask(`/runs/${encodeURIComponent(id)}`);
  const wanted = attemptsOf(run).slice(-treesShown);
  const trees = await Promise.all(wanted.map(({ executionId }) => loadTree(executionId)));
  const loaded = viewOfRun(run, new Map(trees.map((tree) => [tree.root, tree])));
  return run.workflow ? { ...loaded, steps: viewOfSteps(run.workflow) } : loaded;
}

async function loadRoot(id) {
  const tree = await loadTree(id);
  const kind = tree.executions.find((each) => each.id === tree.root)?.kind;
  const loaded = viewOfTree(tree);
  if (kind !== 'workflow' && kind !== 'evaluation') return loaded;
  const workflow = await ask(`/executions/${encodeURIComponent(tree.root)}/workflow`);
  return { ...loaded, steps: viewOfSteps(workflow) };
}

async function loadTree(id) {
  const known = state.closedTrees.get(id);
  if (known) return known;
  const tree = await ask(`/executions/${encodeURIComponent(id)}/tree`);
  if (tree.closed) state.closedTrees.set(id, tree);
  return tree;
}

function openTree(item) {
  if (item?.dataset.opens) location.hash = item.dataset.opens;
}

function showLost(error) {
  state.stream?.close();
  clearTimeout(state.retry);
  const isSignedOut = error.status === 401;
  state.retry = setTimeout(connect, isSignedOut ? reconnectSignedOutMs : reconnectMs);
  state.lostAt ??= new Date();
  // Whoever signs in again may do so at a server with another database.
  if (isSignedOut || error.status === 404) state.roots.clear();
  const since = state.lostAt.toLocaleTimeString();
  if (isSignedOut) showConnection('lost', 'Signed out. Open the link that "stemma open" prints.');
  else if (error.status) showConnection('lost', `The server cannot answer: ${error.message} Trying again.`);
  else showConnection('lost', `The server is gone ("stemma up" starts it). This is how it was at ${since}. Trying again…`);
}

function showConnection(kind, text) {
  if (kind === 'live') state.lostAt = undefined;
  view('connection').dataset.state = kind;
  say('connection', text);
  document.body.classList.toggle('stale', kind === 'lost');
}
