import { z } from 'zod';
import { execution, notice, treeView, waitAnswer } from './execution.ts';
import { notificationRoutes } from './notification-routes.ts';
import { listQuery, pageOf } from './page.ts';
import * as requests from './requests.ts';
import { at, get, post, type RouteSpec } from './route-spec.ts';
import { runFile } from './run-file.ts';
import { run, runQuery } from './run.ts';
import { rerunBody } from './schedule.ts';
import { scheduleRoutes } from './schedule-routes.ts';
import { agentCheck, agentView } from './session.ts';
import { sessionRoutes } from './session-routes.ts';
import { tokenRoutes } from './token-routes.ts';
import { settings } from './settings.ts';
import { workflowRoutes } from './workflow-routes.ts';

const executionRoutes = {
  query: {
    ...post,
    path: at('/query'),
    aliases: ['/api/query'],
    summary: 'Send a message; its id is the root of everything that it sets in motion',
    body: requests.queryBody,
    status: 202,
    answer: requests.queryAnswer,
    launches: true,
  },
  listExecutions: {
    ...get,
    path: at('/executions'),
    summary: 'Executions, newest first',
    query: listQuery,
    answer: pageOf(execution),
  },
  getExecution: {
    ...get,
    path: at('/executions/:id'),
    summary: 'One execution',
    answer: execution,
    also: ['execution'],
  },
  registerExecution: {
    ...post,
    path: at('/executions'),
    summary: "Register outside work: a child of the token's execution; with an API token, a root",
    also: ['execution'],
    body: requests.registerBody,
    status: 201,
    answer: requests.registerAnswer,
    launches: true,
  },
  settleExecution: {
    ...post,
    path: at('/executions/:id/settle'),
    summary: 'Say how outside work ended',
    also: ['execution'],
    body: requests.settleBody,
    answer: execution,
  },
  heartbeatExecution: {
    ...post,
    path: at('/executions/:id/heartbeat'),
    summary: 'Say that outside work is alive; hear whether it shall stop',
    also: ['execution'],
    body: requests.heartbeatBody,
    answer: requests.heartbeatAnswer,
  },
  getTree: {
    ...get,
    path: at('/executions/:id/tree'),
    summary: 'The whole tree, and what holds it open',
    also: ['execution'],
    query: requests.treeQuery,
    answer: treeView,
  },
  waitExecution: {
    ...get,
    path: at('/executions/:id/wait'),
    summary: 'Answers the moment it closes, or at the time limit with what holds it',
    also: ['execution', 'session'],
    query: requests.waitQuery,
    answer: waitAnswer,
  },
  cancelExecution: {
    ...post,
    path: at('/executions/:id/cancel'),
    summary: 'Cancel an execution or its whole tree; answers when everything is joined',
    body: requests.cancelBody,
    answer: execution,
  },
  answerExecution: {
    ...post,
    path: at('/executions/:id/answer'),
    summary:
      'Answer what it asks, or the only question below it, which is answered; resume or give up what waits for a limit',
    body: requests.answerBody,
    answer: execution,
  },
  detachExecution: {
    ...post,
    path: at('/executions/:id/detach'),
    summary: 'Let it live on without holding its root',
    body: requests.optionalReasonBody,
    answer: execution,
  },
} as const satisfies Record<string, RouteSpec>;

const noticeRoutes = {
  listNotices: {
    ...get,
    path: at('/notices'),
    summary: 'Notices, newest first',
    query: listQuery,
    answer: pageOf(notice),
  },
  waiveNotice: {
    ...post,
    path: at('/notices/:id/waive'),
    summary: 'Give up the delivery of a result, visibly',
    body: requests.reasonBody,
    answer: notice,
  },
  redeliverNotice: {
    ...post,
    path: at('/notices/:id/redeliver'),
    summary: 'Try the delivery again now',
    body: requests.optionalReasonBody,
    answer: notice,
  },
} as const satisfies Record<string, RouteSpec>;

const otherRoutes = {
  monitor: {
    ...get,
    path: at('/monitor'),
    summary:
      'Live roots and what holds each: pages from the oldest on, in each page those first that wait for input',
    query: listQuery,
    answer: requests.monitorAnswer,
  },
  listRuns: {
    ...get,
    path: at('/runs'),
    summary: 'Runs, newest first',
    query: listQuery,
    answer: pageOf(run),
  },
  createRun: {
    ...post,
    path: at('/runs'),
    summary: 'Send a sequence of messages, each when the tree of the one before is closed',
    body: runFile,
    status: 202,
    answer: requests.runAnswer,
    launches: true,
  },
  getRun: { ...get, path: at('/runs/:id'), summary: 'One run', query: runQuery, answer: run },
  cancelRun: {
    ...post,
    path: at('/runs/:id/cancel'),
    summary: 'Stop the sequence and cancel the tree of its current message',
    body: requests.optionalReasonBody,
    answer: run,
  },
  resumeRun: {
    ...post,
    path: at('/runs/:id/resume'),
    summary: 'Go on with a run that stands still: from the message that failed, or past a limit',
    body: z.strictObject({}),
    answer: run,
    launches: true,
  },
  rerunRun: {
    ...post,
    path: at('/runs/:id/rerun'),
    summary: 'The same run once more, from one of its messages or steps on',
    body: rerunBody,
    answer: run,
    launches: true,
  },
  listAgents: {
    ...get,
    path: at('/agents'),
    summary: 'Agent profiles; with check=true also what a look at each program found',
    query: requests.agentsQuery,
    answer: pageOf(agentView),
  },
  checkAgent: {
    ...post,
    path: at('/agents/:name/check'),
    summary: 'Whether the program of a profile can be started',
    body: z.strictObject({}),
    answer: agentCheck,
  },
  createSignInLink: {
    ...post,
    needs: 'admin',
    path: at('/signin-links'),
    summary: 'A link that signs a browser in, once',
    body: requests.signInBody,
    status: 201,
    answer: requests.signInAnswer,
    answersSecret: true,
  },
  me: { ...get, path: at('/me'), summary: 'Who calls, and what that one may do', answer: requests.meAnswer },
  settings: {
    ...get,
    path: at('/settings'),
    summary: 'How the server is set up, who is told, and what it keeps',
    answer: settings,
  },
  version: { ...get, path: '/version', summary: 'The version of the server', answer: requests.versionAnswer },
} as const satisfies Record<string, RouteSpec>;

/** Every route that answers JSON, by name. The stream, the page, MCP and the probes are not JSON and not here. */
export const routes = {
  ...executionRoutes,
  ...noticeRoutes,
  ...sessionRoutes,
  ...scheduleRoutes,
  ...workflowRoutes,
  ...notificationRoutes,
  ...tokenRoutes,
  ...otherRoutes,
} as const;

export type RouteName = keyof typeof routes;
/** The whole table with the general type, to walk over. */
export const routeTable: Readonly<Record<RouteName, RouteSpec>> = routes;

type SpecOf<Name extends RouteName> = (typeof routes)[Name];
/** What a route answers. */
export type AnswerOf<Name extends RouteName> = z.output<SpecOf<Name>['answer']>;
/** The body as a caller writes it; `undefined` where there is none. */
export type BodyInputOf<Name extends RouteName> =
  SpecOf<Name> extends { body: infer B extends z.ZodType } ? z.input<B> : undefined;
/** The body as the server reads it. */
export type BodyOf<Name extends RouteName> =
  SpecOf<Name> extends { body: infer B extends z.ZodType } ? z.output<B> : undefined;
/** The query string, parsed. */
export type QueryOf<Name extends RouteName> =
  SpecOf<Name> extends { query: infer Q extends z.ZodType } ? z.output<Q> : undefined;

/** Paths that are not JSON routes. */
export const otherPaths = {
  events: at('/events'),
  /** A WebSocket; see `terminal.ts`. */
  terminal: at('/sessions/:id/terminal'),
  mcp: '/mcp',
  page: '/',
  signIn: '/signin',
  healthz: '/healthz',
  readyz: '/readyz',
  metrics: '/metrics',
  openapi: '/openapi.json',
  docs: '/docs',
  errorDocs: '/docs/errors',
} as const;

/** The path of a route with its parameter filled in. */
export function pathOf(name: RouteName, parameter = ''): string {
  return routeTable[name].path.replace(/:[a-z]+/, encodeURIComponent(parameter));
}
