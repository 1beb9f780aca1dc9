import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTicket } from '../processes/recorded-launch.ts';
import { launchScript } from './launch-script.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-launch-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('the script that becomes the program of a terminal', () => {
  it('hands words and environment over as they are, leaves its record, and is gone', async () => {
    const odd = `a 'quoted' "word"\nwith $HOME, \`echo no\` and \\ an end`;
    const cwd = join(directory, "somebody's work");
    mkdirSync(cwd);
    const program = `const {env, argv} = process; console.log(JSON.stringify([argv[1], env.ODD, env.TMUX ?? null, process.cwd(), process.pid]))`;
    const script = join(directory, 'launch.sh');
    const command = [process.execPath, '-e', program, '--', odd];
    const ticket = await makeTicket(directory);
    writeFileSync(script, launchScript({ directory, ticket, command, cwd, env: { ODD: odd } }));
    const env = { PATH: process.env['PATH'], TMUX: '/a/server,1,0' };
    const printed = execFileSync('/bin/sh', [script], { env, encoding: 'utf8' });
    const [word, variable, tmux, where, pid] = JSON.parse(printed) as unknown[];
    expect([word, variable, tmux, where]).toEqual([odd, odd, null, cwd]);
    expect(JSON.parse(readFileSync(join(directory, 'process.json'), 'utf8'))).toMatchObject({ pid });
    expect(existsSync(script)).toBe(false);
  });

  it('runs nothing when its right was taken back', async () => {
    const ticket = await makeTicket(directory);
    rmSync(ticket, { recursive: true });
    const script = join(directory, 'launch.sh');
    const command = ['/bin/sh', '-c', `echo ran >${directory}/ran`];
    writeFileSync(script, launchScript({ directory, ticket, command, cwd: directory, env: {} }));
    expect(() => execFileSync('/bin/sh', [script], { stdio: 'ignore' })).toThrow();
    expect(existsSync(join(directory, 'ran'))).toBe(false);
  });
});
