import { z } from 'zod';
import { notification, targetTest } from './notification.ts';
import { listQuery, pageOf } from './page.ts';
import { at, get, post, type RouteSpec } from './route-spec.ts';

/** The routes about what people are told. */
export const notificationRoutes = {
  listNotifications: {
    ...get,
    path: at('/notifications'),
    summary:
      'What people are told, newest first: whom, and why not; kind is the transition, state that of a dispatch',
    query: listQuery,
    answer: pageOf(notification),
  },
  testTarget: {
    ...post,
    path: at('/notify/:name/test'),
    summary: 'Send a message to a target of notifications now',
    body: z.strictObject({}),
    answer: targetTest,
  },
} as const satisfies Record<string, RouteSpec>;
