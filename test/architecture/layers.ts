/** A part of `src`: a folder, or one file of it, and what it may import beside itself. */
export interface Place {
  readonly path: string;
  readonly may: readonly string[];
}

/**
 * The layers, low to high. A file belongs to the longest path that fits; it may import from its own place and from those
 * named, which stand above it in this list: imports go down only.
 *
 * - Everything may use `base`. `ledger` and `contract` are siblings, which do not know each other.
 * - `words` is pure: how what the wire shows is said to people. The command line and the page say it in the same words.
 * - `schedules/rule` is pure and knows only time, `schedules/templates.ts` only texts: whoever reads a schedule may use them.
 * - `drivers/port.ts`, `terminal/port.ts`, `store/*.ts` and `wakeups/rows.ts` are ports and what their adapters share. An adapter knows its
 *   port, what it adapts (`ledger` for a store), and the tools for processes. No service and no edge knows an adapter.
 * - `workflows` is where what a file says (contract) becomes what the ledger runs, and where its texts are filled in: the one
 *   place below the services that knows both.
 * - Services know the ledger, the ports and each other downward: `turns`, then `runs`, `schedules` and `launching`, then `application`.
 * - Edges know the wire. What an edge needs from the services it says in its `ports.ts`, which `application` implements:
 *   the one place where an import goes up, and it is a type.
 * - `main` wires everything by hand; only it names adapters.
 */
export const places: readonly Place[] = [
  { path: 'base', may: [] },
  { path: 'ledger', may: ['base'] },
  { path: 'schedules/rule', may: ['base'] },
  { path: 'schedules/crontab', may: ['base', 'schedules/rule'] },
  { path: 'schedules/templates.ts', may: ['base'] },
  { path: 'contract', may: ['base', 'schedules/rule', 'schedules/templates.ts'] },
  { path: 'words', may: ['base', 'contract'] },
  { path: 'drivers/port.ts', may: ['base'] },
  { path: 'drivers/outcomes.ts', may: ['base', 'drivers/port.ts'] },
  { path: 'processes', may: ['base'] },
  { path: 'wakeups/rows.ts', may: ['base', 'ledger'] },
  { path: 'wakeups', may: ['base', 'ledger', 'wakeups/rows.ts'] },
  { path: 'store', may: ['base', 'ledger', 'wakeups/rows.ts'] },
  { path: 'store/memory', may: ['base', 'ledger', 'wakeups/rows.ts', 'store'] },
  { path: 'store/sql', may: ['base', 'ledger', 'wakeups/rows.ts', 'store'] },
  { path: 'store/sqlite', may: ['base', 'ledger', 'wakeups/rows.ts', 'store', 'store/sql'] },
  { path: 'store/postgres', may: ['base', 'ledger', 'wakeups/rows.ts', 'store', 'store/sql'] },
  { path: 'drivers/acp', may: ['base', 'drivers/port.ts', 'processes'] },
  { path: 'drivers/claude', may: ['base', 'drivers/outcomes.ts', 'drivers/port.ts', 'processes'] },
  { path: 'drivers/codex', may: ['base', 'drivers/outcomes.ts', 'drivers/port.ts', 'processes'] },
  { path: 'drivers/opencode', may: ['base', 'drivers/outcomes.ts', 'drivers/port.ts', 'processes'] },
  { path: 'drivers/demo', may: ['base', 'drivers/port.ts', 'processes'] },
  { path: 'drivers/pi', may: ['base', 'drivers/outcomes.ts', 'drivers/port.ts', 'processes'] },
  { path: 'drivers/script', may: ['base', 'drivers/outcomes.ts', 'drivers/port.ts', 'processes'] },
  { path: 'drivers/conformance', may: ['base', 'drivers/port.ts', 'processes'] },
  { path: 'terminal/port.ts', may: ['base', 'drivers/port.ts'] },
  { path: 'terminal', may: ['base', 'drivers/port.ts', 'processes', 'terminal/port.ts'] },
  {
    path: 'drivers/terminal',
    may: ['base', 'drivers/outcomes.ts', 'drivers/port.ts', 'processes', 'terminal', 'terminal/port.ts'],
  },
  { path: 'workspaces/port.ts', may: ['base', 'ledger'] },
  { path: 'workspaces', may: ['base', 'ledger', 'processes', 'workspaces/port.ts'] },
  { path: 'workflows', may: ['base', 'ledger', 'contract', 'schedules/templates.ts'] },
  { path: 'runs/step-ports.ts', may: ['base', 'ledger'] },
  { path: 'step-data', may: ['base', 'ledger', 'runs/step-ports.ts'] },
  { path: 'run-records', may: ['base', 'runs/step-ports.ts', 'store'] },
  { path: 'turns', may: ['base', 'ledger', 'drivers/port.ts'] },
  { path: 'schedules/clock-watch.ts', may: ['base'] },
  {
    path: 'runs',
    may: [
      'base',
      'ledger',
      'turns',
      'workflows',
      'runs/step-ports.ts',
      'schedules/templates.ts',
      'workspaces/port.ts',
    ],
  },
  { path: 'notify', may: ['base', 'ledger', 'processes'] },
  {
    path: 'schedules',
    may: [
      'base',
      'ledger',
      'runs',
      'workflows',
      'schedules/rule',
      'schedules/templates.ts',
      'workspaces/port.ts',
    ],
  },
  { path: 'launching', may: ['base', 'ledger', 'turns', 'workflows'] },
  {
    path: 'application',
    may: [
      'base',
      'ledger',
      'contract',
      'drivers/port.ts',
      'store',
      'turns',
      'workflows',
      'runs',
      'runs/step-ports.ts',
      'launching',
      'schedules',
      'schedules/templates.ts',
      'notify',
      'terminal/port.ts',
      'workspaces/port.ts',
      'schedules/templates.ts',
      'api/ports.ts',
      'mcp/ports.ts',
    ],
  },
  { path: 'api/ports.ts', may: ['base', 'contract'] },
  { path: 'mcp/ports.ts', may: ['base', 'contract'] },
  { path: 'api', may: ['base', 'contract', 'api/ports.ts'] },
  { path: 'mcp', may: ['base', 'contract', 'mcp/ports.ts'] },
  { path: 'client', may: ['base', 'contract'] },
  { path: 'cli', may: ['base', 'contract', 'words', 'client', 'schedules/rule', 'schedules/crontab'] },
];

/** The folder that may import everything, and that nothing imports. */
export const wiring = 'main';

/** Uses of what only `base` may use, each with its reason. `*` after a path: every file below it. */
export const exceptions: readonly { readonly path: string; readonly what: string; readonly why: string }[] = [
  {
    path: 'contract/text.ts',
    what: 'new Date(',
    why: 'writes a given instant as text; it does not ask for the time',
  },
  {
    path: 'drivers/pi/tool-client.ts',
    what: 'setTimeout',
    why: 'runs inside pi, and its timer must keep pi alive, as those of the clock do not',
  },
  {
    path: 'notify/cloud-event.ts',
    what: 'new Date(',
    why: 'writes a given instant as text; it does not ask for the time',
  },
];

/** Files of the product that are longer than 300 lines, each with its reason. */
export const longFiles: readonly { readonly path: string; readonly why: string }[] = [
  { path: 'api/ports.ts', why: 'what the HTTP edge needs, one port after the other, is read as a whole' },
  { path: 'drivers/port.ts', why: 'the contract of a driver is read as a whole' },
  {
    path: 'turns/session-turns.ts',
    why: 'one session is one serial actor; its steps share its private state',
  },
];
