import { StemmaError } from '../base/errors.ts';
import { plainLine } from '../words/text.ts';

/**
 * The inputs that were given as `name=value`; undefined when there are none. A value stays a text: the server knows of
 * which type each input is. Throws `INVALID_INPUT` for what is no pair, and for a name that is given twice.
 */
export function inputsOf(given: unknown): Record<string, string> | undefined {
  if (!Array.isArray(given) || given.length === 0) return undefined;
  const inputs = new Map<string, string>();
  for (const pair of given.map(String)) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at);
    if (at < 1) throw invalid(`--input "${plainLine(pair)}" is no name=value.`);
    if (inputs.has(name)) throw invalid(`--input gives "${plainLine(name)}" twice.`);
    inputs.set(name, pair.slice(at + 1));
  }
  return Object.fromEntries(inputs);
}

function invalid(message: string): StemmaError {
  return new StemmaError('INVALID_INPUT', message, { field: 'input' });
}
