import { expect, it } from 'vitest';
import { readControlLine, unescaped } from './control-lines.ts';

it('reads what tmux tells a client in control mode', () => {
  expect(readControlLine('%begin 1796053076 264 1')).toEqual({
    type: 'begin',
    number: '1796053076 264',
    isOurs: true,
  });
  expect(readControlLine('%end 1796053076 264 0')).toMatchObject({ type: 'end', isOk: true });
  expect(readControlLine('%error 1796053077 279 1')).toMatchObject({ type: 'end', isOk: false });
  expect(readControlLine('%pause %0')).toEqual({ type: 'paused', pane: '%0' });
  expect(readControlLine('%layout-change @0 fedd,50x9,0,0,0 fedd,50x9,0,0,0 *').type).toBe('resized');
  expect(readControlLine('%sessions-changed').type).toBe('other');
});

it('reads what a program has written, in both forms, byte by byte', () => {
  const bytes = Buffer.from('zé\r\n');
  const line = 'z\u00c3\u00a9\\015\\012';
  expect(readControlLine(`%output %0 ${line}`)).toEqual({ type: 'output', bytes });
  expect(readControlLine(`%extended-output %0 0 : ${line}`)).toEqual({ type: 'output', bytes });
  expect(unescaped('a\\134b : c').toString()).toBe('a\\b : c');
});
