import type { SessionId } from '../../src/base/ids.ts';
import type { SimulatedAgent } from './agent.ts';
import type { CommitContext } from './checks-context.ts';
import { describe } from './observer.ts';
import { readRound } from './texts.ts';
import type { World } from './world.ts';

/**
 * How often results come back to an orchestrator: never more often than it may be, no round before the one that precedes it, and none
 * fails for too many of them that has not had them all. Read from the texts themselves.
 */
export class Rounds {
  readonly #world: World;
  readonly #last = new Map<SessionId, Set<number>>();

  constructor(world: World) {
    this.#world = world;
  }

  handOut(agent: SimulatedAgent, text: string): void {
    const said = readRound(text);
    if (!said) return;
    const { round, of } = said;
    const seen = this.#last.get(agent.sessionId) ?? new Set();
    this.#last.set(agent.sessionId, seen.add(round));
    this.#world.note(`  round ${round} of ${of ?? 'any'} for ${agent.label}`);
    if (of !== null && round > of)
      this.#report(`${agent.label} is given results for the ${round}th time, of ${of}`);
    if (round > 1 && !seen.has(round - 1))
      this.#report(
        `${agent.label} is given results for the ${round}th time, and there was no ${round - 1}th`,
      );
  }

  check({ before, after }: CommitContext): void {
    const old = new Map(before.executions.map((row) => [row.id, row.verdict]));
    for (const row of after.executions) {
      if (row.verdict !== 'ROUNDS_EXCEEDED' || old.get(row.id) === 'ROUNDS_EXCEEDED') continue;
      const host = after.sessions.find(({ id }) => id === row.runsIn)?.hostedBy;
      const most = after.runs.find(({ ownerId }) => ownerId === host)?.todo?.maxRounds ?? Infinity;
      const had = this.#last.get(row.runsIn ?? ('' as SessionId));
      if (!had?.has(most)) this.#report(`${describe(row)} fails for more than ${most} rounds, and had fewer`);
    }
  }

  #report(message: string): void {
    this.#world.violations.report('ROUNDS', message);
  }
}
