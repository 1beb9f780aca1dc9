import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SseMessage, SseParser } from './sse-parser.ts';

function parse(...chunks: string[]): SseMessage[] {
  const parser = new SseParser();
  return chunks.flatMap((chunk) => parser.push(chunk));
}

describe('the event stream parser', () => {
  it('reads fields, joins data lines and drops comments', () => {
    expect(parse(': hello\nid: 7\nevent: x\ndata: a\ndata:b\ndata:  c\n\n')).toEqual([
      { event: 'x', data: 'a\nb\n c', lastEventId: '7' },
    ]);
  });

  it('keeps the id over messages without one, also from a message without data', () => {
    expect(parse('id: 1\n\ndata: a\n\n')).toEqual([{ event: 'message', data: 'a', lastEventId: '1' }]);
  });

  it('drops a message that the stream cut off', () => {
    expect(parse('data: a\n\ndata: b\n')).toHaveLength(1);
  });

  it('does not take an id with NUL, and resumes with the id it was given', () => {
    const parser = new SseParser('41');
    expect(parser.push('id: 4\0' + '2\ndata: a\n\n')[0]?.lastEventId).toBe('41');
  });

  it('resumes behind what was dispatched, not behind what was cut off', () => {
    const parser = new SseParser();
    parser.push('id: 1\ndata: a\n\nid: 2\n\nid: 3\ndata: c\n');
    expect(parser.lastEventId).toBe('2');
  });

  it('takes the pause that the server asks for, and no nonsense', () => {
    const parser = new SseParser();
    parser.push('retry: 250\n\n');
    parser.push('retry: soon\n\n');
    expect(parser.retryMs).toBe(250);
  });

  it('gives the same messages however the bytes are cut, with every kind of line end', () => {
    const end = fc.constantFrom('\n', '\r', '\r\n');
    fc.assert(
      fc.property(end, fc.array(fc.nat(60), { maxLength: 6 }), (lineEnd, cuts) => {
        const text = `\ufeffid: 1${lineEnd}event: tick${lineEnd}data: one${lineEnd}data: two${lineEnd}${lineEnd}data: three${lineEnd}${lineEnd}:${lineEnd}`;
        const places = [
          0,
          ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b),
          text.length,
        ];
        const chunks = places.slice(1).map((place, index) => text.slice(places[index], place));
        expect(parse(...chunks)).toEqual([
          { event: 'tick', data: 'one\ntwo', lastEventId: '1' },
          { event: 'message', data: 'three', lastEventId: '1' },
        ]);
      }),
    );
  });
});
