import { StemmaError } from '../../base/errors.ts';
import { pauseOrThrow } from '../../base/pause.ts';
import { askPatiently } from '../../client/retry.ts';
import type { StemmaClient } from '../../client/stemma-client.ts';
import type { TranscriptItem } from '../../contract/session.ts';
import type { CliContext } from '../context.ts';
import { exitCodes, Interrupted } from '../exit.ts';
import { plainBlock } from '../../words/text.ts';
import { type Options, type Registrar, requiredText, textOf } from '../verb.ts';

/** How many items are asked for at once, and how long until it is looked again for more; milliseconds. */
const pageItems = '500';
const againMs = 1_000;

/** `stemma logs ID`: what was said and done in a conversation. */
export function addLogsVerb({ program, verb }: Registrar): void {
  program
    .command('logs')
    .description('what was said and done in a conversation, oldest first')
    .argument('<id>', 'a session, an execution or a run; the beginning of an id is enough')
    .option('-f, --follow', 'go on with what comes; Ctrl-C ends it, and the work goes on')
    .option('--after <position>', 'only what comes behind this item: its id, as --json shows it')
    .action(verb(logs));
}

async function logs(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const id = await sessionOf(client, requiredText(args[0], 'id'));
  const follows = options['follow'] === true;
  let after = textOf(options['after']);
  let shown = 0;
  try {
    await context.interruptible(async (signal) => {
      for (;;) {
        const query = { limit: pageItems, ...(after === undefined ? {} : { after }) };
        const read = () => client.call('getTranscript', { id, query, signal });
        const page = await (follows ? askPatiently(client.clock, read, signal) : read());
        for (const item of page.items) print(context, item);
        shown += page.items.length;
        after = page.items.at(-1)?.id ?? after;
        if (page.nextCursor !== undefined && page.items.length > 0) continue;
        if (!follows) return;
        await pauseOrThrow(client.clock, againMs, signal);
      }
    });
  } catch (thrown) {
    // Whoever follows ends it so.
    if (!(follows && thrown instanceof Interrupted)) throw thrown;
    context.talk(`You no longer watch it; the work goes on: stemma logs ${id} --follow`);
    throw thrown;
  }
  if (shown === 0 && !context.isJson) context.talk(`Nothing was said in ${id} yet.`);
  return exitCodes.ok;
}

/** The conversation that an id leads to. Throws `NOT_FOUND` where there is none. */
async function sessionOf(client: StemmaClient, id: string): Promise<string> {
  if (id.startsWith('ses_')) return id;
  if (id.startsWith('run_')) {
    const { sessionId, workflow, id: whole } = await client.call('getRun', { id });
    if (sessionId !== undefined) return sessionId;
    const where = workflow ? `; each of its steps has: stemma workflow show ${whole}` : ' yet';
    throw none(whole, where);
  }
  const { runsIn, id: whole } = await client.call('getExecution', { id });
  if (runsIn !== undefined) return runsIn;
  throw none(whole, `; stemma tree ${whole} --results shows what came of it and of what is below it`);
}

function none(id: string, where: string): StemmaError {
  return new StemmaError('NOT_FOUND', `${id} has no conversation of its own${where}.`, { id });
}

const signs: Readonly<Record<TranscriptItem['kind'], string>> = {
  user: '>',
  text: '<',
  thought: '~',
  toolCall: '$',
  toolResult: '=',
};

/** `2026-12-01T02:00:00Z < what was said`; further lines stand below its beginning. */
function print(context: CliContext, item: TranscriptItem): void {
  if (context.isJson) {
    context.document(item);
    return;
  }
  const head = `${item.at} ${signs[item.kind]} `;
  const [first = '', ...rest] = plainBlock(item.text).trimEnd().split('\n');
  context.data(`${head}${first}`);
  for (const line of rest) context.data(`${' '.repeat(head.length)}${line}`.trimEnd());
}
