import type { CancelTimer } from '../base/clock.ts';
import type { StemmaClient } from '../client/stemma-client.ts';
import type { TreeView } from '../contract/execution.ts';
import type { Run } from '../contract/run.ts';
import type { CliContext } from './context.ts';
import { formatDuration } from '../words/durations.ts';
import { exitOfOutcome, Interrupted } from './exit.ts';
import { follow, type Snapshot, type Target } from './follow.ts';
import { span } from '../words/line.ts';
import { printLine } from './print-line.ts';
import { snapshotLines } from './run-lines.ts';
import { Screen } from './screen.ts';
import { plainLine } from '../words/text.ts';
import { changeLines, treeChanges } from './tree-changes.ts';
import type { TreeOptions } from '../words/tree-view.ts';

/** How a followed root or run ended. */
export interface End {
  readonly outcome?: Run['outcome'];
  readonly outcomeCode?: string | undefined;
  /** From its birth to its end; milliseconds. */
  readonly tookMs?: number;
  /** Whether it is a run of a workflow. */
  readonly isWorkflow?: boolean;
}

/** What to do when the user ends the view: `goesOn` says that the work does, and how to watch and cancel it. */
export interface LiveOptions {
  readonly signal: AbortSignal;
  readonly goesOn: boolean;
  /** What was known before: it is not told again, line by line. */
  readonly known?: Snapshot;
  /** Whether a terminal also shows what was answered. */
  readonly results?: boolean;
}

/**
 * Shows a root or a run until it has ended: in place on a terminal, as a log where there is none, as NDJSON with
 * `--json`. Resolves with how it ended. A signal restores the terminal and throws `Interrupted`.
 */
export async function showLive(
  context: CliContext,
  client: StemmaClient,
  target: Target,
  options: LiveOptions,
): Promise<End> {
  const view = viewFor(context, options);
  try {
    const last = await follow(client, target, options.signal, {
      onSnapshot: (snapshot) => view.show(snapshot),
      onGone: () => view.tellGone(),
    });
    view.close();
    return endOf(last);
  } catch (thrown) {
    view.close();
    if (thrown instanceof Interrupted && options.goesOn) sayGoesOn(context, target.id);
    throw thrown;
  }
}

/** Prints how it ended and answers the exit code for it. */
export function reportEnd(context: CliContext, target: Target, end: End): number {
  const { outcome, outcomeCode, tookMs } = end;
  const code = outcomeCode === undefined ? '' : ` (${plainLine(outcomeCode)})`;
  const after = tookMs === undefined ? '' : ` after ${formatDuration(tookMs)}`;
  if (context.isJson) context.document({ event: 'end', id: target.id, outcome, outcomeCode });
  else {
    const what = target.kind === 'run' ? 'run' : 'message';
    context.data(`${what} ${target.id}: ${outcome ?? 'ended'}${code}${after}`);
  }
  return exitOfOutcome(end);
}

/** Tells a person who stopped watching that the work did not stop. */
export function sayGoesOn(context: CliContext, id: string): void {
  context.talk('');
  context.talk('You no longer watch it; the work goes on.');
  context.talk(`  watch again:  stemma tree ${id} --follow`);
  context.talk(`  cancel it:    stemma cancel ${id}`);
}

/** Tells a person that the server is away, and that its being back will be noticed. */
export function sayGone(context: CliContext): void {
  context.talk(goneWords);
}

const goneWords = 'The server is gone; trying again (stemma up starts one).';

/** How a tree looks on stdout now. */
export function treeStyle(context: CliContext): Pick<TreeOptions, 'now' | 'signs'> & { columns: number } {
  return { now: context.deps.clock.now(), signs: context.signs, columns: context.style().columns };
}

interface View {
  show(snapshot: Snapshot): void;
  /** The server does not answer; the next `show` says that it is back. */
  tellGone(): void;
  close(): void;
}

function viewFor(context: CliContext, { results = false, known }: LiveOptions): View {
  if (context.isJson) return documentView(context, known);
  return context.deps.stdout.isTty && context.deps.env['TERM'] !== 'dumb'
    ? screenView(context, results)
    : logView(context, known);
}

function endOf({ run, trees }: Snapshot): End {
  const { outcome, outcomeCode } = run ?? trees[0] ?? {};
  // A run that goes on again may be days old: of a workflow its latest attempt is meant.
  const [began, ended] = run ? [run.workflow?.startedAt ?? run.createdAt, run.endedAt] : timesOf(trees[0]);
  return {
    ...(began === undefined || ended === undefined ? {} : { tookMs: Date.parse(ended) - Date.parse(began) }),
    ...(run?.workflow ? { isWorkflow: true } : {}),
    ...(outcome === undefined ? {} : { outcome }),
    ...(outcomeCode === undefined ? {} : { outcomeCode }),
  };
}

function timesOf(tree: TreeView | undefined): [string?, string?] {
  const root = tree?.executions.find(({ id }) => id === tree.root);
  return root?.closedAt === undefined ? [] : [root.createdAt, root.closedAt];
}

const tickMs = 1_000;

function screenView(context: CliContext, results: boolean): View {
  const { clock, stdout } = context.deps;
  const screen = new Screen(stdout);
  let latest: Snapshot | undefined;
  let isGone = false;
  let cancelTick: CancelTimer | undefined;
  const draw = (isLast = false): void => {
    if (!latest) return;
    // The line below the last one belongs to the cursor. At the end everything may scroll.
    const room = (stdout.size()?.rows ?? 24) - 1 - Number(isGone);
    const rows = isLast ? {} : { rows: Math.max(1, room) };
    const lines = snapshotLines(latest, { ...treeStyle(context), results, ...rows });
    if (isGone && !isLast) lines.push([span(goneWords, 'bad')]);
    const style = context.style();
    screen.draw(lines.map((line) => printLine(line, style)));
  };
  const tick = (): void => {
    draw();
    cancelTick = clock.after(tickMs, tick);
  };
  return {
    show(snapshot) {
      cancelTick?.();
      latest = snapshot;
      isGone = false;
      tick();
    },
    tellGone() {
      isGone = true;
      draw();
    },
    close() {
      cancelTick?.();
      screen.clear();
      draw(true);
      screen.close();
    },
  };
}

function logView(context: CliContext, known: Snapshot | undefined): View {
  const { clock } = context.deps;
  const since = clock.now();
  let before = known;
  return {
    show(snapshot) {
      for (const tree of snapshot.trees) {
        const earlier = before?.trees.find(({ root }) => root === tree.root);
        if (earlier !== tree)
          context.lines(changeLines(earlier, tree, { now: clock.now(), since, signs: context.signs }));
      }
      before = snapshot;
    },
    tellGone: () => sayGone(context),
    close() {},
  };
}

function documentView(context: CliContext, known: Snapshot | undefined): View {
  let before = known;
  return {
    show(snapshot) {
      if (snapshot.run && JSON.stringify(snapshot.run) !== JSON.stringify(before?.run)) {
        context.document({ event: 'run', run: snapshot.run });
      }
      for (const tree of snapshot.trees) {
        const earlier = before?.trees.find(({ root }) => root === tree.root);
        const { executions, notices } = treeChanges(earlier, tree, 'any');
        for (const execution of executions) context.document({ event: 'execution', execution });
        for (const notice of notices) context.document({ event: 'notice', notice });
      }
      before = snapshot;
    },
    tellGone() {},
    close() {},
  };
}
