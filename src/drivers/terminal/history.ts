import { dirname, join } from 'node:path';
import { readIfThere } from '../../base/read-if-there.ts';
import type { ConversationLog } from './conversations.ts';
import { type Followable, readTranscript } from './feed.ts';
import { HookTrail } from './hook-trail.ts';
import { readHook } from './hooks.ts';
import type { Signal } from './transcript.ts';

/** What was read of the conversations of a session. */
export interface History {
  /** Of those before the last. */
  readonly earlier: readonly string[];
  /** The last, if the agent has a transcript of it, and where it goes on. */
  readonly transcript: Followable | undefined;
  /** Whether anything was said in the last. */
  readonly hasContent: boolean;
}

/**
 * Reads again what the transcripts of a session's conversations tell so far, in order. `find`: where the agent has the
 * transcript of a conversation, if it has one.
 */
export function readHistory(
  log: ConversationLog,
  find: (id: string) => string | undefined,
  hear: (signal: Signal, position: number) => void,
): History {
  const earlier: string[] = [];
  let transcript: Followable | undefined;
  let hasContent = false;
  for (const [index, { id, base, path: written }] of log.all.entries()) {
    const path = find(id) ?? written;
    const next = log.all[index + 1];
    if (path === undefined) continue;
    const { signals, end } = readTranscript(path, next && next.base - base);
    for (const { signal, endOffset } of signals) hear(signal, base + endOffset);
    if (next) earlier.push(path);
    else {
      transcript = { path, from: end, base };
      hasContent = signals.length > 0;
    }
  }
  return { earlier, transcript, hasContent };
}

/**
 * In the place of a conversation in which nothing was said, and of which the agent has a transcript all the same: it would neither
 * resume it nor begin it again. `id`: of the new one.
 */
export function beginAnew(log: ConversationLog, { earlier, transcript }: History, id: string): History {
  if (!transcript) return { earlier, transcript, hasContent: false };
  const path = join(dirname(transcript.path), `${id}.jsonl`);
  const base = transcript.base + transcript.from;
  log.add({ id, path, base });
  return {
    earlier: [...earlier, transcript.path],
    transcript: { path, from: 0, base },
    hasContent: false,
  };
}

/**
 * Reads what the hooks of a dead agent told of its conversations and nobody heard: a new one that can be followed is written
 * down. Answers whether it turned to one that cannot be.
 */
export function followDead(
  log: ConversationLog,
  hooksFile: string,
  find: (id: string) => string | undefined,
): { readonly hasStrayed: boolean } {
  const known = log.all.flatMap(({ id, path }) => find(id) ?? path ?? []);
  const trail = new HookTrail(known);
  for (const line of (readIfThere(hooksFile) ?? '').split('\n')) {
    const hook = readHook(line);
    const step = hook ? trail.hear(hook) : undefined;
    if (step?.step === 'strayed') return { hasStrayed: true };
    if (step?.step !== 'cleared') continue;
    const { id, path, base } = log.last;
    const before = find(id) ?? path;
    const end = before === undefined ? 0 : readTranscript(before).end;
    log.add({ id: step.id, path: step.path, base: base + end });
  }
  return { hasStrayed: false };
}
