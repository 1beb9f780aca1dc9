import { parseArgs } from 'node:util';
import type { RuleName } from '../../src/ledger/rules.ts';
import { rules } from '../../src/ledger/rules.ts';
import { playHistory } from './history.ts';
import { shrink } from './shrink.ts';

/*
 * Plays histories from seeds and prints those that go wrong.
 *
 *   npm run simulate -- --seeds 100000 --from 1       so many seeds, from this one on
 *                       --stop 5                      gives up after so many failures
 *                       --trace 1 --shrink 1          tells each failing history, as short as it can be made; 2 tells more
 *                       --without holders             switches a rule of src/ledger/rules.ts off
 *                       --workflows                   agents launch workflows that have steps
 *                       --seed 42 --verbose           tells this history, whatever it comes to: each choice, and what the ledger wrote
 */
const number = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0)
    throw new Error(`"${text}" is not a number of seeds or a level`);
  return value;
};
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    stop: { type: 'string', default: '5' },
    trace: { type: 'string', default: '0' },
    shrink: { type: 'string', default: '0' },
    without: { type: 'string' },
    workflows: { type: 'boolean', default: false },
    seed: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});
const { seeds, from, stop, trace, shrink: shrinks } = values;
const options = {
  seeds: values.seed === undefined ? number(seeds) : 1,
  from: number(values.seed ?? from),
  stop: number(stop),
  trace: number(trace),
  shrink: number(shrinks),
};
if (values.without !== undefined) {
  if (!(values.without in rules))
    throw new Error(`no rule ${values.without}: there are ${Object.keys(rules).join(', ')}`);
  rules[values.without as RuleName] = false;
}
const isWorking = values.workflows;
const begun = Date.now();
const kinds = new Map<string, number>();
let failures = 0;
for (let seed = options.from; seed < options.from + options.seeds; seed++) {
  const history = await playHistory(seed, { isWorking });
  if (values.verbose) {
    const told = await playHistory(seed, { isVerbose: true, isWorking });
    console.log([`seed ${seed}:`, ...told.trace].join('\n'));
  }
  if (!history.violation) continue;
  const { kind, message } = history.violation;
  kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  console.log(`seed ${seed}: ${kind}: ${message}`);
  if (options.trace) {
    const short = options.shrink ? await shrink(seed, history, { isWorking }) : history;
    const told =
      options.trace > 1 ? await playHistory(seed, { tape: short.tape, isVerbose: true, isWorking }) : short;
    console.log(told.trace.join('\n'));
    console.log(short.violation);
  }
  if (++failures >= options.stop) break;
}
console.log(`${failures} failures`, kinds, `${Date.now() - begun} ms`);
