/**
 * Records what the screens of Codex and opencode write, attached to a conversation of ours, for the unit tests of the mirror:
 *
 *   node --import tsx test/real/tui-screen-record.ts
 *
 * Each becomes test/corpus/screens/AGENT/VERSION/attached.json.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { TerminalOrder } from '../../src/terminal/terminal-order.ts';
import { TmuxTerminals } from '../../src/terminal/tmux-terminals.ts';
import { screensDirectory } from '../corpus/recorded-screen.ts';
import { AgentBench } from './agent-bench.ts';
import { codexKit } from './codex-kit.ts';
import { type AgentKit, findProgram } from './kit.ts';
import { opencodeKit } from './opencode-kit.ts';
import { ScreenRecording } from './screen-recording.ts';

// The timers of the product keep no process alive.
setInterval(() => undefined, 60_000);
for (const kit of [codexKit, opencodeKit]) await record(kit);
process.exit(0);

async function record(kit: AgentKit): Promise<void> {
  const program = findProgram(kit.name);
  if (program === undefined) return;
  const bench = await AgentBench.start(kit, program);
  const { version = 'unknown' } = await bench.driver.probe(bench.profile());
  const talk = await bench.open('tui');
  await talk.turn('Hello. [[say hi there]]');
  const { sessionId: owner } = talk.request;
  const order = new TerminalOrder();
  const settings = { clock: systemClock, dataDir: bench.directory, order, report: () => undefined };
  const terminals = new TmuxTerminals(settings);
  const screen = await talk.conversation.screen?.();
  if (!screen) throw new Error(`${kit.name} has no screen`);
  const failure = await terminals.run(owner, screen);
  if (failure !== undefined) throw new Error(failure);
  const recording = await ScreenRecording.begin(bench.directory, owner);
  const mirror = terminals.mirror(owner);
  const until = async (what: RegExp): Promise<void> => {
    const deadline = Date.now() + 40_000;
    for (;;) {
      const lines = (await mirror.look()) ?? [];
      if (lines.some(({ text }) => what.test(text))) break;
      if (Date.now() > deadline) throw new Error(lines.map(({ text }) => text).join('\n'));
      await delay(100);
    }
    await delay(500);
  };
  const keyboard = terminals.keyboard(owner);
  await until(/hi there/);
  await recording.shot('idle');
  await keyboard.submit('work [[shell sleep 4; echo done]] [[say finished]]');
  await until(/esc .*interrupt/);
  await recording.shot('busy');
  await until(/finished$/);
  await recording.shot('done');
  await keyboard.press('h');
  await delay(700);
  await recording.shot('half-typed');
  recording.save(`${screensDirectory}${kit.name}/${version}/attached.json`);
  mirror.end();
  await talk.conversation.end();
  await terminals.reap(new Set());
  await bench.stop();
  console.log(kit.name, version);
}
