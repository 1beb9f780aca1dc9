import type { Capabilities } from '../port.ts';
import type { ClaudeState } from './state.ts';

/** What the proved version was seen to do, by experiment with the real program. */
export const provedCapabilities: Capabilities = {
  steer: 'proven',
  negativeProof: 'withdraw',
  turnEnd: 'protocol',
  backgroundTasks: true,
  wakesByItself: true,
  promptCancelsBackground: false,
  resume: 'always',
  locatesCalls: 'byId',
  limits: true,
  usage: 'cost',
};

/** What a program can prove that does not tell the life of each text: when one was taken up is seen, that none was is not. */
const olderCapabilities: Capabilities = { ...provedCapabilities, steer: 'none', negativeProof: 'none' };

/**
 * What this very program can prove, by what it was heard to say. Until its first text nothing is known of it, and no
 * steer is possible before that either.
 */
export function capabilitiesOf(state: ClaudeState): Capabilities {
  const isHeard = state.ended.length > 0 || state.turn?.isAnnounced === true;
  return state.hasLifecycle || !isHeard ? provedCapabilities : olderCapabilities;
}
