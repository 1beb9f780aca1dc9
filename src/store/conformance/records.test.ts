import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { Opened } from './adapters.ts';
import { adapters } from './adapters.ts';
import { deciding, id, session, start } from './rows.ts';

describe.each(adapters)('records on $name', ({ open }) => {
  let opened: Opened;
  beforeEach(async () => {
    opened = await open(new VirtualClock(start));
    await opened.store.decide(deciding([{ do: 'insertSession', row: session(1) }]));
  });
  afterEach(() => opened.end());

  it('keeps the place of a request, and its answer', async () => {
    const { records } = opened.store;
    const place = { token: 't', route: 'POST /query', key: 'k' };
    const request = { ...place, bodyHash: 'h', rootId: id.execution(1), at: start };
    const [first, second] = await Promise.all([
      records.reserve(request),
      records.reserve({ ...request, bodyHash: 'other', rootId: null, at: start + 1 }),
    ]);
    expect(first).toEqual({ ...request, answer: null, isNew: true });
    expect(second).toEqual({ ...request, answer: null, isNew: false });
    await records.keepAnswer(place, '{"a":1}');
    await records.keepAnswer({ ...place, key: 'unknown' }, 'x');
    expect(await records.reserve(request)).toMatchObject({ answer: '{"a":1}', isNew: false });
    expect(await records.reserve({ ...request, token: 'u' })).toMatchObject({ answer: null, isNew: true });
  });

  it('keeps named tokens, one valid one a name', async () => {
    const { records } = opened.store;
    const token = { hash: 'h1', name: 'admin', scope: 'admin', createdAt: start, revokedAt: null } as const;
    await records.putToken(token);
    await expect(records.putToken({ ...token, hash: 'h2' })).rejects.toThrow();
    expect(await records.tokenByHash('h1')).toEqual(token);
    expect(await records.tokenByHash('h2')).toBeUndefined();
    expect(await records.revokeToken('admin', start + 1)).toBe(true);
    expect(await records.revokeToken('admin', start + 2)).toBe(false);
    await records.putToken({ ...token, hash: 'h2', createdAt: start + 3 });
    expect((await records.tokens()).map(({ hash, revokedAt }) => [hash, revokedAt])).toEqual([
      ['h1', start + 1],
      ['h2', null],
    ]);
  });

  it('appends a transcript once, however often the stream is replayed', async () => {
    const { records } = opened.store;
    const item = (sequence: number, text: string) => ({
      sessionId: id.session(1),
      sequence,
      turnId: null,
      kind: 'text',
      text,
      at: start,
    });
    await records.appendTranscript([item(1, 'a\u0000'), item(2, 'b')]);
    await records.appendTranscript([item(2, 'again'), item(3, 'c')]);
    expect((await records.transcript(id.session(1), 0, 10)).map((each) => each.text)).toEqual([
      'a\u0000',
      'b',
      'c',
    ]);
    expect(await records.transcript(id.session(1), 1, 1)).toEqual([item(2, 'b')]);
    await expect(records.appendTranscript([{ ...item(4, 'd'), sessionId: id.session(9) }])).rejects.toThrow();
    expect(await records.transcript(id.session(9), 0, 10)).toEqual([]);
    const before = async (sequence: number, limit: number) =>
      (await records.transcriptBefore(id.session(1), sequence, limit)).map((each) => each.sequence);
    expect(await before(Number.MAX_SAFE_INTEGER, 2)).toEqual([2, 3]);
    expect(await before(2, 2)).toEqual([1]);
    expect(await before(1, 2)).toEqual([]);
  });

  it('keeps settings by name', async () => {
    const { records } = opened.store;
    expect(await records.readMeta('x')).toBeUndefined();
    await records.writeMeta('x', '1');
    await records.writeMeta('x', '2');
    expect(await records.readMeta('x')).toBe('2');
  });
});
