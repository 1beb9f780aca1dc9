import type { SessionId } from '../base/ids.ts';
import type { ScreenCommand } from '../drivers/port.ts';

/** Columns and rows of a terminal, in cells. */
export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** Who looks at a terminal. Neither callback may throw; after `onEnd` nothing more comes. */
export interface Viewer {
  readonly size: ScreenSize;
  /** It keeps what scrolls away: it gets what has scrolled away before, first, and the screen is drawn below that. */
  readonly keepsHistory?: boolean;
  readonly onOutput: (bytes: Uint8Array) => void;
  /** The terminal has ended, or this view of it: why, in a sentence for a person. */
  readonly onEnd: (reason: string) => void;
}

/** One view of a terminal. Its owner ends it; after that every method does nothing. */
export interface View {
  /** What the person typed, as the terminal sent it; nothing comes of it where one may only watch. */
  write(bytes: Uint8Array): void;
  resize(size: ScreenSize): void;
  /** Nothing more is told until `resume`: the viewer cannot keep up. What is missed meanwhile is drawn anew. */
  pause(): void;
  resume(): void;
  /** The view ends; the terminal lives on. */
  end(): void;
}

/** What came of asking for a terminal; `message` says what to do. */
export type ViewOpened =
  | { readonly ok: true; readonly view: View }
  | { readonly ok: false; readonly message: string };

/**
 * The terminals in which people see agents at their own screens: at most one for each session, each with any number of views.
 * They outlive this process, and are found again by the next one on the same data directory. No method throws.
 */
export interface Terminals {
  /** Shows the session's terminal: the one that lives, else a new one in which the command runs. */
  view(owner: SessionId, screen: ScreenCommand, viewer: Viewer): Promise<ViewOpened>;
  /** Shows the terminal that the session has; nothing is typed into it, and it keeps its size. */
  watch(owner: SessionId, viewer: Viewer): Promise<ViewOpened>;
  /** Ends the session's terminal and what runs in it. Without one, nothing happens. */
  close(owner: SessionId): Promise<void>;
  /** Ends every terminal whose session is not among these. */
  reap(living: ReadonlySet<SessionId>): Promise<void>;
  /** Ends every view of this process; the terminals live on. */
  detach(): void;
}
