import { playHistory } from './history.ts';
import { shrink } from './shrink.ts';

const options = { seeds: 1000, from: 1, stop: 5, trace: 0, shrink: 0 };
const words = process.argv.slice(2);
for (let i = 0; i < words.length; i += 2) {
  const name = (words[i] ?? '').replace(/^--/, '');
  if (name in options) options[name as keyof typeof options] = Number(words[i + 1]);
}
const begun = Date.now();
const kinds = new Map<string, number>();
let failures = 0;
for (let seed = options.from; seed < options.from + options.seeds; seed++) {
  const history = await playHistory(seed);
  if (!history.violation) continue;
  const { kind, message } = history.violation;
  kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  console.log(`seed ${seed}: ${kind}: ${message}`);
  if (options.trace) {
    const short = options.shrink ? await shrink(seed, history) : history;
    const told = options.trace > 1 ? await playHistory(seed, { tape: short.tape, isVerbose: true }) : short;
    console.log(told.trace.join('\n'));
    console.log(short.violation);
  }
  if (++failures >= options.stop) break;
}
console.log(`${failures} failures`, kinds, `${Date.now() - begun} ms`);
