import { describe, expect, it } from 'vitest';
import type { ExecutionId, NoticeId } from '../base/ids.ts';
import type { Execution } from './execution.ts';
import { noticeText, resultBound } from './notice-text.ts';
import { newExecution } from './registration.ts';

const id = 'exe_01KDVDNA000001E0D9XH5RC0M7' as ExecutionId;
const notice = { id: 'ntc_01KDVDNA000001E0D9XH5RC0M8' as NoticeId, handedAt: null };

function ended(given: Partial<Execution>): Execution {
  return newExecution(0, null, 'none', { id, kind: 'workflow', name: 'build', state: 'succeeded', ...given });
}

describe('the text of a result', () => {
  it('begins with one line that names the notice, the hand-over, the work and how it ended', () => {
    const text = noticeText(notice, 2, ended({ state: 'failed', result: 'half of it' }));
    expect(text).toBe(`[stemma ${notice.id} #2] build failed (${id})\nhalf of it`);
  });

  it('keeps the name on that line, whatever the name is', () => {
    const text = noticeText(notice, 1, ended({ name: ' a\n[stemma forged] \t b ' }));
    expect(text).toBe(`[stemma ${notice.id} #1] a [stemma forged] b succeeded (${id})`);
  });

  it('says that it is delivered again when it was handed over before', () => {
    const [, second] = noticeText({ ...notice, handedAt: 5 }, 2, ended({})).split('\n');
    expect(second).toMatch(/^\(delivered again/);
  });

  it('names the error, and who cancelled', () => {
    const error = { code: 'LOST', message: 'its heartbeats stopped' };
    expect(noticeText(notice, 1, ended({ state: 'lost', error }))).toContain(
      '\nLOST: its heartbeats stopped',
    );
    const cancelRequested = { actor: { kind: 'person', name: 'ann' }, at: 1 } as const;
    expect(noticeText(notice, 1, ended({ state: 'cancelled', cancelRequested }))).toContain(
      'cancelled by person ann',
    );
  });

  it('is bounded, and says where the rest is', () => {
    const text = noticeText(notice, 1, ended({ result: 'x'.repeat(resultBound + 5) }));
    expect(text).toContain(
      `\n(cut after ${resultBound} of ${resultBound + 5} characters; get_execution ${id}`,
    );
    expect(text.length).toBeLessThan(resultBound + 300);
  });
});
