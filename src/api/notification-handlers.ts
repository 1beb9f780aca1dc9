import { listFilter } from './finding.ts';
import { valueOf } from './problems.ts';
import type { HandlerContext, HandlersOf } from './route-request.ts';

/** The routes about what people are told. */
export function notificationHandlers({
  ports,
}: HandlerContext): HandlersOf<'listNotifications' | 'testTarget'> {
  return {
    listNotifications: async ({ query }) => ports.notifications.list(await listFilter(ports, query)),
    testTarget: async ({ parameter }) => valueOf(await ports.notifications.test(parameter)),
  };
}
