import { z } from 'zod';

/** The subprotocol of a terminal. A browser that has no cookie adds `stemma.bearer.TOKEN` to what it offers. */
export const terminalProtocol = 'stemma.terminal';

/** What stands before a token that is offered as a subprotocol: a browser can send no other header. */
export const bearerProtocolPrefix = 'stemma.bearer.';

const columns = z.coerce.number().int().min(1).max(1000);
const rows = z.coerce.number().int().min(1).max(500);

/**
 * The query string of a terminal: the size of the viewer's screen, in cells. `readOnly`: the viewer sees what others see, and
 * nothing of what it sends is typed; so it is in any case for who may only read.
 */
export const terminalQuery = z.strictObject({
  columns: columns.default(80),
  rows: rows.default(24),
  readOnly: z.enum(['true', 'false']).default('false'),
});

/**
 * A text message of the viewer. What is typed goes as binary messages, byte by byte as a terminal sends it; what the agent
 * draws comes back so.
 */
export const viewerMessage = z.strictObject({
  type: z.literal('resize'),
  columns: z.number().int().min(1).max(1000),
  rows: z.number().int().min(1).max(500),
});
/** The viewer's screen has another size. */
export type ViewerMessage = z.infer<typeof viewerMessage>;

/** The one text message of the server, its last: the terminal has ended, or this view of it. */
export const terminalEnded = z.object({ type: z.literal('ended'), reason: z.string() });
/** Why a view of a terminal has ended, for a person. */
export type TerminalEnded = z.infer<typeof terminalEnded>;
