import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decideFates } from './fates.ts';
import { hashOf, SentLog } from './sent-log.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pi-fates-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** The file of a conversation in which a person said this. */
function keep(name: string, ...texts: readonly string[]): string {
  const file = join(root, name);
  const said = texts.map((content) => ({ type: 'message', message: { role: 'user', content } }));
  const lines = [{ type: 'session', id: name, cwd: root }, ...said];
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
}

/** A process that had these texts and died; of those in `consumed` it is known that they were taken up. */
function live(log: SentLog, file: string, ids: readonly string[], consumed: readonly string[] = []): void {
  log.append({ t: 'process', base: 0 });
  log.append({ t: 'session', file });
  for (const id of ids) {
    log.append({ t: 'text', id, kind: 'prompt', at: 0, hash: hashOf('go on') });
    log.append({ t: 'wrote', id, outcome: 'written' });
    if (consumed.includes(id)) log.append({ t: 'fate', id, fate: 'consumed' });
  }
}

function decided(file: string, ...ids: readonly string[]): unknown[] {
  // Read again, as whoever comes after a death does.
  const log = new SentLog(root);
  log.append({ t: 'process', base: 1 });
  decideFates(log, file);
  return ids.map((id) => log.fates.get(id));
}

describe('the fate of texts that a dead process had', () => {
  it('is not guessed from an earlier text of the same words', () => {
    const file = keep('a', 'go on');
    live(new SentLog(root), file, ['first', 'second'], ['first']);
    expect(decided(file, 'second')).toEqual(['absent']);
  });

  it('is that it was taken up when the words are there once more', () => {
    const file = keep('a', 'go on', 'other', 'go on');
    live(new SentLog(root), file, ['first', 'second', 'third'], ['first']);
    expect(decided(file, 'second', 'third')).toEqual(['consumed', 'absent']);
  });

  it('does not count what was said in another conversation', () => {
    const [old, file] = [keep('a', 'go on'), keep('b', 'go on')];
    const log = new SentLog(root);
    live(log, old, ['first'], ['first']);
    live(log, file, ['second']);
    expect(decided(file, 'second')).toEqual(['consumed']);
  });
});
