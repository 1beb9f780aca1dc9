import type { CancelTimer } from '../base/clock.ts';
import type { StemmaClient } from '../client/stemma-client.ts';
import type { Run } from '../contract/run.ts';
import type { CliContext } from './context.ts';
import { formatDuration } from './durations.ts';
import { exitOfOutcome, Interrupted } from './exit.ts';
import { follow, type Snapshot, type Target } from './follow.ts';
import { printLine } from './line.ts';
import { snapshotLines } from './run-lines.ts';
import { Screen } from './screen.ts';
import { changeLines, treeChanges } from './tree-changes.ts';

/** How a followed root or run ended. */
export interface End {
  readonly outcome?: Run['outcome'];
  readonly outcomeCode?: string | undefined;
}

/** What to do when the user ends the view: `goesOn` says that the work does, and how to watch and cancel it. */
export interface LiveOptions {
  readonly signal: AbortSignal;
  readonly goesOn: boolean;
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
  const view = viewFor(context);
  try {
    const last = await follow(client, target, options.signal, (snapshot) => view.show(snapshot));
    view.close();
    return endOf(last);
  } catch (thrown) {
    view.close();
    if (thrown instanceof Interrupted && options.goesOn) sayGoesOn(context, target.id);
    throw thrown;
  }
}

/** Prints how it ended and answers the exit code for it. */
export function reportEnd(context: CliContext, target: Target, end: End, tookMs: number): number {
  const code = end.outcomeCode === undefined ? '' : ` (${end.outcomeCode})`;
  const words = `${end.outcome ?? 'ended'}${code} after ${formatDuration(tookMs)}`;
  if (context.isJson) context.document({ event: 'end', id: target.id, ...end });
  else context.data(`${target.kind === 'run' ? 'run' : 'message'} ${target.id}: ${words}`);
  return exitOfOutcome(end);
}

/** Tells a person who stopped watching that the work did not stop. */
export function sayGoesOn(context: CliContext, id: string): void {
  context.talk('');
  context.talk(`You no longer watch it; the work goes on. Watch again:  stemma tree ${id} --follow`);
  context.talk(`                                            Cancel it:    stemma cancel ${id}`);
}

interface View {
  show(snapshot: Snapshot): void;
  close(): void;
}

function viewFor(context: CliContext): View {
  if (context.isJson) return documentView(context);
  return context.deps.stdout.isTty && context.deps.env['TERM'] !== 'dumb'
    ? screenView(context)
    : logView(context);
}

function endOf({ run, trees }: Snapshot): End {
  const { outcome, outcomeCode } = run ?? trees[0] ?? {};
  return {
    ...(outcome === undefined ? {} : { outcome }),
    ...(outcomeCode === undefined ? {} : { outcomeCode }),
  };
}

const tickMs = 1_000;

function screenView(context: CliContext): View {
  const { clock, stdout } = context.deps;
  const screen = new Screen(stdout);
  let latest: Snapshot | undefined;
  let cancelTick: CancelTimer | undefined;
  const draw = (isLast = false): void => {
    if (!latest) return;
    // The line below the last one belongs to the cursor. At the end everything may scroll.
    const rows = isLast ? {} : { rows: Math.max(1, (stdout.size()?.rows ?? 24) - 1) };
    const lines = snapshotLines(latest, { now: clock.now(), signs: context.signs, ...rows });
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
      tick();
    },
    close() {
      cancelTick?.();
      screen.clear();
      draw(true);
      screen.close();
    },
  };
}

function logView(context: CliContext): View {
  const { clock } = context.deps;
  const since = clock.now();
  let before: Snapshot | undefined;
  return {
    show(snapshot) {
      for (const tree of snapshot.trees) {
        const earlier = before?.trees.find(({ root }) => root === tree.root);
        if (earlier !== tree)
          context.lines(changeLines(earlier, tree, { now: clock.now(), since, signs: context.signs }));
      }
      before = snapshot;
    },
    close() {},
  };
}

function documentView(context: CliContext): View {
  let before: Snapshot | undefined;
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
    close() {},
  };
}
