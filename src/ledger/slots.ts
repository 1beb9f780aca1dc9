import type { SessionId } from '../base/ids.ts';
import type { TurnLimits } from './line.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import type { Session } from './session.ts';

type Counted = Pick<Session, 'agent' | 'project'>;
type Kind = 'all' | 'agent' | 'project';

/** How many of those that have a slot are named to whoever waits. */
const namedHolders = 5;

/**
 * The slots that are free. A session has one while it has a turn that has not ended, whoever began that: so a turn that the
 * agent began by itself takes one too, and none is counted that somebody forgot to give back.
 */
export class Slots {
  readonly #limits: TurnLimits;
  readonly #held = new Map<string, number>();

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Whether one more turn fits, of whatever agent. */
  *hasAny(): Asking<boolean> {
    return yield* this.#fits('all', '', this.#limits.turns);
  }

  /** Whether one more turn fits, of this agent in this project. */
  *has({ agent, project }: Counted): Asking<boolean> {
    const { turns, perAgent, perProject } = this.#limits;
    if (!(yield* this.#fits('all', '', turns))) return false;
    if (!(yield* this.#fits('agent', agent, perAgent))) return false;
    return yield* this.#fits('project', project, perProject);
  }

  /** Counts one more turn. */
  *take({ agent, project }: Counted): Asking<void> {
    const { turns, perAgent, perProject } = this.#limits;
    if (turns !== undefined) yield* this.#add('all', '');
    if (perAgent !== undefined) yield* this.#add('agent', agent);
    if (perProject !== undefined) yield* this.#add('project', project);
  }

  *#fits(kind: Kind, name: string, limit: number | undefined): Asking<boolean> {
    return limit === undefined || (yield* this.#count(kind, name)) < limit;
  }

  *#add(kind: Kind, name: string): Asking<void> {
    this.#held.set(`${kind}:${name}`, (yield* this.#count(kind, name)) + 1);
  }

  *#count(kind: Kind, name: string): Asking<number> {
    const key = `${kind}:${name}`;
    const known = this.#held.get(key) ?? (yield* ask('lanesHeld', kind, name));
    this.#held.set(key, known);
    return known;
  }
}

/** Which limit holds a session back, and who has the slots: for people. */
export function* describeHeldBack(limits: TurnLimits, session: Counted): Asking<string> {
  const { turns, perAgent, perProject } = limits;
  const { agent, project } = session;
  const reached = function* (kind: Kind, name: string, limit: number | undefined): Asking<number | null> {
    const held = limit === undefined ? 0 : yield* ask('lanesHeld', kind, name);
    return limit !== undefined && held >= limit ? held : null;
  };
  const all = yield* reached('all', '', turns);
  if (all !== null) return `${all} of ${turns} turns are running: ${yield* holders(() => true)}`;
  const own = yield* reached('agent', agent, perAgent);
  if (own !== null) {
    const names = yield* holders((other) => other.agent === agent);
    return `${own} of ${perAgent} turns of agent ${agent} are running: ${names}`;
  }
  const near = yield* reached('project', project, perProject);
  if (near === null) return 'others asked before it';
  const names = yield* holders((other) => other.project === project);
  return `${near} of ${perProject} turns in project ${project} are running: ${names}`;
}

function* holders(isOne: (session: Session) => boolean): Asking<string> {
  const all = (yield* ask('laneHolders', 1_000)).filter(isOne);
  const named: string[] = [];
  for (const session of all.slice(0, namedHolders)) named.push(yield* nameOf(session));
  const more = all.length > namedHolders ? `, and ${all.length - namedHolders} more` : '';
  return `${named.join(', ')}${more}`;
}

/** `ses_… (run nightly)`: a session by what it works on. */
function* nameOf({ id, laneTurn }: { id: SessionId; laneTurn: Session['laneTurn'] }): Asking<string> {
  const [owner] = laneTurn === null ? [] : yield* ask('owners', laneTurn);
  if (!owner) return id;
  const root = (yield* ask('execution', owner.rootId)) ?? owner;
  const run = root.runId === null ? undefined : yield* ask('run', root.runId);
  return `${id} (${run ? `run ${run.name}` : root.name})`;
}
