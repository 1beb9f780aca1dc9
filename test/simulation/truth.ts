import type { SessionId } from '../../src/base/ids.ts';
import type { Carried } from './texts.ts';
import type { Violations } from './violations.ts';

/** A message of a person or of a run. Its text is its label. */
export interface Message {
  readonly kind: 'message';
  readonly label: string;
  /** The work whose program sent it, or null: a root. */
  readonly cause: string | null;
  /** Where it goes. Words that are said several times, to mend something, may go to several. */
  readonly sessions: Set<SessionId>;
  /** How many messages have these words. */
  copies: number;
  taken: number;
  /** A turn in which an agent had taken it up succeeded. */
  isDone: boolean;
}

/** Something launched, or background work of an agent, with its true cause: the text because of which it exists. */
export interface Work {
  readonly kind: 'work' | 'task';
  readonly label: string;
  readonly cause: string | null;
  /** The work because of whose end it was launched, if so: what drops that end drops what came of it. */
  readonly via: string | null;
  /** A person launched it: its result is counted on itself. */
  readonly isRoot: boolean;
  /** The session whose agent must hear of the end; null where only a program does. */
  readonly tells: SessionId | null;
  /** The activity of the agent that launched it, if an agent did while it was at work. */
  readonly activity: Activity | undefined;
  /** `calling`: asked for, not yet known to exist. `never`: refused, or its call came to nothing. */
  stage: 'calling' | 'running' | 'ended' | 'never';
  /** The ledger has heard of it. */
  isKnown: boolean;
  /** An agent took the result up in a turn that succeeded. */
  isHandled: boolean;
  /** Why nobody needs to handle it any more. */
  excuse: string | undefined;
  /** It, and all below it, holds nothing any more. */
  isDetached: boolean;
  /** A step of a workflow: the server begins it, and no agent hears of its end. */
  readonly isStep: boolean;
}

type NewWork = Pick<Work, 'kind' | 'label' | 'cause' | 'tells' | 'activity' | 'stage'> &
  Partial<Pick<Work, 'isRoot' | 'via' | 'isStep'>>;

/** Because of whom an agent works: a message or root, and the end of which work told it so. */
export interface Source {
  readonly cause: string | null;
  readonly via: string | null;
}

/** One stretch of work of an agent, as it truly is. */
export interface Activity {
  readonly nativeTurnId: string;
  readonly carried: Carried[];
  /** Background tasks whose end it handles. */
  readonly wokenBy: string[];
  /** It began by itself, without a text and without a task. */
  readonly isLate: boolean;
}

/** An agent as far as the truth about work is concerned. */
export interface Worker {
  readonly label: string;
  /** Texts that it has accepted and not taken up. */
  pendingTexts(): readonly Carried[][];
  activityNow(): Activity | undefined;
}

/**
 * What is really the case, whatever the ledger believes: who caused what, what is alive, what was handled. The causes
 * come from the choices of the simulated agents themselves, so this knowledge owes nothing to the code under test.
 */
export class Truth {
  readonly messages = new Map<string, Message>();
  readonly works = new Map<string, Work>();
  readonly workers: Worker[] = [];
  readonly #violations: Violations;
  /** What somebody has asked to end, and all below it: nobody needs to hear of its results. */
  readonly cancelled = new Set<string>();
  /** Messages that a person typed at the agent's own screen. */
  readonly typed = new Set<string>();
  /** Of what an agent that handled it has said that it failed. */
  readonly reported = new Set<string>();
  /** Of executions whose name in the ledger is not their label. */
  readonly labels = new Map<string, string>();
  readonly #takenResults = new Set<string>();

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  addMessage(label: string, sessionId: SessionId, cause: string | null): void {
    const sessions = new Set([sessionId]);
    this.messages.set(label, { kind: 'message', label, cause, sessions, copies: 1, taken: 0, isDone: false });
  }

  /** Words that were said before are said again. */
  addCopy(label: string, sessionId: SessionId): void {
    const message = this.messages.get(label);
    message?.sessions.add(sessionId);
    if (message) message.copies++;
  }

  addWork(given: NewWork): Work {
    const work: Work = {
      isRoot: false,
      isStep: false,
      via: null,
      ...given,
      isKnown: false,
      isHandled: false,
      excuse: undefined,
      isDetached: false,
    };
    this.works.set(work.label, work);
    return work;
  }

  /** Whether `label` is `above`, or was caused by it, directly or not, with nothing dropped in between. */
  isUnder(label: string, above: string): boolean {
    for (const { at, thing, isByResult } of this.#upwards(label)) {
      // Who acts because of a result acts for whoever caused the work, not for the work itself, which is over.
      const counts = !isByResult || (thing?.kind === 'work' && thing.isRoot);
      if (counts && at === above) return true;
      if (thing?.kind === 'message' || !thing) continue;
      if (thing.isDetached || (isByResult && thing.excuse !== undefined)) return false;
    }
    return false;
  }

  /** A thing and its causes: the message or program that launched it, or the work because of whose end it was launched. */
  *#upwards(
    label: string,
  ): Generator<{ at: string; thing: Message | Work | undefined; isByResult: boolean }> {
    let isByResult = false;
    for (let at: string | null = label; at !== null; ) {
      const thing: Message | Work | undefined = this.works.get(at) ?? this.messages.get(at);
      yield { at, thing, isByResult };
      isByResult = thing !== undefined && thing.kind !== 'message' && thing.via !== null;
      at = (thing?.kind === 'message' ? undefined : thing?.via) ?? thing?.cause ?? null;
    }
  }

  /** What an agent handles in this activity: messages, and work by its result. */
  labelsOf(activity: Activity): string[] {
    return [...activity.carried.map((one) => one.label), ...activity.wokenBy];
  }

  /** Because of whom something is launched by an agent that handles this. */
  sourceOf(label: string): Source {
    const work = this.works.get(label);
    return work ? { cause: work.cause, via: label } : { cause: label, via: null };
  }

  /** Whether handling this is part of `above`. */
  #isAbout(label: string, above: string): boolean {
    const work = this.works.get(label);
    if (!work) return this.isUnder(label, above);
    if (work.excuse !== undefined || (label === above && !work.isRoot)) return false;
    return this.isUnder(label, above);
  }

  /** Whether a message, which has a deadline, waits for the handling of this. */
  hasDeadline(label: string): boolean {
    return [...this.messages.keys()].some((message) => this.#isAbout(label, message));
  }

  /** Whether it was detached, or is below something that was. */
  isDetached(label: string): boolean {
    return [...this.#upwards(label)].some(
      ({ thing }) => thing && thing.kind !== 'message' && thing.isDetached,
    );
  }

  /** An agent takes a text up. Each message once, for ever; a result again only if its text says so. */
  take(sessionId: SessionId, carried: readonly Carried[]): void {
    for (const one of carried) {
      if (one.kind === 'result') this.#takeResult(one);
      else this.#takeMessage(sessionId, one.label, one.isMarkedAgain);
    }
  }

  #takeMessage(sessionId: SessionId, label: string, isMarkedAgain: boolean): void {
    const message = this.messages.get(label);
    if (!message) return this.#violations.report('CROSS', `an agent got a text that nobody wrote: ${label}`);
    if (!isMarkedAgain) message.taken++;
    if (!message.sessions.has(sessionId))
      this.#violations.report('CROSS', `${label} went to another session`);
    if (message.taken > message.copies)
      this.#violations.report('TWICE', `message ${label} was taken up twice`);
  }

  #takeResult(result: Extract<Carried, { kind: 'result' }>): void {
    const isAgain = this.#takenResults.has(result.label);
    this.#takenResults.add(result.label);
    if (isAgain && !result.isMarkedAgain) {
      this.#violations.report('TWICE', `the result of ${result.label} was taken up again without a mark`);
    }
  }

  /** A task woke its agent, which hears of its end thereby. */
  wake(label: string): void {
    if (this.#takenResults.has(label))
      this.#violations.report('TWICE', `the agent woke for ${label}, whose end it knew`);
    this.#takenResults.add(label);
  }

  /** The agent died where nobody saw it: nobody can know that it had woken. */
  forgetWakes(labels: readonly string[]): void {
    for (const label of labels) this.#takenResults.delete(label);
  }

  /** Whether it was cancelled, or is below something that was. */
  isCancelled(label: string): boolean {
    return [...this.cancelled].some((above) => this.isUnder(label, above));
  }

  /** An agent is idle again. What it took up is handled if it succeeded. */
  finish(activity: Activity, hasSucceeded: boolean): void {
    if (!hasSucceeded) return;
    for (const label of this.labelsOf(activity)) {
      const work = this.works.get(label);
      if (work) work.isHandled = true;
      const message = this.messages.get(label);
      if (message) message.isDone = true;
    }
  }

  /** What of `above` is alive, in words; undefined when all of it is over and handled. */
  alive(above: string, only: 'all' | 'programs' = 'all'): string | undefined {
    for (const work of this.works.values()) {
      // The cheapest question first: this is asked of all that is closed, at every commit.
      const why = stateOf(work, only);
      if (why === undefined || work.isDetached || (work.label === above && !work.isRoot)) continue;
      if (!this.isUnder(work.label, above)) continue;
      if (work.stage !== 'ended' || !this.isCancelled(work.label)) return why;
    }
    if (only === 'programs') return undefined;
    for (const worker of this.workers) {
      const at = worker.activityNow();
      if (at && this.labelsOf(at).some((label) => this.#isAbout(label, above)))
        return `${worker.label} is at work on it`;
      const pending = worker
        .pendingTexts()
        .flat()
        .find((one) => this.#isAbout(one.label, above));
      if (pending) return `a text about ${pending.label} is in the queue of ${worker.label}`;
    }
    return undefined;
  }
}

function stateOf(work: Work, only: 'all' | 'programs'): string | undefined {
  if (work.stage === 'running') return `${work.label} runs`;
  if (only === 'programs' || work.excuse !== undefined) return undefined;
  if (work.stage === 'calling') return `the launch of ${work.label} is on its way`;
  if (work.stage === 'ended' && work.tells !== null && !work.isHandled)
    return `nobody has handled the end of ${work.label}`;
  return undefined;
}
