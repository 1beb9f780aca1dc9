// Makes the pictures of README.md and docs from a real run: npx tsx scripts/screenshots.ts [folder]     needs a Chromium; build first.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientOf, start, type Started } from '../bench/server-process.ts';
import type { StemmaClient } from '../src/client/stemma-client.ts';
import { waitFor } from '../test/e2e/wait-for.ts';
import { Chromium, findChromium, type Tab } from '../test/page/chromium.ts';

const folder = process.argv[2] ?? join(import.meta.dirname, '..', 'docs', 'images');
const size = { width: 1240, height: 720, scale: 1.5 } as const;
const minutes = 60_000;

/** A shop that has its checks done at night, asks before it publishes, and looks after its disk. */
const project = {
  project: 'shop',
  agents: { shell: { driver: 'script', command: ['sh'] } },
  schedules: {
    nightly: {
      cron: '0 2 * * *',
      timezone: 'Europe/Berlin',
      agent: 'demo',
      workspace: 'shared',
      labels: ['checks'],
      messages: ['Run the nightly checks.', 'Summarise what the checks found.'],
    },
    report: {
      after: { schedule: 'nightly', status: 'succeeded', deadline: '06:00' },
      timezone: 'Europe/Berlin',
      agent: 'shell',
      messages: ['echo "The checks of {{date}} went well."'],
    },
    disk: { every: '15m', agent: 'shell', workspace: 'shared', messages: ['df -h . | tail -1'] },
    stock: {
      cron: '0 8 * * 1-5',
      timezone: 'America/New_York',
      agent: 'shell',
      labels: ['checks'],
      workspace: 'shared',
      messages: ['echo "12 articles are low." >&2; exit 3'],
    },
  },
};
const publish = {
  steps: {
    build: { run: 'sleep 1; echo built' },
    check: { needs: ['build'], run: 'sleep 1; echo checked' },
    approve: { needs: ['check'], question: 'The shop is built and checked. Publish it?', choices: ['Publish', 'Not today'] },
    deploy: { needs: ['approve'], run: 'echo done' },
  },
};

function writeProject(directory: string): string {
  mkdirSync(join(directory, 'workflows'), { recursive: true });
  // JSON is YAML.
  writeFileSync(join(directory, 'workflows', 'publish.yaml'), JSON.stringify(publish));
  const config = join(directory, 'stemma.yaml');
  writeFileSync(config, JSON.stringify(project));
  return config;
}

/** Triggers a schedule, and waits until its run has ended; answers the run. */
async function triggered(client: StemmaClient, id: string): Promise<string> {
  const { runId } = await client.call('triggerSchedule', { id, body: {} });
  await waitFor(`${id} has run`, async () => (await client.call('getRun', { id: runId })).state === 'ended', {
    withinMs: 2 * minutes,
    everyMs: 200,
  });
  return runId;
}

async function signIn(tab: Tab, { url }: Started, client: StemmaClient): Promise<void> {
  await tab.resize(size);
  await tab.goTo((await client.call('createSignInLink')).url);
  await tab.until(`location.href === '${url}/' && document.querySelector('#connection')?.dataset.state === 'live'`);
}

/** Keeps what the tab shows, dark and light. */
async function keep(tab: Tab, name: string): Promise<void> {
  for (const scheme of ['dark', 'light'] as const) {
    await tab.prefer(scheme);
    await tab.read('document.activeElement?.blur(), new Promise((done) => setTimeout(done, 300))');
    writeFileSync(join(folder, `${name}-${scheme}.png`), await tab.picture());
  }
}

/** A tree in the midst of its work: something has failed and is tried again, its results are on their way. */
async function keepTree(tab: Tab, { url }: Started, client: StemmaClient): Promise<void> {
  const { runId } = await client.call('triggerSchedule', { id: 'shop/nightly', body: {} });
  const { id, sessionId } = await waitFor('the message is sent', async () => {
    const { currentId, sessionId: session } = await client.call('getRun', { id: runId });
    return currentId !== undefined && session !== undefined && { id: currentId, sessionId: session };
  });
  await tab.until(`['Publish it?', 'Lint the sources'].every((text) => document.body.innerText.includes(text))`);
  await keep(tab, 'monitor');
  await tab.goTo(`${url}/roots/${id}`);
  // The second attempt is at work for a while.
  await tab.until(`[...document.querySelectorAll('[data-key]')].some((row) => row.innerText.includes('attempt 2'))`);
  await tab.read('new Promise((done) => setTimeout(done, 900))');
  await keep(tab, 'root');
  const isOver = async (): Promise<boolean> => (await client.call('getRun', { id: runId })).state === 'ended';
  await waitFor('the run has ended', isOver, { withinMs: minutes });
  await tab.goTo(`${url}/sessions/${sessionId}`);
  await tab.until(`document.querySelectorAll('main article, main li').length > 2`);
  await keep(tab, 'session');
}

async function play(tab: Tab, server: Started, cwd: string): Promise<void> {
  const client = clientOf(server);
  for (const name of ['shop/disk', 'shop/disk', 'shop/stock', 'shop/nightly', 'shop/disk']) await triggered(client, name);
  await client.call('runWorkflow', { id: 'shop/publish', body: { cwd } });
  await signIn(tab, server, client);
  await keepTree(tab, server, client);
  await tab.goTo(`${server.url}/schedules`);
  await tab.until(`document.body.innerText.includes('nightly') && document.body.innerText.includes('stock')`);
  await keep(tab, 'schedules');
}

const program = findChromium();
if (program === undefined) throw new Error('no Chromium on this machine; STEMMA_CHROMIUM names one');
mkdirSync(folder, { recursive: true });
const directory = mkdtempSync(join(tmpdir(), 'stemma-pictures-'));
// What is seen of the directory is that of a project, not of this machine.
const cwd = join(directory, 'shop');
const config = writeProject(cwd);
const server = await start(join(directory, 'data'), { config });
const chromium = await Chromium.open(program);
try {
  await play(await chromium.tab(), server, cwd);
} finally {
  await chromium.close();
  const ended = new Promise((resolve) => server.child.once('exit', resolve));
  // With its agents.
  server.child.kill('SIGUSR2');
  await ended;
  rmSync(directory, { recursive: true, force: true });
}
