import type { Clock } from '../base/clock.ts';
import { reach } from '../base/faults.ts';
import type { Group } from '../ledger/dispatching.ts';
import { address, groupFailed, groupSent, lookAgain, noTarget, takeGroup } from '../ledger/dispatching.ts';
import type { Failure } from '../ledger/execution.ts';
import type { Notification } from '../ledger/notification.ts';
import { refusedCode } from '../ledger/notification.ts';
import type { LedgerStore } from '../ledger/store.ts';
import type { Attempt, Message, Target } from './port.ts';

/** What a notifier needs. */
export interface NotifierParts {
  readonly store: LedgerStore;
  readonly clock: Clock;
  /** Values in [0, 1): those who wait for the same target do not come back at one instant. */
  readonly random: () => number;
  readonly targets: ReadonlyMap<string, Target>;
  /** The targets that hear of what has no schedule. */
  readonly always: readonly string[];
  /** Takes secrets out of what is kept. */
  readonly redact: (text: string) => string;
}

/** The first back-off and the longest one, in milliseconds; each is longer or shorter by up to a fifth. */
const firstBackOffMs = 30_000;
const longestBackOffMs = 3_600_000;
/** Longest error that is kept of an attempt, in UTF-16 units. */
const longestError = 500;

/**
 * Tells people what the outbox of the ledger owes them: at least once, since a server can die between an attempt and its record;
 * then the same message goes out again, under the same id. To one target one message goes at a time, and no target waits for
 * another.
 */
export class Notifier {
  readonly #parts: NotifierParts;
  readonly #stopping = new AbortController();

  constructor(parts: NotifierParts) {
    this.#parts = parts;
  }

  /** Handles a wake-up of either kind. */
  handle({
    kind,
    target,
  }: {
    readonly kind: 'notification' | 'dispatch';
    readonly target: string;
  }): Promise<void> {
    return kind === 'notification' ? this.#address(target) : this.#deliver(target);
  }

  /** Decides who hears of it. */
  async #address(id: string): Promise<void> {
    const { store, clock, always, targets } = this.#parts;
    const known = [...targets.keys()];
    await store.decide(() => address({ now: clock.now(), id, always, known }));
  }

  /** Sends what this target is owed and may be sent now, one message after the other. */
  async #deliver(target: string): Promise<void> {
    const { store, clock } = this.#parts;
    while (!this.#stopping.signal.aborted) {
      const taken = await store.decide(() => takeGroup({ now: clock.now(), target }));
      if (!taken.ok || !taken.value) return;
      const goesOn = await this.#send(taken.value);
      if (!goesOn) return;
    }
    await store.decide(() => lookAgain({ now: clock.now(), target }));
  }

  /** Names of the targets that there are. */
  get targets(): readonly string[] {
    return [...this.#parts.targets.keys()];
  }

  /** Sends a message that is owed to nobody, once; undefined when there is no such target. */
  async test(name: string): Promise<Attempt | undefined> {
    const { clock, targets, redact } = this.#parts;
    const subject = `${name}-${clock.now()}`;
    const row = testNotification(subject, clock.now());
    const message: Message = { id: row.id, target: name, notifications: [row] };
    const attempt = await targets.get(name)?.send(message, this.#stopping.signal);
    return attempt?.ok === false ? { ...attempt, message: redact(attempt.message) } : attempt;
  }

  /** Ends what is being sent. It is sent again by the next server. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Answers whether the target may be sent more now. */
  async #send(group: Group): Promise<boolean> {
    const { store, clock, targets } = this.#parts;
    const { lead, notifications } = group;
    const target = targets.get(lead.target);
    const failed = (error: Failure, delayMs: number, isFinal = false) =>
      store.decide(() => groupFailed({ now: clock.now(), leadId: lead.id, error, delayMs, isFinal }));
    if (!target) {
      await failed(noTarget(lead.target), 0, true);
      return true;
    }
    const message: Message = { id: messageId(group), target: lead.target, notifications };
    const attempt = await target.send(message, this.#stopping.signal);
    if (attempt.ok) {
      reach('notify.sent');
      await store.decide(() => groupSent({ now: clock.now(), leadId: lead.id }));
      return true;
    }
    // Nobody knows whether it arrived: it is no attempt, and goes again.
    if (this.#stopping.signal.aborted) return true;
    await failed(this.#failureOf(attempt), this.#backOffMs(lead.attempt + 1, attempt.retryAfterMs));
    return attempt.kind === 'refused';
  }

  #failureOf({ kind, message }: Extract<Attempt, { ok: false }>): Failure {
    const text = this.#parts
      .redact(message)
      .slice(0, longestError)
      .replace(/[\uD800-\uDBFF]$/, '');
    return { code: kind === 'refused' ? refusedCode : 'UNREACHABLE', message: text };
  }

  #backOffMs(attempt: number, askedMs = 0): number {
    const backOffMs = Math.min(longestBackOffMs, firstBackOffMs * 2 ** Math.min(attempt - 1, 20));
    const swayed = backOffMs * (0.8 + 0.4 * this.#parts.random());
    return Math.round(Math.max(swayed, Math.min(askedMs, longestBackOffMs)));
  }
}

function testNotification(subject: string, at: number): Notification {
  return {
    id: `test:${subject}`,
    transition: 'test',
    subject,
    project: null,
    name: null,
    code: null,
    text: 'Somebody asked Stemma to try this target.',
    rootId: null,
    sessionId: null,
    runId: null,
    scheduleId: null,
    to: null,
    state: 'addressed',
    at,
  };
}

/** One notification goes out under its own id, a group under one that its leader gives it. */
function messageId({ lead, notifications }: Group): string {
  return notifications.length === 1 ? lead.notificationId : `group:${lead.id}`;
}
