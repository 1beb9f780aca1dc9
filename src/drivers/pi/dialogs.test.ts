import { describe, expect, it } from 'vitest';
import { Dialogs } from './dialogs.ts';
import type { Question } from './wire.ts';

interface Told {
  readonly said: string[];
  readonly dialogs: Dialogs;
  /** The turn that runs and waits for no limit. */
  running: string | undefined;
}

function talk(replied: readonly string[] = []): Told {
  const said: string[] = [];
  const told: Told = {
    said,
    running: 'turn',
    dialogs: new Dialogs({
      policy: 'ask',
      onAsk: ({ questionId }) => void said.push(`ask ${questionId}`),
      onSettled: () => void said.push('settled'),
      wasReplied: (id) => replied.includes(id),
      mayTell: (turnId) => turnId === told.running,
      reply: (id) => void said.push(`reply ${id}`),
    }),
  };
  return told;
}

const question = (id: string): Question => ({
  id,
  method: 'confirm',
  title: `May I ${id}?`,
  message: '',
  options: [],
});

describe('the dialogs of extensions', () => {
  it('asks the others again when one of several was answered', () => {
    const { dialogs, said } = talk();
    dialogs.goLive();
    dialogs.take(question('a'), 'turn');
    dialogs.take(question('b'), 'turn');
    expect(dialogs.answer('b', 'yes')).toBe(true);
    expect(said).toEqual(['ask a', 'ask b', 'reply b', 'settled', 'ask a']);
    expect(dialogs.answer('a', 'no')).toBe(true);
    expect(said.slice(5)).toEqual(['reply a', 'settled']);
  });

  it('asks nobody about the others when all are dismissed', () => {
    const { dialogs, said } = talk();
    dialogs.goLive();
    dialogs.take(question('a'), 'turn');
    dialogs.take(question('b'), 'turn');
    dialogs.dismissAll();
    expect(said.slice(2)).toEqual(['reply a', 'settled', 'reply b', 'settled']);
  });

  it('tells an adopter what was answered in the turn that runs, and asks what is open', () => {
    const { dialogs, said } = talk(['b']);
    dialogs.take(question('a'), 'turn');
    dialogs.take(question('b'), 'turn');
    expect(said).toEqual([]);
    dialogs.goLive();
    expect(said).toEqual(['settled', 'ask a']);
  });

  it('tells of no going on while a limit is waited for, whatever is asked and answered meanwhile', () => {
    const told = talk();
    told.dialogs.goLive();
    told.dialogs.take(question('a'), 'turn');
    told.running = undefined;
    expect(told.dialogs.answer('a', 'yes')).toBe(true);
    told.dialogs.take(question('b'), 'turn');
    expect(told.said).toEqual(['ask a', 'reply a']);
    told.running = 'turn';
    told.dialogs.askAgain();
    expect(told.said.slice(2)).toEqual(['ask b']);
  });

  it('says nothing of a question that was answered in a turn long over', () => {
    const { dialogs, said } = talk(['a']);
    dialogs.take(question('a'), 'earlier');
    dialogs.forget('earlier');
    dialogs.goLive();
    expect(said).toEqual([]);
  });

  it('says nothing while a limit is waited for, and asks when that is over', () => {
    const told = talk(['a']);
    told.running = undefined;
    told.dialogs.take(question('a'), 'turn');
    told.dialogs.take(question('b'), 'turn');
    told.dialogs.goLive();
    expect(told.said).toEqual([]);
    told.running = 'turn';
    told.dialogs.askAgain();
    expect(told.said).toEqual(['ask b']);
  });
});
