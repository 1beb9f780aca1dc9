import { describe, expect, test } from 'vitest';
import { type CrontabProposal, proposeFromCrontab } from './propose.ts';

const options = { timezone: 'Europe/Berlin', home: '/home/ann', isSystem: false };

function propose(text: string, more: Partial<typeof options> = {}): CrontabProposal {
  return proposeFromCrontab(text, { ...options, ...more });
}

/** The proposal behind the heading, which is the same for all. */
function body(text: string, more: Partial<typeof options> = {}): string {
  return propose(text, more).yaml.replace(/^(?:#.*\n)+\n/, '');
}

describe('a proposal for a crontab', () => {
  test('has a schedule for each line, with its comment, its zone and its variables', () => {
    const text = [
      '# Edit this file to introduce tasks to be run by cron.',
      '#',
      '# m h  dom mon dow   command',
      'PATH=/usr/local/bin:/usr/bin',
      '',
      '# nightly backup',
      '30 2 * * 1-5  /usr/local/bin/backup.sh --full >/dev/null 2>&1',
      'CRON_TZ = America/New_York',
      '@daily cd /srv/shop && make report',
    ].join('\n');
    expect(body(text)).toBe(`agents:
  cron:
    driver: script
    command: ["/bin/sh"]
    workspace: shared # as cron: commands in one directory do not wait for each other
    env:
      PATH: "/usr/local/bin:/usr/bin"

schedules:
  # nightly backup
  backup: # line 7
    cron: "30 2 * * 1-5" # At 02:30, Monday through Friday (Europe/Berlin)
    timezone: Europe/Berlin
    agent: cron
    cwd: /home/ann
    messages:
      - "/usr/local/bin/backup.sh --full >/dev/null 2>&1"

  make: # line 9
    cron: "@daily" # At 00:00 (America/New_York)
    timezone: America/New_York
    agent: cron
    cwd: /home/ann
    messages:
      - "cd /srv/shop && make report"
`);
  });

  test('has a profile for each shell and each set of variables, which hold from their line on', () => {
    const text = `* * * * * one
SHELL=/bin/bash
TZ=Asia/Tokyo
API_TOKEN="x y"
* * * * * two
HOME=/srv
* * * * * three`;
    expect(body(text)).toContain(`  cron-2:
    driver: script
    command: ["/bin/bash"]
    workspace: shared # as cron: commands in one directory do not wait for each other
    env:
      TZ: "Asia/Tokyo"
      API_TOKEN: "x y" # better under "secrets", by reference
`);
    expect(body(text).match(/^ {4}(?:agent|cwd|timezone): .*/gm)).toEqual([
      '    timezone: Europe/Berlin',
      '    agent: cron',
      '    cwd: /home/ann',
      '    timezone: Europe/Berlin',
      '    agent: cron-2',
      '    cwd: /home/ann',
      '    timezone: Europe/Berlin',
      '    agent: cron-2',
      '    cwd: /srv',
    ]);
  });

  test('gives the text behind a percent sign to the standard input of the command', () => {
    expect(body('0 5 * * * date +\\%F; mail ann%Hello%%END')).toContain(`      - |-
          { date +%F; mail ann
          } << 'END_'
          Hello

          END
          END_
`);
  });

  test('leaves braces to the command', () => {
    expect(body("0 5 * * * docker ps --format '{{.Names}}'")).toContain(
      String.raw`- "docker ps --format '\\{{.Names}}'"`,
    );
  });

  test('names each schedule by what it runs, and none twice', () => {
    const text = `0 1 * * * /usr/bin/python3 -u /opt/jobs/clean_up.py
0 2 * * * FOO=1 nice -n 10 /opt/jobs/clean_up.py
0 3 * * * [ -x /opt/x ] && /opt/x
0 4 * * * cd /a; cd /b && ./deploy;true
0 5 * * * true
0 6 * * * /opt/prüfung`;
    expect(propose(text).schedules).toEqual(['clean_up', 'clean_up-2', 'job', 'deploy', 'true', 'prüfung']);
    expect(body(text)).toContain('  "true": # line 5\n');
  });

  test('tells of every line that it cannot carry, where it stands and why', () => {
    const text = `MAILTO=ops@example.org
@reboot /opt/start
0 25 * * * /opt/never
nonsense
0 5 * * *
CRON_TZ=Europe/Berln
0 5 * * * /opt/where`;
    expect(propose(text).left.map(({ line, why }) => `${line}: ${why}`)).toEqual([
      '1: output is kept with each run; whom to tell of failures is said by "notify"',
      '2: @reboot names no time; start it with the machine',
      '3: hour: "25" is not from 0 to 23; midnight is 0.',
      '4: it is no comment, no setting and no time with a command',
      '5: it has no command',
      '7: timezone: "Europe/Berln" is no time zone; did you mean Europe/Berlin?',
    ]);
    expect(body(text)).toBe(`# Not carried:
# line 1: MAILTO=ops@example.org
  # output is kept with each run; whom to tell of failures is said by "notify"
# line 2: @reboot /opt/start
  # @reboot names no time; start it with the machine
# line 3: 0 25 * * * /opt/never
  # hour: "25" is not from 0 to 23; midnight is 0.
# line 4: nonsense
  # it is no comment, no setting and no time with a command
# line 5: 0 5 * * *
  # it has no command
# line 7: 0 5 * * * /opt/where
  # timezone: "Europe/Berln" is no time zone; did you mean Europe/Berlin?
`);
  });

  test('of a system crontab leaves the user out of the command, and says so', () => {
    const text = '17 * * * *\troot    cd / && run-parts --report /etc/cron.hourly\n5 0 * * * root\n';
    const proposal = propose(text, { isSystem: true });
    expect(proposal.yaml).toContain(
      '# ran as root; here it runs as the user of the server\n  run-parts: # line 1\n',
    );
    expect(proposal.yaml).toContain('- "cd / && run-parts --report /etc/cron.hourly"\n');
    expect(proposal.left).toEqual([
      { line: 2, text: '5 0 * * * root', why: 'it names no user, or no command' },
    ]);
  });

  test.each(['', '\n# only words\n\n', '\uFEFF'])('is empty where there is nothing: %j', (text) => {
    expect(propose(text)).toEqual({ yaml: '', schedules: [], left: [] });
  });
});
