import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock as clock } from '../../base/clock.ts';
import { processesWithEnvironment } from '../../../test/e2e/living-processes.ts';
import { acpDriver } from '../acp/driver.ts';
import { demoCheck } from '../demo/conformance-script.ts';
import { demoProgramFromSource } from '../demo/demo-from-source.ts';
import type { Conversation, Driver, DriverEvent, Opened, OpenRequest } from '../port.ts';
import { checkDriver } from './check-driver.ts';
import { startTestTools, type TestTools } from './test-tools.ts';

/* The suite must catch a driver that is wrong. Each driver here is the ACP driver with one fault put in on purpose. */

vi.setConfig({ testTimeout: 120_000 });

let root = '';
let tools: TestTools;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'stemma-faulty-'));
  tools = await startTestTools();
});

afterEach(async () => {
  await tools.close();
  // A faulty driver leaves agents behind: nobody else ends them.
  for (const pid of processesWithEnvironment(root)) end(pid);
  rmSync(root, { recursive: true, force: true });
});

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

interface Fault {
  readonly name: string;
  /** The case that is to catch it, and the words in which. */
  readonly caughtBy: string;
  readonly says: RegExp;
  readonly driver: () => Driver;
}

const right = (): Driver => acpDriver({ clock, openingMs: 20_000 });

/** A driver whose events pass through `spoil`, which is made anew for each opening; `opening` counts them. */
function withEvents(spoil: (opening: number) => (event: DriverEvent) => readonly DriverEvent[]): Driver {
  const driver = right();
  let openings = 0;
  return {
    ...driver,
    open: (request) => {
      const pass = spoil(++openings);
      return driver.open({
        ...request,
        emit: (event) => pass(event).forEach((each) => request.emit(each)),
      });
    },
  };
}

/** A driver whose conversations are replaced by `spoil`. */
function withConversation(
  spoil: (conversation: Conversation, request: OpenRequest) => Partial<Conversation>,
  declares: Partial<Driver['capabilities']> = {},
): Driver {
  const driver = right();
  return {
    ...driver,
    capabilities: { ...driver.capabilities, ...declares },
    open: async (request) => {
      const opened = await driver.open(request);
      if (!opened.ok) return opened;
      const { conversation } = opened;
      const kept: Conversation = {
        nativeId: conversation.nativeId,
        start: (delivery) => conversation.start(delivery),
        steer: (delivery, turn) => conversation.steer(delivery, turn),
        withdraw: (id) => conversation.withdraw(id),
        interrupt: (turn) => conversation.interrupt(turn),
        evidence: (id) => conversation.evidence(id),
        locate: (call) => conversation.locate(call),
        answer: (id, choice) => conversation.answer(id, choice),
        detach: () => conversation.detach(),
        end: () => conversation.end(),
      };
      return { ...opened, conversation: { ...kept, ...spoil(kept, request) } };
    },
  };
}

/** Tells a text as taken as soon as it is handed over, and never hands it over. */
function takenWithoutProof(): Driver {
  let position = 0;
  let turn = '';
  const inner = withConversation(
    (_, request) => ({
      steer: async ({ id }) => {
        request.emit({ type: 'taken', nativeTurnId: turn, deliveryId: id, position });
        return { outcome: 'written' };
      },
      evidence: async () => ({ state: 'consumed', nativeTurnId: turn }),
    }),
    { steer: 'proven', negativeProof: 'turnEnd' },
  );
  return {
    ...inner,
    open: (request) =>
      inner.open({
        ...request,
        emit: (event) => {
          position = event.position;
          if (event.type === 'turnStarted') turn = event.nativeTurnId;
          request.emit(event);
        },
      }),
  };
}

/** Begins a process of its own beside the one that lives, and says `how` it came by it. */
function secondProcess(how: 'resumed' | 'adopted'): Driver {
  const driver = right();
  let openings = 0;
  return {
    ...driver,
    open: async (request): Promise<Opened> => {
      const directory = join(request.directory, String(++openings));
      mkdirSync(directory);
      const { nativeId, ...rest } = request;
      const opened = await driver.open({
        ...rest,
        directory,
        ...(nativeId === undefined ? {} : { nativeId }),
      });
      return opened.ok && openings > 1 ? { ...opened, how } : opened;
    },
  };
}

/** Sends each text once more when its turn has ended, under another id, and hides what that does. */
function sendsAgain(isHidden: boolean): Driver {
  let again: ((turn: string) => void) | undefined;
  const texts = new Map<string, string>();
  const inner = withConversation((conversation) => {
    again = (turn) => {
      const id = turn.replace('prompt:', '');
      const text = texts.get(id);
      if (text !== undefined) void conversation.start({ id: `${id}-again`, text });
    };
    return {
      start: (delivery) => {
        texts.set(delivery.id, delivery.text);
        return conversation.start(delivery);
      },
    };
  });
  return {
    ...inner,
    open: (request) =>
      inner.open({
        ...request,
        emit: (event) => {
          const isAgain = JSON.stringify(event).includes('-again');
          if (isAgain && isHidden) return;
          if (event.type === 'turnStarted' && isAgain)
            request.emit({ type: 'turnStarted', nativeTurnId: event.nativeTurnId, position: event.position });
          else request.emit(event);
          if (event.type === 'turnEnded' && !isAgain) again?.(event.nativeTurnId);
        },
      }),
  };
}

const faults: readonly Fault[] = [
  {
    name: 'ends a turn twice',
    caughtBy: 'simpleTurn',
    says: /ended twice/,
    driver: () => withEvents(() => (event) => (event.type === 'turnEnded' ? [event, event] : [event])),
  },
  {
    name: 'ends a turn before its start',
    caughtBy: 'simpleTurn',
    says: /ended before it started/,
    driver: () =>
      withEvents(() => {
        let start: DriverEvent | undefined;
        return (event) => {
          if (event.type === 'turnStarted') start = event;
          if (event.type === 'turnStarted') return [];
          return event.type === 'turnEnded' && start
            ? [event, { ...start, position: event.position }]
            : [event];
        };
      }),
  },
  {
    name: 'tells a text as taken that the agent never got',
    caughtBy: 'steerHeard',
    says: /told as taken that the agent never heard/,
    driver: takenWithoutProof,
  },
  {
    name: 'resumes although the old process lives',
    caughtBy: 'adopt',
    says: /the process lives, and open resumed another/,
    driver: () => secondProcess('resumed'),
  },
  {
    name: 'starts a second process and calls it adopted',
    caughtBy: 'endWhileAway',
    says: /and still there is process/,
    driver: () => secondProcess('adopted'),
  },
  {
    name: 'loses an end while nobody listens',
    caughtBy: 'endWhileAway',
    says: /to end, which nobody listened to/,
    driver: () =>
      withEvents((opening) => {
        let isFirst = opening > 1;
        return (event) => {
          if (event.type !== 'turnEnded' || !isFirst) return [event];
          isFirst = false;
          return [];
        };
      }),
  },
  {
    name: 'sends a text again',
    caughtBy: 'simpleTurn',
    says: /turns began for two texts|was refused|start must write/,
    driver: () => sendsAgain(false),
  },
  {
    name: 'sends a text again and hides it',
    caughtBy: 'toolCall',
    // By what is seen first: the second call itself, or that a call is not of the turn that was begun.
    says: /called the tool again after its turn|was located in prompt:\S+-again, not in/,
    driver: () => sendsAgain(true),
  },
  {
    name: 'says that a text is absent which the agent took up',
    caughtBy: 'simpleTurn',
    says: /a text whose turn ended must be consumed/,
    driver: () => withConversation(() => ({ evidence: async () => ({ state: 'absent' }) })),
  },
  {
    name: 'throws across the port',
    caughtBy: 'simpleTurn',
    says: /evidence threw: Error: oops/,
    driver: () => withConversation(() => ({ evidence: () => Promise.reject(new Error('oops')) })),
  },
];

test.each(faults)('a driver that $name is caught by $caughtBy', async ({ caughtBy, says, driver }) => {
  const { profile, prompts } = demoCheck(root, (script) => ({
    name: 'demo',
    driver: 'acp',
    command: demoProgramFromSource('--script', script),
    env: { STEMMA_DEMO_HOME: root },
  }));
  const check = (subject: Driver, directory: string): ReturnType<typeof checkDriver> => {
    const options = { profile, prompts, clock, tools, only: [caughtBy], patienceMs: 8000 };
    return checkDriver({ ...options, driver: subject, directory: join(root, directory) });
  };
  const report = await check(driver(), 'faulty');
  expect(report.passed).toBe(false);
  expect(report.cases[0]?.outcome).toMatchObject({ state: 'failed', reason: expect.stringMatching(says) });
});
