import type { AnswerOf, BodyOf, QueryOf, RouteName } from '../contract/routes.ts';
import type { OpenCallers } from './open-callers.ts';
import type { ApiPorts, Call } from './ports.ts';

/** A request after everything that is the same for all routes: parsed, authenticated, allowed. */
export interface RouteRequest<Name extends RouteName> {
  /** The one parameter of the path, as sent: an id, the beginning of one, or a name. */
  readonly parameter: string;
  readonly query: QueryOf<Name>;
  readonly body: BodyOf<Name>;
  readonly call: Call;
  /** Aborted when the client has gone. It ends waits; it never ends work. */
  readonly signal: AbortSignal;
}

/** Serves one route. Throws `StemmaError` for everything expected. */
export type Handler<Name extends RouteName> = (request: RouteRequest<Name>) => Promise<AnswerOf<Name>>;

/** The handlers of some routes. */
export type HandlersOf<Name extends RouteName> = { readonly [N in Name]: Handler<N> };

/** What the handlers need besides the ports. */
export interface HandlerContext {
  readonly ports: ApiPorts;
  /** How the page is reached, without a slash at its end: `http://127.0.0.1:4000`. */
  readonly pageUrl: () => string;
  readonly openCallers: OpenCallers;
}
