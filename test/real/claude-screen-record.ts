/**
 * Records what Claude Code writes and shows at its own screen, for the unit tests of the driver `terminal`:
 *
 *   node --import tsx test/real/claude-screen-record.ts [SCENE...]
 *
 * Each scene becomes test/corpus/claude/VERSION/transcript/NAME.jsonl, cut to the lines and fields that the driver reads, and,
 * where there are screens to look at, test/corpus/screens/claude/VERSION/NAME.json.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/base/clock.ts';
import type { SessionId } from '../../src/base/ids.ts';
import { readLine } from '../../src/drivers/terminal/transcript.ts';
import { TerminalOrder } from '../../src/terminal/terminal-order.ts';
import { TmuxTerminals } from '../../src/terminal/tmux-terminals.ts';
import { AgentBench, type Talk } from './agent-bench.ts';
import { claudeScreenKit } from './claude-screen-kit.ts';
import { findProgram } from './kit.ts';
import { ScreenRecording } from './screen-recording.ts';

const program = findProgram('claude');
if (!program) process.exit(1);
const bench = await AgentBench.start(claudeScreenKit, program);
const { version = 'unknown' } = await bench.driver.probe(bench.profile());
const corpus = fileURLToPath(new URL('../corpus/', import.meta.url));
const transcripts = join(corpus, 'claude', version, 'transcript');
const screens = join(corpus, 'screens', 'claude', version);
for (const path of [transcripts, screens]) mkdirSync(path, { recursive: true });
const report = (): void => undefined;
const order = new TerminalOrder();
/** Only these scenes; none: all. */
const asked = process.argv.slice(2);
const terminals = new TmuxTerminals({ clock: systemClock, dataDir: bench.directory, order, report });

interface Scene {
  readonly talk: Talk;
  type(text: string): Promise<void>;
  press(key: string): Promise<void>;
  screen(name: string): Promise<void>;
  /** Waits for so many turns to have ended. */
  ends(count: number): Promise<void>;
}

await scene('simple', async ({ type, ends, screen }) => {
  await screen('empty');
  await type('hello [[say hi there]]');
  await ends(1);
});
await scene('absorbed', async ({ type, ends, screen }) => {
  await type('work [[shell sleep 3; echo done]] [[say finished]]');
  await delay(1500);
  await screen('busy');
  await type('typed meanwhile');
  await delay(700);
  await screen('queued');
  await ends(1);
});
await scene('queued', async ({ type, ends }) => {
  await type('talk [[slow 3 a b c d e f]]');
  await delay(1500);
  await type('next [[say second turn]]');
  await ends(2);
});
await scene('interrupted', async ({ type, press, ends, screen }) => {
  await type('stop me [[shell sleep 9; echo x]]');
  await delay(1800);
  await press('Escape');
  await ends(1);
  await screen('interrupted');
});
await scene('interrupted-with-queue', async ({ type, press, ends }) => {
  await type('stop me [[shell sleep 9; echo x]]');
  await delay(1800);
  await type('goes on [[say it ran]]');
  await delay(700);
  await press('Escape');
  await ends(2);
});
await scene('rewound', async ({ type, press, screen, ends }) => {
  await type('taken back [[hang 9]]');
  await delay(1500);
  await press('Escape');
  await delay(1500);
  await screen('rewound');
  await ends(1);
  await press('C-u');
  await type('another [[say another]]');
  await ends(2);
});
await scene('usage-limit', async ({ type, ends, screen }) => {
  await type('limit [[fail 429]]');
  await ends(1);
  await delay(500);
  await screen('failed');
});
await scene('background', async ({ type, talk, screen }) => {
  await type('leave it [[background sleep 2; echo late]] [[say left]]');
  await talk.event('turnStarted', (event) => event.taskId !== undefined);
  await talk.event('turnEnded', (event) => event.tasks.length === 0);
  await screen('background');
});
await scene('composer', async ({ talk, screen, press }) => {
  const keyboard = terminals.keyboard(talk.request.sessionId);
  await keyboard.press('h');
  await delay(1500);
  await screen('half-typed');
  await press('C-u');
  await delay(300);
  const pasted = Array.from({ length: 6 }, (_, i) => `line ${i}`).join('\n');
  await keyboard.submit(`${pasted} [[say pasted]]`);
  await talk.event('turnEnded');
});
const asking = { sandbox: 'workspace', onQuestion: 'ask' } as const;
await scene(
  'asked',
  async ({ type, talk, screen, press, ends }) => {
    await type('ask me [[shell touch /etc/never && echo $?]] [[say asked]]');
    await talk.event('waiting');
    await delay(1000);
    await screen('question');
    await press('Escape');
    await ends(1);
  },
  asking,
);
await bench.stop();
process.exit(0);

async function scene(name: string, play: (scene: Scene) => Promise<void>, more: object = {}): Promise<void> {
  if (asked.length > 0 && !asked.includes(name)) return;
  const talk = await bench.open(name, { profile: bench.profile(more) });
  const owner = `ses_${name}` as SessionId;
  const keyboard = terminals.keyboard(owner);
  const recording = await ScreenRecording.begin(bench.directory, owner);
  let shots = 0;
  await play({
    talk,
    type: async (text) => void (await keyboard.submit(text)),
    press: async (key) => void (await keyboard.press(key)),
    screen: async (shot) => {
      shots++;
      await recording.shot(shot);
    },
    ends: async (count) => {
      const until = Date.now() + 20_000;
      while (talk.all('turnEnded').length < count) {
        if (Date.now() > until) throw new Error(`${name}: ${count} turns have not ended`);
        await delay(50);
      }
    },
  });
  if (shots > 0) recording.save(join(screens, `${name}.json`));
  const transcript = talk.request.directory && transcriptOf(talk.conversation.nativeId);
  const lines = readFileSync(transcript, 'utf8')
    .split('\n')
    .filter((line) => (readLine(line) ?? []).length > 0);
  writeFileSync(join(transcripts, `${name}.jsonl`), `${clean(lines.map(cut).join('\n'))}\n`);
  console.log(name, lines.length, talk.events.map((event) => event.type).join(' '));
  await talk.conversation.end();
}

function transcriptOf(id: string): string {
  const slug = bench.cwd.replace(/[^a-zA-Z0-9]/g, '-');
  const file = join(bench.directory, 'home', 'projects', slug, `${id}.jsonl`);
  if (!existsSync(file)) throw new Error(`${file} is not there`);
  return file;
}

/** Only what the driver reads: the rest is the program's own affair. */
function cut(line: string): string {
  const { message, ...rest } = JSON.parse(line) as Record<string, unknown> & {
    message?: Record<string, unknown>;
  };
  const kept = [
    'type',
    'subtype',
    'uuid',
    'promptId',
    'rowSource',
    'interruptedMessageId',
    'operation',
    'reason',
  ];
  const more = ['content', 'commandUuid', 'isApiErrorMessage', 'error', 'apiErrorStatus', 'toolUseResult'];
  const fields = Object.fromEntries(Object.entries(rest).filter(([key]) => [...kept, ...more].includes(key)));
  const said = message && { id: message['id'], content: message['content'], usage: message['usage'] };
  return JSON.stringify({ ...fields, ...(said ? { message: said } : {}) });
}

function clean(text: string): string {
  return text
    .replaceAll(bench.directory, '/bench')
    .replaceAll(bench.directory.replaceAll('/', '-'), '-bench');
}
