import type { ExecutionId } from '../base/ids.ts';
import { startCheck } from '../ledger/check.ts';
import { ask } from '../ledger/questions.ts';
import { settle } from '../ledger/settle.ts';
import type { CommandEnd, RunsContext } from './ports.ts';

/** Runs the check of a message when everything else below it is closed. Exit code 0 is yes. */
export async function runCheck(context: RunsContext, messageId: ExecutionId): Promise<void> {
  const { store, clock, ids, commands } = context;
  const started = await store.decide(() => startCheck({ now: clock.now(), messageId }));
  const ready = started.ok ? started.value : undefined;
  if (!ready || ready.message.check === null) return;
  const { message, check } = ready;
  const sessionId = message.runsIn;
  const session = sessionId === null ? undefined : await store.read(() => ask('session', sessionId));
  const command = message.check ?? '';
  const end = await commands.run(check, command, session?.cwd ?? '.');
  const isYes = end.exitCode === 0;
  const error = isYes ? null : { code: 'CHECK_FAILED', message: refusalOf(command, end) };
  await store.decide(() =>
    settle({
      now: clock.now(),
      id: check.id,
      noticeId: ids.make('notice'),
      ending: { state: isYes ? 'succeeded' : 'failed', result: end.output, error },
    }),
  );
  await commands.forget(check.id);
}

/** How much of what a check printed is told with its refusal: the end of it, where the reason usually is. */
const toldLines = 5;
const toldChars = 600;

function refusalOf(command: string, { exitCode, output }: CommandEnd): string {
  const how = exitCode === null ? 'it left no exit code' : `exit code ${exitCode}`;
  const said = output.trim().split('\n').slice(-toldLines).join('\n').slice(-toldChars);
  return said === '' ? `${command}: ${how}` : `${command}: ${how}: ${said}`;
}
