import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { identityOf } from '../../processes/process-identity.ts';
import { readOne } from './corpus-harness.ts';
import { fateIn, readDeadRecord } from './dead-record.ts';
import { messageIdOf } from './state.ts';

describe('a text in the record of a dead process', () => {
  it('is answered when a request carried it, as the newest text or before it', () => {
    const { record } = readOne('steer-in-tool');
    expect(fateIn(record, messageIdOf('steer-in-tool-1'))).toBe('answered');
    expect(fateIn(record, messageIdOf('steer-in-tool-2'))).toBe('answered');
  });

  it('is left when the turn was broken off before, and is not there when it never came', () => {
    const { record } = readOne('interrupted-steer');
    expect(fateIn(record, messageIdOf('interrupted-steer-1'))).toBe('answered');
    expect(fateIn(record, messageIdOf('interrupted-steer-2'))).toBe('left');
    expect(fateIn(record, messageIdOf('another'))).toBe('none');
  });
});

describe('reading the record of a dead process', () => {
  it('is over at its deadline, and so is a program that ignores every wish to end', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stemma-opencode-dead-'));
    try {
      const program = join(directory, 'opencode');
      const script = `#!/bin/sh\ntrap '' TERM\necho $$ > pid.new\nmv pid.new pid\nwhile :; do sleep 0.1; done\n`;
      writeFileSync(program, script);
      chmodSync(program, 0o755);
      const clock = new VirtualClock();
      const profile = { name: 'opencode', driver: 'opencode', command: [program] };
      const reading = readDeadRecord({ profile, cwd: directory }, 'ses_1', clock);
      const pid = await vi.waitFor(() => Number(readFileSync(join(directory, 'pid'), 'utf8')), 10_000);
      expect(identityOf(pid)).toBeDefined();
      clock.advance(30_000);
      expect(await reading).toBeUndefined();
      await vi.waitFor(() => expect(identityOf(pid)).toBeUndefined(), 10_000);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
