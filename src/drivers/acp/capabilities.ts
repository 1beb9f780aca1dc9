import type { Capabilities } from '../port.ts';

/** What can be proved of any agent that speaks ACP; whether its conversations can be had again is known when one is open. */
export const capabilities: Capabilities = {
  steer: 'none',
  negativeProof: 'none',
  turnEnd: 'protocol',
  backgroundTasks: false,
  wakesByItself: false,
  promptCancelsBackground: false,
  resume: 'whereOffered',
  locatesCalls: 'byOrder',
  limits: true,
  usage: 'whereOffered',
};
