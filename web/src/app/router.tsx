import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { basePath } from '../live/base.ts';
import { NotFound } from './not-found.tsx';
import { Shell } from './shell.tsx';

/*
 * The addresses of the page. Each names one thing by its id or name, so a link to it can be kept and shown to others. Views are
 * loaded when they are first opened.
 */

const shell = createRootRoute({ component: Shell, notFoundComponent: NotFound });
const parent = (): typeof shell => shell;

const monitor = createRoute({
  getParentRoute: parent,
  path: '/',
  // Links of notifications and of older versions: `/#exe_…`.
  beforeLoad: ({ location }) => {
    if (location.hash.startsWith('exe_'))
      throw redirect({ to: '/roots/$id', params: { id: location.hash }, hash: '' });
    if (location.hash.startsWith('run_'))
      throw redirect({ to: '/runs/$id', params: { id: location.hash }, hash: '' });
  },
  component: lazyRouteComponent(() => import('../features/monitor/monitor-view.tsx'), 'MonitorView'),
});
const root = createRoute({
  getParentRoute: parent,
  path: '/roots/$id',
  // What of the tree is open, and which stretch of its time is looked at (`1200-5600`, milliseconds).
  validateSearch: ({
    at,
    zoom,
  }: Record<string, unknown>): { at?: string | undefined; zoom?: string | undefined } => ({
    ...(typeof at === 'string' ? { at } : {}),
    ...(typeof zoom === 'string' ? { zoom } : {}),
  }),
  component: lazyRouteComponent(() => import('../features/root/root-view.tsx'), 'RootView'),
});
const runs = createRoute({
  getParentRoute: parent,
  path: '/runs',
  component: lazyRouteComponent(() => import('../features/runs/runs-view.tsx'), 'RunsView'),
});
const run = createRoute({
  getParentRoute: parent,
  path: '/runs/$id',
  component: lazyRouteComponent(() => import('../features/runs/run-view.tsx'), 'RunView'),
});
const sessions = createRoute({
  getParentRoute: parent,
  path: '/sessions',
  component: lazyRouteComponent(() => import('../features/session/sessions-view.tsx'), 'SessionsView'),
});
const session = createRoute({
  getParentRoute: parent,
  path: '/sessions/$id',
  component: lazyRouteComponent(() => import('../features/session/session-view.tsx'), 'SessionView'),
});
const schedules = createRoute({
  getParentRoute: parent,
  path: '/schedules',
  component: lazyRouteComponent(() => import('../features/schedules/schedules-view.tsx'), 'SchedulesView'),
});
const schedule = createRoute({
  getParentRoute: parent,
  path: '/schedules/$project/$name',
  component: lazyRouteComponent(() => import('../features/schedules/schedule-view.tsx'), 'ScheduleView'),
});
const workflows = createRoute({
  getParentRoute: parent,
  path: '/workflows',
  component: lazyRouteComponent(() => import('../features/workflows/workflows-view.tsx'), 'WorkflowsView'),
});
const workflow = createRoute({
  getParentRoute: parent,
  path: '/workflows/$project/$name',
  // Which step of which run is looked at.
  validateSearch: ({ run, step }: Record<string, unknown>): { run?: string; step?: string } => ({
    ...(typeof run === 'string' ? { run } : {}),
    ...(typeof step === 'string' ? { step } : {}),
  }),
  component: lazyRouteComponent(() => import('../features/workflows/workflow-view.tsx'), 'WorkflowView'),
});
const agents = createRoute({
  getParentRoute: parent,
  path: '/agents',
  component: lazyRouteComponent(() => import('../features/agents/agents-view.tsx'), 'AgentsView'),
});
const settings = createRoute({
  getParentRoute: parent,
  path: '/settings',
  component: lazyRouteComponent(() => import('../features/settings/settings-view.tsx'), 'SettingsView'),
});

/** Every view of the page. */
export const router = createRouter({
  routeTree: shell.addChildren([
    monitor,
    root,
    runs,
    run,
    sessions,
    session,
    schedules,
    schedule,
    workflows,
    workflow,
    agents,
    settings,
  ]),
  basepath: basePath === '' ? '/' : basePath,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
