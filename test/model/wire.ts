import type { ServerResponse } from 'node:http';
import type { ModelRequest } from './model-request.ts';
import type { Step } from './step.ts';

/** How an answer ended: as the script wanted, or because the agent hung up first. */
export type Answered = 'answered' | 'failed' | 'cut' | 'aborted';

/** A request of an agent, as it arrived over HTTP. */
export interface Arrived {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** 1 for the first request that the server got. */
  readonly number: number;
  /** UTC milliseconds. */
  readonly receivedAt: number;
  /** How many requests of this turn came before; counts this one. */
  readonly requestOfTurn: (turnId: string) => number;
}

/** One protocol between agents and their models. */
export interface Wire {
  /** Whether a POST to this path (without its query) speaks this protocol. */
  takes(path: string): boolean;
  read(arrived: Arrived): ModelRequest;
  /** Carries out one step. Resolves when the response is over. */
  write(step: Step, request: ModelRequest, response: ServerResponse): Promise<Answered>;
  /** What is answered to a POST that agents make beside it and that asks for no turn of the model. */
  aside?(path: string): Readonly<Record<string, unknown>> | undefined;
}
