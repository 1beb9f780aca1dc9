import type { Clock } from '../../base/clock.ts';
import type { StdioProcess } from '../../processes/stdio-process.ts';
import type { OpenRequest } from '../port.ts';
import type { SentLog } from './sent-log.ts';

/** What a conversation lives on. */
export interface ConversationParts {
  readonly process: StdioProcess;
  readonly log: SentLog;
  readonly request: OpenRequest;
  readonly clock: Clock;
  /** The file of the conversation. */
  readonly file: string;
  /** Where reading begins, and up to where events are known. */
  readonly from: number;
  readonly floor: number;
}
