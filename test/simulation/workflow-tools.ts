import type { ReviewKind } from '../../src/application/context.ts';
import type { WorkflowTool } from '../../src/application/workflow-tools.ts';
import { workflowTools } from '../../src/application/workflow-tools.ts';
import type { SessionId } from '../../src/base/ids.ts';
import type { ToolArguments } from '../../src/contract/tools.ts';
import { WorkflowLaunches } from '../../src/launching/workflow-launches.ts';
import type { UsageTold } from '../../src/ledger/spending.ts';
import type { CallMeta, ToolAnswer, ToolResults } from '../../src/mcp/ports.ts';
import type { WorkflowSource } from '../../src/workflows/port.ts';
import type { Server } from './server.ts';
import type { World } from './world.ts';

/** The workflows and reviews that a call of an agent may name. */
export interface Found {
  readonly workflows: WorkflowSource;
  readonly reviews: Readonly<Record<string, ReviewKind>>;
}

/** A call of an agent that launches workflows and what is made of them, as the edge hands it on. */
export function callWorkflowTool<Name extends WorkflowTool>(
  world: World,
  server: Server,
  sessionId: SessionId,
  tool: Name,
  args: ToolArguments<Name>,
  meta: CallMeta,
  { workflows, reviews }: Found,
): Promise<ToolAnswer<ToolResults[Name]>> {
  const { store, launcher, views } = server;
  const { clock } = world;
  const tells = (name: string): UsageTold | undefined => (world.kinds.has(name) ? 'cost' : undefined);
  const places = { configDirectory: '/here', dataDir: '/here/data' };
  const workflowLaunches = new WorkflowLaunches({ store, clock, launcher, workflows, tells, ...places });
  return workflowTools[tool]({ store, views, launcher, reviews, workflowLaunches }, sessionId, args, meta);
}
