import { resolve } from 'node:path';
import type { Answer, RunCommands, SessionCommands } from '../api/ports.ts';
import type { RunFile } from '../contract/run-file.ts';
import type { RunId } from '../base/ids.ts';
import { FreshIds } from '../base/ids.ts';
import { decideLimit } from '../ledger/limit.ts';
import { ask } from '../ledger/questions.ts';
import { beginRun } from '../ledger/sequence.ts';
import type { PreparedWorkspace } from '../ledger/workspace.ts';
import { budgetOf, plannedMessage } from '../workflows/planned-message.ts';
import { refusalOfBudgets } from './budgets.ts';
import { actorOf, nothing } from './caller.ts';
import { createSession, newId } from './commands.ts';
import { refusalOfTemplates } from './run-templates.ts';
import type { ApplicationContext } from './context.ts';
import { createSessionMessages } from './session-messages.ts';
import { transcriptPage } from './transcript-page.ts';

/** Commands about sessions. */
export function createSessionCommands(context: ApplicationContext): SessionCommands {
  const { sessions, stopping, records, store, clock, ids } = context;
  return {
    async create(request, call) {
      const created = await createSession(context, request, await newId(context, call, 'session'));
      return typeof created === 'string' ? { ok: true, value: { sessionId: created } } : created;
    },
    async interrupt(id) {
      const answer = await sessions.of(id).interrupt();
      if (answer !== 'idle') return { ok: true, value: undefined };
      const message = `Session ${id} runs no turn; there is nothing to interrupt.`;
      return { ok: false, code: 'ILLEGAL_STATE', message, data: { state: 'idle' } };
    },
    async stop(id, reason, { caller }) {
      const request = { actor: actorOf(caller), ...(reason === undefined ? {} : { reason }) };
      return nothing(await stopping.stopSession(id, request));
    },
    async decideCapacity(id, action, { caller }) {
      const fresh = new FreshIds(ids);
      const command = { now: clock.now(), sessionId: id, action, actor: actorOf(caller), fresh };
      return nothing(await store.decide(() => decideLimit(command)));
    },
    transcript: (id, place) => transcriptPage(records, id, place),
    messages: createSessionMessages(context),
  };
}

/** Commands about runs. */
export function createRunCommands(context: ApplicationContext): RunCommands {
  const { store, clock, stopping } = context;
  return {
    async create(request, call) {
      const id = await newId(context, call, 'run');
      if (await store.read(() => ask('run', id))) return { ok: true, value: { runId: id } };
      const agent = await agentOf(context, request);
      if (!agent.ok) return agent;
      const budget = request.budget && budgetOf(request.budget);
      const budgets = [
        budget,
        ...request.messages.map((message) => message.budget && budgetOf(message.budget)),
      ];
      const refused = refusalOfTemplates(request) ?? refusalOfBudgets(context.agents, agent.value, budgets);
      if (refused) return refused;
      const name = request.name ?? 'run';
      const prepared = await workspaceOf(context, request, id, agent.value);
      if (!prepared.ok) return prepared;
      const workspace = prepared.value;
      const cwd = workspace?.path ?? request.cwd;
      const newSession = await newId(context, call, 'session');
      const sessionId = await createSession(
        context,
        { agent: agent.value, cwd, title: request.name },
        newSession,
      );
      if (typeof sessionId !== 'string') return sessionId;
      const templates = request.templates ? { templates: true as const } : {};
      const plan = request.messages.map((message) => ({ ...plannedMessage(message), ...templates }));
      const origin = { budget: budget ?? null };
      const about = { id, project: 'default', name, sessionId, plan, origin };
      const command = { now: clock.now(), ...about, ...(workspace ? { workspace } : {}) };
      const begun = await store.decide(() => beginRun(command));
      return begun.ok ? { ok: true, value: { runId: begun.value } } : begun;
    },
    async cancel(id, reason, { caller }) {
      const request = { actor: actorOf(caller), ...(reason === undefined ? {} : { reason }) };
      return nothing(await stopping.cancelRun(id, request));
    },
  };
}

/** Where the run works, if it says so: then the directory is made ready. */
async function workspaceOf(
  { workspaces, agents, defaultCwd }: ApplicationContext,
  request: RunFile,
  runId: RunId,
  agent: string,
): Promise<Answer<PreparedWorkspace | undefined>> {
  const { workspace: how, name = 'run', cwd = defaultCwd } = request;
  // Nothing is made for an agent that there is not.
  if (how === undefined || !agents.find(agent)) return { ok: true, value: undefined };
  const prepared = await workspaces.prepare({ runId, name, how, cwd: resolve(cwd) });
  return prepared.ok ? { ok: true, value: prepared.workspace } : prepared;
}

/**
 * The agent that a run means: a profile that it brings with it goes before a configured one of the same name. All that it
 * brings are added, so that a mistake in one that nothing uses is told too.
 */
async function agentOf({ agents }: ApplicationContext, request: RunFile): Promise<Answer<string>> {
  let name = request.agent;
  for (const [brought, input] of Object.entries(request.agents ?? {})) {
    const added = await agents.add(brought, input);
    if (!added.ok) return added;
    if (brought === request.agent) name = added.value;
  }
  return { ok: true, value: name };
}
