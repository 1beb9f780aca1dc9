import type { Logger } from 'pino';
import type { Clock } from '../base/clock.ts';
import type { HostRules } from './hosts.ts';
import type { OpenCallers } from './open-callers.ts';
import type { OpenApiDocument } from './openapi.ts';
import type { PageFiles } from './pages.ts';
import type { ApiPorts, Principal } from './ports.ts';
import type { SharedTerminals } from './shared-terminals.ts';
import type { Upgrade } from './upgrade.ts';

/** The bounds of the edge. */
export interface ApiSettings {
  readonly bodyLimitBytes: number;
  readonly keepAliveMs: number;
  readonly streamBufferBytes: number;
}

/** What every part of the edge shares; made once, by `createApi`. */
export interface ApiContext {
  readonly ports: ApiPorts;
  readonly settings: ApiSettings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly page: PageFiles;
  readonly document: OpenApiDocument;
  readonly port: () => number;
  readonly hostRules: () => HostRules;
  /** How the page is reached, without a slash at its end: `https://example.org/stemma`. */
  readonly pageUrl: () => string;
  readonly sharedTerminals: SharedTerminals;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
  readonly openCallers: OpenCallers;
}

/** What Hono carries with a request. */
export interface ApiEnv {
  /** `outgoing`: node's own response, when node serves. `upgrade`: the request asks for a WebSocket. */
  Bindings: { readonly outgoing?: { destroy(): unknown }; readonly upgrade?: Upgrade };
  Variables: { principal: Principal; requestId: number };
}

/** A path with a method, to say 405 rather than 404. */
export interface PathPattern {
  readonly method: string;
  readonly matches: RegExp;
}
