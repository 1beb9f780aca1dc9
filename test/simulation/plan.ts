import { placeOf } from '../../src/ledger/plan.ts';
import type { PlannedMessage } from '../../src/ledger/session.ts';
import type { MessagePlace, MessageTexts } from '../../src/runs/ports.ts';
import { givingPart } from './texts.ts';
import type { World } from './world.ts';

const hourMs = 60 * 60_000;

/** The messages of a run, each with a text that is its label. */
export function planOf(world: World, name: string, length: number): PlannedMessage[] {
  const { choices, budgets, facts } = world;
  // What hangs for nobody's message has no deadline that would end it.
  const mayDetach = !facts.isHung && !budgets.has('hangs') && !budgets.has('endless');
  return Array.from({ length }, (_, index) => ({
    text: world.isRetrying ? `{{${name}.${index}}}` : `${name}.${index}`,
    timeoutMs: choices.pick([4 * hourMs, 5 * 60_000]),
    onFailure: choices.pick(['stop', 'continue'] as const),
    join: choices.pick(['own', 'all'] as const),
    check: choices.chance(15) ? 'npm test' : null,
    background: mayDetach && choices.chance(10) ? 'detach' : 'wait',
    ...(world.isRetrying ? { templates: true as const, retry: retryOf(world) } : {}),
    ...(world.isCosting ? { budget: index % 2 === 0 ? { tokens: 40 } : { usd: 0.02 } } : {}),
  }));
}

function retryOf({ choices }: World): NonNullable<PlannedMessage['retry']> {
  return { max: choices.below(3), backoffMs: choices.pick([0, 20_000, 4 * 60_000]) };
}

/**
 * Fills in the templates of a history: the label of a message, and behind it the number of a later attempt, so that every text
 * of a history is one of a kind. Now and then a file is missing.
 */
export function simulatedTexts(world: World): MessageTexts {
  return {
    async fill(place) {
      if (world.budgets.has('fills') && world.choices.chance(30)) {
        world.budgets.spend('fills');
        return { ok: false, message: 'a file is missing' };
      }
      return { ok: true, text: filledText(world, place) };
    },
  };
}

/** A text as it is sent: its label, and what the agent is told besides. */
export function filledText({ flows }: World, { run, index, text, attempt }: MessagePlace): string {
  const { row } = placeOf(run, index);
  return `${labelOf(flows.textIn(run.id, text, row), attempt)}${givingPart(text)}`;
}

/** `{{r0.1}}` is `r0.1` when it is sent first, and `r0.1~3` when it is sent for the third time. */
export function labelOf(text: string, attempt: number): string {
  const label = text.replace(/^\{\{(.*)\}\}$/, '$1');
  return attempt === 1 ? label : `${label}~${attempt}`;
}
