import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import type { Finding } from '../finding.ts';
import { findingsOf } from '../findings.ts';
import type { Tone } from '../../words/line.ts';
import { span } from '../../words/line.ts';
import { plainLine, wrap } from '../../words/text.ts';
import { type Options, type Registrar, textOf } from '../verb.ts';

/** `stemma doctor`: whether what Stemma needs is there, and what to do where it is not. */
export function addDoctorVerb({ program, verb }: Registrar): void {
  program
    .command('doctor')
    .description(
      'look at Node, the data directory, the disk, the server, tmux, the configuration and the agents',
    )
    .option('--config <file>', 'the configuration file (else STEMMA_CONFIG, else ./stemma.yaml)')
    .action(verb(doctor));
}

const tones: Readonly<Record<Finding['state'], Tone>> = { ok: 'good', warn: 'warn', fail: 'bad' };

async function doctor(context: CliContext, _args: readonly unknown[], options: Options): Promise<number> {
  const items = await findingsOf(context, textOf(options['config']) ?? context.deps.env['STEMMA_CONFIG']);
  const isWell = items.every(({ state }) => state !== 'fail');
  if (context.isJson) context.document({ isWell, items });
  else {
    const { columns } = context.style();
    for (const { what, state, seen, advice } of items) {
      const text = wrap(`${what}: ${plainLine(seen)}`, columns - 6);
      context.lines(
        text.map((line, i) => [span((i === 0 ? state : '').padEnd(6), tones[state]), span(line)]),
      );
      if (advice !== undefined) context.lines([[span(`      -> ${plainLine(advice)}`, 'live')]]);
    }
  }
  return isWell ? exitCodes.ok : exitCodes.configuration;
}
