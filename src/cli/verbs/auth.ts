import { Option } from 'commander';
import { scopes } from '../../contract/route-spec.ts';
import type { Token } from '../../contract/token.ts';
import { formatDuration } from '../../words/durations.ts';
import { plainLine } from '../../words/text.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { type Cell, printPage } from '../table.ts';
import { type Options, type Registrar, requiredText } from '../verb.ts';

/** `stemma auth token new | ls | revoke`. */
export function addAuthVerbs({ program, verb }: Registrar): void {
  const auth = program.command('auth').description('who may call the server');
  const token = auth.command('token').description('tokens with a name and a scope: make, list, revoke');
  token
    .command('new')
    .description('make a token and print it, this once')
    .argument('<name>', 'who will use it; the log and what it decides carry this name')
    .addOption(
      new Option('--scope <scope>', 'read: look only; operate: also send, answer, cancel; admin: everything')
        .choices(scopes)
        .makeOptionMandatory(),
    )
    .action(verb(create));
  token.command('ls').description('list tokens and signed-in browsers').action(verb(list));
  token
    .command('revoke')
    .description('refuse a token from now on, or sign a browser out')
    .argument('<name>', 'its name, as ls has it')
    .action(verb(revoke));
}

async function create(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const scope = scopes.find((each) => each === options['scope']) ?? 'read';
  const made = await client.call('createToken', { body: { name: requiredText(args[0], 'name'), scope } });
  if (context.isJson) {
    context.document(made);
    return exitCodes.ok;
  }
  context.data(made.token);
  context.talk(
    `The token "${made.name}" (${made.scope}) is shown this once: use it as --token or STEMMA_TOKEN.`,
  );
  return exitCodes.ok;
}

async function list(context: CliContext): Promise<number> {
  const client = await context.connect();
  const page = await client.call('listTokens');
  const now = context.deps.clock.now();
  const rows = page.items.map((item) => rowOf(item, now));
  return printPage(context, page, ['NAME', 'SCOPE', 'AGE', 'USED', 'STATE'], rows, 'There is no token.');
}

function rowOf(token: Token, now: number): Cell[] {
  const ago = (instant: string): string => formatDuration(now - Date.parse(instant));
  const used = token.lastUsedAt === undefined ? '' : `${ago(token.lastUsedAt)} ago`;
  return [plainLine(token.name), token.scope, ago(token.createdAt), used, stateOf(token, ago)];
}

function stateOf({ revokedAt, expiresAt }: Token, ago: (instant: string) => string): string {
  if (revokedAt !== undefined) return `revoked ${ago(revokedAt)} ago`;
  return expiresAt === undefined ? 'valid' : `valid until ${expiresAt.slice(0, 10)}`;
}

async function revoke(context: CliContext, args: readonly unknown[]): Promise<number> {
  const client = await context.connect();
  const token = await client.call('revokeToken', { id: requiredText(args[0], 'name') });
  if (context.isJson) {
    context.document(token);
    return exitCodes.ok;
  }
  context.data(`${plainLine(token.name)}: revoked`);
  if (token.name === 'admin') {
    context.talk('It was the token of the data directory; the next start of the server makes another.');
  }
  return exitCodes.ok;
}
