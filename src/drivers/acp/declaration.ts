import { z } from 'zod';

/** What the agent declares. */
export interface AgentDeclaration {
  readonly name?: string;
  readonly version?: string;
  readonly canLoad: boolean;
  readonly canResume: boolean;
  readonly takesHttpTools: boolean;
  readonly signIns: readonly string[];
}

const initialized = z.object({
  protocolVersion: z.number(),
  agentInfo: z
    .object({ name: z.string().optional().catch(undefined), version: z.string().optional().catch(undefined) })
    .nullish(),
  agentCapabilities: z
    .object({
      loadSession: z.boolean().nullish(),
      mcpCapabilities: z.object({ http: z.boolean().nullish() }).nullish(),
      sessionCapabilities: z.object({ resume: z.unknown().optional() }).nullish(),
    })
    .nullish(),
  authMethods: z.array(z.object({ name: z.string() })).nullish(),
});

/** Reads the result of `initialize`; undefined when it makes no sense. */
export function readDeclaration(
  result: unknown,
): { readonly protocolVersion: number; readonly agent: AgentDeclaration } | undefined {
  const parsed = initialized.safeParse(result);
  if (!parsed.success) return undefined;
  const { protocolVersion, agentCapabilities, agentInfo, authMethods } = parsed.data;
  const agent: AgentDeclaration = {
    ...(agentInfo?.name === undefined ? {} : { name: agentInfo.name }),
    ...(agentInfo?.version === undefined ? {} : { version: agentInfo.version }),
    canLoad: agentCapabilities?.loadSession === true,
    canResume: isOffered(agentCapabilities?.sessionCapabilities?.resume),
    takesHttpTools: agentCapabilities?.mcpCapabilities?.http === true,
    signIns: (authMethods ?? []).map(({ name }) => name),
  };
  return { protocolVersion, agent };
}

function isOffered(capability: unknown): boolean {
  return capability !== undefined && capability !== null && capability !== false;
}
