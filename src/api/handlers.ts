import type { RouteName } from '../contract/routes.ts';
import { executionHandlers, outsideWorkHandlers } from './execution-handlers.ts';
import { notificationHandlers } from './notification-handlers.ts';
import { noticeHandlers, runHandlers, serverHandlers } from './other-handlers.ts';
import { scheduleHandlers } from './schedule-handlers.ts';
import type { HandlerContext, HandlersOf } from './route-request.ts';
import { sessionHandlers } from './session-handlers.ts';
import { tokenHandlers } from './token-handlers.ts';
import { workflowHandlers } from './workflow-handlers.ts';

/** All handlers; that none is missing is checked by the compiler. */
export function createHandlers(context: HandlerContext): HandlersOf<RouteName> {
  return {
    ...executionHandlers(context),
    ...outsideWorkHandlers(context),
    ...sessionHandlers(context),
    ...noticeHandlers(context),
    ...notificationHandlers(context),
    ...runHandlers(context),
    ...scheduleHandlers(context),
    ...workflowHandlers(context),
    ...tokenHandlers(context),
    ...serverHandlers(context),
  };
}
