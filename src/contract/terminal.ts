import { z } from 'zod';

/** The subprotocol of a terminal. A browser that has no cookie adds `stemma.bearer.TOKEN` to what it offers. */
export const terminalProtocol = 'stemma.terminal';

/** What stands before a token that is offered as a subprotocol: a browser can send no other header. */
export const bearerProtocolPrefix = 'stemma.bearer.';

const columns = z.coerce.number().int().min(1).max(1000);
const rows = z.coerce.number().int().min(1).max(500);

const flag = z.enum(['true', 'false']).default('false');

/**
 * The query string of a terminal: the size of the viewer's screen, in cells. `readOnly`: the viewer sees what others see, and
 * nothing of what it sends is typed; so it is in any case for who may only read.
 *
 * `shared`: of all shared viewers of a session one owns the terminal: it types, and its size is that of the terminal. Who comes
 * first owns it, the others watch; `take`, here or as a message, makes a viewer the owner, and the one before it a watcher. Such a
 * viewer is told its place, gets what the terminal has scrolled away before what it shows, and is told on the socket why it is refused.
 */
export const terminalQuery = z.strictObject({
  columns: columns.default(80),
  rows: rows.default(24),
  readOnly: flag,
  shared: flag,
  take: flag,
});

const size = { columns: z.number().int().min(1).max(1000), rows: z.number().int().min(1).max(500) };

/**
 * A text message of the viewer: its screen has another size, or, of a shared one, it takes the terminal. What is typed goes as
 * binary messages, byte by byte as a terminal sends it; what the agent draws comes back so.
 */
export const viewerMessage = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('resize'), ...size }),
  z.strictObject({ type: z.literal('take') }),
]);
/** The viewer's screen has another size, or it takes the terminal. */
export type ViewerMessage = z.infer<typeof viewerMessage>;

/** The last text message of the server: the terminal has ended, or this view of it. `code`: of a refusal. */
export const terminalEnded = z.object({
  type: z.literal('ended'),
  reason: z.string(),
  code: z.string().optional(),
});
/** Why a view of a terminal has ended, for a person. */
export type TerminalEnded = z.infer<typeof terminalEnded>;

/**
 * The place of a shared viewer, told before anything is drawn, and whenever it is another: then the screen begins anew with what
 * follows. `isOwned`: somebody owns the terminal. The size is that of the terminal.
 */
export const terminalPlace = z.object({
  type: z.literal('place'),
  isOwner: z.boolean(),
  isOwned: z.boolean(),
  mayType: z.boolean(),
  /** False: the screen goes on as it is. */
  isAnew: z.boolean(),
  ...size,
});
/** The place of a shared viewer of a terminal. */
export type TerminalPlace = z.infer<typeof terminalPlace>;
