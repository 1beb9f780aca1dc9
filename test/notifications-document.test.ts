import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { ExecutionId, RunId, ScheduleId, SessionId } from '../src/base/ids.ts';
import { configFile } from '../src/contract/config-file.ts';
import { transitions } from '../src/ledger/notification.ts';
import { cloudEventOf } from '../src/notify/cloud-event.ts';
import { notification } from '../src/store/conformance/rows.ts';

const text = readFileSync(join(import.meta.dirname, '../docs/notifications.md'), 'utf8');

function block(language: string): string {
  const found = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(text)?.[1];
  if (found === undefined) throw new Error(`no block of ${language}`);
  return found;
}

it('the configuration that the document shows is one', () => {
  const read = configFile.parse(parse(block('yml')));
  expect(Object.keys(read.notify ?? {})).toEqual(['ops', 'me', 'phone', 'team', 'local']);
  expect(read.notifyAlways).toEqual(['me']);
});

it('the event that the document shows is what is sent', () => {
  const shown = JSON.parse(block('json')) as ReturnType<typeof cloudEventOf>;
  const { data } = shown as { data: Record<string, string> };
  const row = notification(1, {
    id: shown.id,
    transition: 'failed',
    subject: shown.subject,
    at: Date.parse(shown.time),
    project: 'shop',
    name: 'nightly',
    code: 'TIMED_OUT',
    text: data['text'] ?? null,
    rootId: data['executionId'] as ExecutionId,
    sessionId: data['sessionId'] as SessionId,
    runId: data['runId'] as RunId,
    scheduleId: data['scheduleId'] as ScheduleId,
  });
  const message = { id: row.id, target: 'ops', notifications: [row] };
  expect(cloudEventOf(message, { pageUrl: shown.source })).toEqual(shown);
});

it('the document has every transition', () => {
  for (const transition of transitions.filter((each) => each !== 'test'))
    expect(text).toContain(`\`${transition}\``);
});
