import type { ScreenCommand } from '../drivers/port.ts';
import type { NotOpened } from './opening.ts';

/**
 * How a conversation is shown, or why not. `TERMINAL_UNAVAILABLE`: its agent has no screen of its own. `AGENT_FAILED`: it
 * could not be opened (`why`), or its agent is gone.
 */
export type ScreenFound =
  | { readonly ok: true; readonly screen: ScreenCommand }
  | {
      readonly ok: false;
      readonly code: 'STOPPING' | 'SESSION_STOPPED' | 'TERMINAL_UNAVAILABLE' | 'AGENT_FAILED';
      readonly why?: NotOpened;
    };
