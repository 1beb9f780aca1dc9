import fc from 'fast-check';
import { it } from 'vitest';
import { Model } from './model.ts';
import { history } from './steps.ts';
it('stat', { timeout: 600000 }, async () => {
  const n: Record<string, number> = {};
  const add = (k: string, by = 1) => (n[k] = (n[k] ?? 0) + by);
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      const model = new Model();
      await model.begin();
      await fc.asyncModelRun(() => ({ model, real: model }), steps);
      add('runs');
      add('calls', model.trace.length - 2);
      for (const line of model.trace) add('call ' + line.split(' ')[1]);
      const s = model.state;
      add('executions', s.executions.size);
      for (const e of s.executions.values()) {
        add('kind ' + e.kind);
        add('state ' + e.state);
        if (e.closed) add('closed');
        if (e.outcomeCode) add('code ' + e.outcomeCode);
      }
      for (const e of s.notices.values()) {
        add('notice ' + e.state + ' ' + (e.reason ?? ''));
        if (e.attempt > 0) add('attempt ' + e.attempt);
      }
      for (const e of s.steers.values()) add('steer ' + e.state + (e.messageId ? ' msg' : ''));
      for (const e of s.turns.values()) add('turn ' + e.cause + ' ' + e.status);
      add('holds', s.snapshot.holds.length);
      for (const e of s.runs.values()) add('run ' + e.state + ' ' + e.cursor + ' ' + e.outcomeCode);
    }),
    { numRuns: 1000 },
  );
  console.log(
    Object.entries(n)
      .sort()
      .map(([k, v]) => `${k}: ${v}`)
      .join('\n'),
  );
});
