import { listQuery, pageOf } from './page.ts';
import * as requests from './requests.ts';
import { at, get, post, type RouteSpec } from './route-spec.ts';
import { session, sessionMessage, transcriptItem } from './session.ts';

/** The routes about sessions. */
export const sessionRoutes = {
  listSessions: {
    ...get,
    path: at('/sessions'),
    summary: 'Sessions, latest activity first',
    query: listQuery,
    answer: pageOf(session),
  },
  createSession: {
    ...post,
    path: at('/sessions'),
    summary: 'Create a session without sending a message',
    body: requests.sessionBody,
    status: 201,
    answer: session,
    launches: true,
  },
  getSession: { ...get, path: at('/sessions/:id'), summary: 'One session', answer: session },
  getTranscript: {
    ...get,
    path: at('/sessions/:id/transcript'),
    summary: 'What was said and done, oldest first',
    query: requests.transcriptQuery,
    answer: pageOf(transcriptItem),
  },
  getMessages: {
    ...get,
    path: at('/sessions/:id/messages'),
    summary: 'What it was told, or will be, newest first, and what became of each',
    query: requests.messagesQuery,
    answer: pageOf(sessionMessage),
  },
  interruptSession: {
    ...post,
    path: at('/sessions/:id/interrupt'),
    summary: 'Ask the running turn to stop; the session and its children live on',
    body: requests.optionalReasonBody,
    status: 202,
    answer: session,
  },
  stopSession: {
    ...post,
    path: at('/sessions/:id/stop'),
    summary: 'Stop the session and cancel what it started',
    body: requests.optionalReasonBody,
    answer: session,
  },
  decideCapacity: {
    ...post,
    path: at('/sessions/:id/capacity'),
    summary: 'Resume a session that waits for capacity or a sign-in, or give up what waits',
    body: requests.capacityBody,
    answer: session,
  },
} as const satisfies Record<string, RouteSpec>;
