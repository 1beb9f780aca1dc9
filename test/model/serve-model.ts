/**
 * The scripted model as a program of its own, for tests that kill everything else:
 *
 *   node --import tsx test/model/serve-model.ts [--port N] [--log FILE] [--rules FILE]
 *
 * RULES is JSON: [{"when": "regular expression", "steps": "[[say …]]", "times": 1}]. The first line on stdout is
 * `model ready URL`. SIGTERM ends it.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startModelServer } from './model-server.ts';
import type { Rule } from './prompt-script.ts';

const { values } = parseArgs({
  options: { port: { type: 'string' }, log: { type: 'string' }, rules: { type: 'string' } },
});
const rules = values.rules === undefined ? [] : (JSON.parse(readFileSync(values.rules, 'utf8')) as Rule[]);
const server = await startModelServer({
  rules,
  ...(values.port === undefined ? {} : { port: Number(values.port) }),
  ...(values.log === undefined ? {} : { logFile: values.log }),
});
process.stdout.write(`model ready ${server.url}\n`);
process.once('SIGTERM', () => {
  void server.stop().then(() => process.exit(0));
});
