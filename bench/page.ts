import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { ExecutionId } from '../src/base/ids.ts';
import { StemmaClient } from '../src/client/stemma-client.ts';
import { systemClock } from '../src/base/clock.ts';
import { Chromium, findChromium, type Tab } from '../test/page/chromium.ts';
import { median, percentile, report, spread } from './figures.ts';
import { fillPage } from './page-fill.ts';
import { clientOf, start, type Started, stop } from './server-process.ts';

/*
 * The page in a real Chromium: how much is loaded first, when the monitor with 1,000 live roots and a tree of 10,000 executions
 * can be used, whether scrolling that tree is as smooth as scrolling nothing, and how soon a key is heard while 500 events a
 * second arrive. `BENCH_EXECUTIONS`, `BENCH_ROOTS`, `BENCH_SECONDS` make it smaller.
 */
const executions = Number(process.env['BENCH_EXECUTIONS'] ?? 10_000);
const roots = Number(process.env['BENCH_ROOTS'] ?? 1_000);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 5);
const loads = 5;
const scrolls = 3;
/** How far each frame scrolls: 200 rows a second, faster than a wheel that is turned all the time. Pixels. */
const scrollPx = 100;
const eventsPerSecond = 500;
/** A child that is registered and settled is so many events. */
const eventsPerChild = 3;

/** In the page, before any script of it: when it can be used, how long tasks are, how late a key is heard. */
const watch = (usable: string): string => `
  window.seen = { usableAt: undefined, longTasks: [], inputs: [] };
  new PerformanceObserver((list) => seen.longTasks.push(...list.getEntries().map(({ startTime, duration }) => [startTime, duration]))).observe({ type: 'longtask', buffered: true });
  addEventListener('keydown', (event) => seen.inputs.push(performance.now() - event.timeStamp), true);
  const look = () => { if (document.body && (${usable})) seen.usableAt = performance.now(); else requestAnimationFrame(look); };
  look();`;

const monitorUsable = `document.querySelectorAll('[aria-label="Live roots"] article').length > 5 && document.querySelector('output')?.innerText.startsWith('${roots + 1} live')`;
const rootUsable = `document.querySelectorAll('[role="treegrid"] [data-key]').length > 10`;

async function open(tab: Tab, url: string, usable: string): Promise<number> {
  const { identifier } = (await tab.devTools('Page.addScriptToEvaluateOnNewDocument', {
    source: watch(usable),
  })) as { identifier: string };
  // A new document each time: the address alone would not load it anew.
  await tab.goTo('about:blank');
  await tab.goTo(url);
  await tab.until(`window.seen?.usableAt !== undefined && location.href.startsWith('http')`);
  await tab.devTools('Page.removeScriptToEvaluateOnNewDocument', { identifier });
  return (await tab.read<number>('seen.usableAt')) ?? Number.NaN;
}

async function several(tab: Tab, url: string, usable: string): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < loads; n++) times.push(await open(tab, url, usable));
  return times;
}

/** What the page loaded before it could be used, gzipped, in KB. */
async function loadedKb(tab: Tab): Promise<number> {
  const names = await tab.read<string[]>(
    `performance.getEntriesByType('resource').filter(({ name }) => /\\.(js|css)$/.test(new URL(name).pathname)).map(({ name }) => new URL(name).pathname)`,
  );
  const files = readdirSync(join('dist', 'web'), { recursive: true, encoding: 'utf8' });
  const loaded = files.filter((file) => names?.includes(`/${file}`) || file === 'index.html');
  const bytes = loaded.map((file) => gzipSync(readFileSync(join('dist', 'web', file)), { level: 6 }).length);
  return bytes.reduce((sum, count) => sum + count, 0) / 1024;
}

/** What a stretch of scrolling came to. */
interface Scrolled {
  readonly longTasks: number;
  /** Frames that came a frame or more late. */
  readonly dropped: number;
  readonly frames: number;
}

/** Scrolls down by frames, for a few seconds, and says what was late. */
async function scroll(tab: Tab): Promise<Scrolled> {
  const run = `new Promise((done) => {
    const long = []; const times = [];
    const observer = new PerformanceObserver((list) => long.push(...list.getEntries()));
    observer.observe({ type: 'longtask' });
    scrollTo(0, 0);
    const began = performance.now();
    const frame = (now) => {
      times.push(now);
      scrollBy(0, ${scrollPx});
      if (performance.now() - began < ${seconds * 1_000}) return requestAnimationFrame(frame);
      setTimeout(() => { observer.disconnect();
        const gaps = times.slice(1).map((time, index) => time - times[index]);
        done({ longTasks: long.length, dropped: gaps.filter((gap) => gap > 25).length, frames: gaps.length }); }, 100);
    };
    requestAnimationFrame(frame);
  })`;
  const done = await tab.read<Scrolled>(run);
  if (!done) throw new Error('it could not be scrolled');
  return done;
}

/** An empty page as high as the tree, for comparison. */
async function emptyPage(tab: Tab): Promise<void> {
  await tab.goTo('about:blank');
  await tab.until(`location.href === 'about:blank'`);
  await tab.read(`document.body.style.height = '${executions * 30}px'`);
}

async function scrolling(tab: Tab, url: string): Promise<Record<'tree' | 'empty', Scrolled[]>> {
  const done: Record<'tree' | 'empty', Scrolled[]> = { tree: [], empty: [] };
  for (let n = 0; n < scrolls; n++) {
    await emptyPage(tab);
    done.empty.push(await scroll(tab));
    await open(tab, url, rootUsable);
    await delay(500);
    done.tree.push(await scroll(tab));
  }
  return done;
}

/** Registers and settles children at a steady rate, until the signal; answers how many events that were. */
async function load(client: StemmaClient, signal: AbortSignal): Promise<number> {
  let made = 0;
  const running = new Set<Promise<void>>();
  const one = async (n: number): Promise<void> => {
    const { id } = await client.call('registerExecution', { body: { kind: 'outside', name: `busy ${n}` } });
    await client.call('settleExecution', { id, body: { state: 'succeeded' } });
  };
  const began = performance.now();
  while (!signal.aborted) {
    const due = ((performance.now() - began) / 1_000) * (eventsPerSecond / eventsPerChild);
    while (made < due && running.size < 200) {
      const work = one(made++).finally(() => running.delete(work));
      running.add(work);
    }
    await delay(5);
  }
  await Promise.all(running);
  return made * eventsPerChild;
}

/** How late keys are heard while events arrive; milliseconds. */
async function responsiveness(
  tab: Tab,
  client: StemmaClient,
): Promise<{ readonly delays: number[]; readonly longest: number; readonly perSecond: number }> {
  await tab.read(`document.querySelector('[role="treegrid"] [role="row"][tabindex="0"]')?.focus()`);
  await tab.read('seen.inputs.length = 0, seen.longTasks.length = 0');
  const over = new AbortController();
  const began = performance.now();
  const busy = load(client, over.signal);
  while (performance.now() - began < seconds * 1_000) {
    await tab.press('ArrowDown');
    await delay(50);
  }
  over.abort();
  const events = await busy;
  const perSecond = events / ((performance.now() - began) / 1_000);
  const delays = (await tab.read<number[]>('seen.inputs')) ?? [];
  const tasks = (await tab.read<[number, number][]>('seen.longTasks')) ?? [];
  return { delays, longest: Math.max(0, ...tasks.map(([, duration]) => duration)), perSecond };
}

async function measure(
  tab: Tab,
  server: Started,
  root: { id: string; token?: string | undefined },
): Promise<void> {
  const client = clientOf(server);
  const signIn = await client.call('createSignInLink');
  await tab.goTo(signIn.url);
  await tab.until(
    `location.pathname === '/' && document.querySelector('#connection')?.dataset.state === 'live'`,
  );
  const monitor = await several(tab, `${server.url}/`, monitorUsable);
  const kb = await loadedKb(tab);
  const address = `${server.url}/roots/${root.id}`;
  const opened = await several(tab, address, rootUsable);
  const { tree, empty } = await scrolling(tab, address);
  await open(tab, address, rootUsable);
  const inTree = await responsiveness(
    tab,
    new StemmaClient({ url: server.url, token: root.token ?? '' }, systemClock),
  );
  await open(tab, `${server.url}/`, monitorUsable);
  const inMonitor = await responsiveness(tab, client);
  const told = (each: Scrolled[]): string =>
    `${median(each.map(({ longTasks }) => longTasks))} long tasks, ${spread(each.map(({ dropped }) => dropped))} of ${median(each.map(({ frames }) => frames))} frames late`;
  const heard = ({ delays, longest, perSecond }: typeof inTree): string =>
    `p50 ${median(delays).toFixed(1)}, p99 ${percentile(delays, 0.99).toFixed(0)}, longest task ${longest.toFixed(0)} (${perSecond.toFixed(0)} events/s, ${delays.length} keys)`;
  report('the page', 'Chromium', [
    ['first load, KB gzipped', kb.toFixed(0)],
    [`monitor with ${roots} live roots usable, ms`, spread(monitor)],
    [`tree of ${executions} executions opens, ms`, spread(opened)],
    ['scrolling the tree', told(tree)],
    ['scrolling an empty page', told(empty)],
    ['a key is heard, the tree open, ms', heard(inTree)],
    ['a key is heard, the monitor open, ms', heard(inMonitor)],
  ]);
}

const program = findChromium();
if (program === undefined) throw new Error('no Chromium on this machine; STEMMA_CHROMIUM names one');
const dataDir = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'stemma-bench-page-'));
let server = await start(dataDir);
try {
  const root = await clientOf(server).call('registerExecution', {
    body: { kind: 'outside', name: 'ten thousand' },
  });
  await stop(server, 'SIGTERM');
  await fillPage(dataDir, { root: root.id as ExecutionId, executions, roots });
  server = await start(dataDir);
  // Outside work that is not heard of for a minute and a half has failed.
  const admin = clientOf(server);
  const beat = (): unknown =>
    admin
      .call('heartbeatExecution', { id: root.id, body: {} })
      .catch((error: unknown) => console.error(error));
  const beats = setInterval(beat, 20_000);
  const chromium = await Chromium.open(program);
  try {
    const tab = await chromium.tab();
    await tab.resize({ width: 1280, height: 800 });
    await measure(tab, server, root);
  } finally {
    clearInterval(beats);
    await chromium.close();
  }
} finally {
  await stop(server, 'SIGTERM');
  rmSync(dataDir, { recursive: true, force: true });
}
