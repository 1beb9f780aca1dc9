import { aboutRun } from './reviewed.ts';
import type { AdvanceText, MessagePlace, MessageTexts, TextSources } from './ports.ts';
import type { LedgerStore } from '../ledger/store.ts';
import { placeOf, plannedAt } from '../ledger/plan.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { Run, Session } from '../ledger/session.ts';
import { renderTemplate } from '../schedules/templates.ts';
import { fillText } from '../workflows/texts.ts';
import { valuesOf } from './step-texts.ts';

/** Fills in the templates of messages with what the ledger knows, and with what `sources` can read. */
export function messageTexts(store: LedgerStore, sources: TextSources): MessageTexts {
  return {
    async fill({ run, index, text }: MessagePlace): Promise<AdvanceText> {
      const of = run.plan[index]?.of;
      if (of !== undefined) return aboutRun(store, text, of, (id) => sources.recordOf(id));
      const known = await store.read(() => knownFor(run, index));
      if (known.graph) {
        const values = valuesOf(store, sources, known.graph);
        const { row, previousResult = null, session } = known;
        const own = { previousResult, ...(row === undefined ? {} : { row }) };
        const readFile = (path: string) =>
          sources.readFile(session?.cwd ?? known.graph?.settings.cwd ?? '', path);
        return fillText(text, { ...values, ...own, readFile });
      }
      const { agent, cwd } = whereFrom(known.session, run, index);
      const isFromFile = known.schedule?.origin === 'file';
      return renderTemplate(text, {
        scheduledFor: run.instant ?? run.createdAt,
        zone: known.schedule?.definition.timezone ?? 'UTC',
        previousResult: known.previousResult ?? null,
        env: (name) => sources.variable(name, agent, isFromFile),
        readFile: (path) => sources.readFile(cwd, path),
      });
    },
  };
}

/** Whose variables and which directory a text may read: those of its session, or of its workflow. */
function whereFrom(session: Session | undefined, run: Run, index: number): Pick<Session, 'agent' | 'cwd'> {
  if (session) return session;
  const settings = plannedAt(run, index)?.workflow?.graph.settings;
  return { agent: settings?.agent ?? '', cwd: settings?.cwd ?? '' };
}

function* knownFor(run: Run, index: number) {
  const { sessionId, scheduleId } = run;
  const session = sessionId === null ? undefined : yield* ask('session', sessionId);
  const schedule = scheduleId === null ? undefined : yield* ask('schedule', scheduleId);
  const previousResult = index > 0 ? yield* resultOf(run, index - 1) : yield* resultOfLastRun(run);
  const step = run.ownerId === null ? undefined : yield* ask('graphOfStep', run.ownerId);
  const graph = step && (yield* ask('graph', step.graphId));
  const place = placeOf(run, index);
  const row = place.row === null ? undefined : yield* ask('runRow', run.id, place.row);
  return { session, schedule, previousResult, graph, row };
}

/** What the agent said last because of a message: what it made of the results of what it had started goes before its first answer. */
function* resultOf(run: Run, index: number): Asking<string | undefined> {
  const latest = yield* ask('latestOfRun', run.id, index);
  if (latest && run.sessionId !== null) return yield* ask('lastAnswer', run.sessionId, latest.rootId);
  return latest?.result ?? undefined;
}

function* resultOfLastRun({ scheduleId }: Run): Asking<string | undefined> {
  const before = scheduleId === null ? undefined : yield* ask('lastRunOf', scheduleId);
  return before && (yield* resultOf(before, before.cursor - 1));
}
