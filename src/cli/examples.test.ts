import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { configMistakes, loadConfigFile } from './config-file.ts';
import { loadRunFile } from './run-file.ts';
import { demoMessages } from './verbs/demo.ts';
import { initFiles } from './verbs/init.ts';

const directory = fileURLToPath(new URL('../../examples/', import.meta.url));
const files = readdirSync(directory).filter((name) => name.endsWith('.yaml'));

describe('the examples', () => {
  it('contain what init writes', () => {
    expect(files).toEqual(expect.arrayContaining([...initFiles]));
  });

  it.each(files.filter((name) => name.startsWith('run')))('%s is a valid run file', async (name) => {
    expect((await loadRunFile(`${directory}${name}`, '/somewhere')).messages.length).toBeGreaterThan(0);
  });

  it('stemma.yaml is valid, also with every comment taken away', async () => {
    const file = `${directory}stemma.yaml`;
    // What init writes names no program: it would be missing on most machines.
    expect((await loadConfigFile(file)).agents).toBeUndefined();
    const open = readFileSync(file, 'utf8')
      .replace(
        /^# (agents:|server:|notify:|notifyAlways:|project:|schedules:|workflows:|reviews:| {2})/gm,
        '$1',
      )
      .replace(/^ {4}# /gm, '    ')
      .replace(/^ {2}# per/gm, '  per');
    expect(configMistakes(open, 'open.yaml')).toBeUndefined();
    expect(open).toContain('\n  publicUrl: ');
    expect(open).toContain('\n  perAgent: 2\n');
    expect(open).toMatch(/^notify:\n {2}desk:\n/m);
    expect(open).toMatch(/^schedules:\n {2}nightly:\n[^]*^ {4}onlyIf: /m);
    expect(open).toMatch(/^agents:\n {2}codex:\n[^]*^ {4}model: [^]*^ {2}gemini:\n/m);
  });

  it('have, in the run file and in the demo, the messages that the demo script knows', async () => {
    const script = JSON.parse(readFileSync(`${directory}demo/background-work.json`, 'utf8')) as {
      rules: { when: string }[];
    };
    const known = (text: string): boolean =>
      script.rules.some(({ when }) => new RegExp(when, 'm').test(text));
    const { messages } = await loadRunFile(`${directory}run.yaml`, '/somewhere');
    expect([...demoMessages, ...messages.map(({ text }) => text)].filter((text) => !known(text))).toEqual([]);
  });
});
