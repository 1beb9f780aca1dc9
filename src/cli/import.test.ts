import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench } from '../../test/cli/bench.ts';
import { configFile } from '../contract/config-file.ts';
import { proposeFromCrontab } from '../schedules/crontab/propose.ts';
import { readCrontab } from '../schedules/crontab/read.ts';
import { configMistakes } from './config-file.ts';
import { parseYaml } from './yaml-file.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
});
afterEach(() => bench.close());

const crontab = '# report\n0 9 * * mon /opt/report --all\n@reboot /opt/start\n';

describe('stemma import crontab', () => {
  it('prints a part of stemma.yaml, and says on stderr what it could not carry; it needs no server', async () => {
    writeFileSync(join(bench.directory, 'tab'), crontab);
    const { code, out, err } = await bench.stemma('import', 'crontab', 'tab', '--timezone', 'Asia/Tokyo');
    expect({ code, err }).toEqual({
      code: 0,
      err: '1 schedule is proposed; 1 line was not carried.\n  line 3: @reboot names no time; start it with the machine\n',
    });
    expect(configMistakes(out, 'stemma.yaml')).toBeUndefined();
    expect(out).toContain('cron: "0 9 * * mon" # At 09:00, only on Monday (Asia/Tokyo)');
  });

  it('reads standard input, and with --json prints the same as one document', async () => {
    const { result } = bench.command(['import', 'crontab', '-', '--json'], {
      readStdin: async () => crontab,
    });
    const { code, out } = await result;
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ schedules: ['report'], left: [{ line: 3 }] });
  });

  it.each([
    [['nowhere'], 'nowhere cannot be read: there is no such file.'],
    [['-', '--timezone', 'Tokio'], 'timezone: "Tokio" is no time zone; did you mean Asia/Tokyo?'],
  ])('%j is refused with what to do', async (args, says) => {
    const { result } = bench.command(['import', 'crontab', ...args], { readStdin: async () => crontab });
    const { code, out, err } = await result;
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(says);
  });

  it('proposes what the configuration takes, whatever a crontab holds, and each command as it was', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 30 }).map((line) => line.replace(/[\r\n]/g, '\0'));
    const line = fc.oneof(
      text.map((command) => `5 4 * * * x${command}`),
      text.map((words) => `# ${words}`),
      fc
        .tuple(fc.constantFrom('A', 'SHELL', 'HOME', 'on', 'MAILTO', '"a b"'), text)
        .map((parts) => parts.join('=')),
      text,
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        const { yaml, schedules } = proposeFromCrontab(lines.join('\n'), {
          timezone: 'UTC',
          home: '/home/ann',
          isSystem: false,
        });
        const parsed = parseYaml(yaml, 'stemma.yaml', configFile, {});
        expect(parsed.ok ? Object.keys(parsed.value.schedules ?? {}) : parsed.problems).toEqual(schedules);
        const messages = parsed.ok
          ? Object.values(parsed.value.schedules ?? {}).flatMap(({ messages: said = [] }) => said)
          : [];
        const { entries } = readCrontab(lines.join('\n'), false);
        for (const { command, input, when } of entries) {
          if (input !== null || when !== '5 4 * * *') continue;
          expect(messages.map(({ text: sent }) => sent.replaceAll('\\{{', '{{'))).toContain(command);
        }
      }),
      { numRuns: 150 },
    );
  });
});
