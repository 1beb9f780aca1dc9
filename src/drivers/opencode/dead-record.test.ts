import { describe, expect, it } from 'vitest';
import { readOne } from './corpus-harness.ts';
import { fateIn } from './dead-record.ts';
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
