import type { z } from 'zod';
import type { Answer } from './rpc-client.ts';
import {
  type CodexTurn,
  type ItemEntry,
  itemsPage,
  loadedList,
  queuePage,
  terminalsPage,
  turnsPage,
} from './wire.ts';

/** Asks the server, with a deadline. */
export type Call = (method: string, params: unknown) => Promise<Answer>;

/** Nothing could be learned: the server did not answer, refused, or answered something else. */
export class Unreadable extends Error {
  /** Whether the server answered, and said no: asking again will not help. */
  readonly isRefusal: boolean;

  constructor(message: string, isRefusal = false) {
    super(message);
    this.isRefusal = isRefusal;
  }
}

/** What was read, or `fallback` when the server has no such thing. Throws `Unreadable` when it did not answer. */
export async function orIfRefused<Value>(reading: Promise<Value>, fallback: Value): Promise<Value> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Unreadable && error.isRefusal) return fallback;
    throw error;
  }
}

const pageSize = 100;
const mostPages = 200;

/**
 * Reads what Codex keeps of its threads. Everything here is evidence of the second rank: it says what has happened, not
 * when it was heard. All methods throw `Unreadable` when nothing could be learned; nothing else.
 */
export class History {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  /** The turns of a thread, newest first, until `isEnough` says so of the turns read so far. */
  async turns(threadId: string, isEnough: (turns: readonly CodexTurn[]) => boolean): Promise<CodexTurn[]> {
    const turns: CodexTurn[] = [];
    const params = { threadId, limit: 20, sortDirection: 'desc', itemsView: 'notLoaded' };
    await this.#pages('thread/turns/list', params, turnsPage, (page) => {
      turns.push(...page);
      return isEnough(turns);
    });
    return turns;
  }

  /** The newest turn, or undefined when there was none yet. */
  async newestTurn(threadId: string): Promise<CodexTurn | undefined> {
    return (await this.turns(threadId, () => true))[0];
  }

  /** The completed items of one turn, in the order of their completion. */
  async itemsOf(threadId: string, turnId: string): Promise<ItemEntry[]> {
    const items: ItemEntry[] = [];
    const params = { threadId, turnId, limit: pageSize, sortDirection: 'asc' };
    await this.#pages('thread/items/list', params, itemsPage, (page) => {
      items.push(...page);
      return false;
    });
    return items;
  }

  /** The turn in which a text with this client id is part of the history; undefined when it is nowhere in it. */
  async turnOfText(threadId: string, clientId: string): Promise<string | undefined> {
    let found: string | undefined;
    const params = { threadId, limit: pageSize, sortDirection: 'desc' };
    await this.#pages('thread/items/list', params, itemsPage, (page) => {
      found = page.find(({ item }) => item.type === 'userMessage' && item.clientId === clientId)?.turnId;
      return found !== undefined;
    });
    return found;
  }

  /** One item of the history, or undefined when it is not there. */
  async item(threadId: string, turnId: string, itemId: string): Promise<ItemEntry | undefined> {
    const result = await this.#ask('thread/items/read', { threadId, turnId, itemIds: [itemId] }, itemsPage);
    return result.data[0];
  }

  /** Commands that run in the background of a thread. */
  async terminals(threadId: string): Promise<z.infer<typeof terminalsPage>['data']> {
    const found: z.infer<typeof terminalsPage>['data'] = [];
    await this.#pages('thread/backgroundTerminals/list', { threadId }, terminalsPage, (page) => {
      found.push(...page);
      return false;
    });
    return found;
  }

  /** What waits in Codex's own queue, which would run by itself. */
  async queued(threadId: string): Promise<z.infer<typeof queuePage>['data']> {
    return (await this.#ask('thread/queue/list', { threadId }, queuePage)).data;
  }

  /** The threads that the server has in memory. */
  async loadedThreads(): Promise<string[]> {
    return (await this.#ask('thread/loaded/list', {}, loadedList)).data;
  }

  async #pages<Entry>(
    method: string,
    params: object,
    schema: z.ZodType<{ data: Entry[]; nextCursor?: string | null | undefined }>,
    take: (page: Entry[]) => boolean,
  ): Promise<void> {
    let cursor: string | undefined;
    for (let count = 0; count < mostPages; count++) {
      const page = await this.#ask(
        method,
        { ...params, ...(cursor === undefined ? {} : { cursor }) },
        schema,
      );
      if (take(page.data) || page.nextCursor == null) return;
      cursor = page.nextCursor;
    }
    throw new Unreadable(`${method} has no end`);
  }

  async #ask<Result>(method: string, params: unknown, schema: z.ZodType<Result>): Promise<Result> {
    const answer = await this.#call(method, params);
    if (answer.outcome !== 'ok')
      throw new Unreadable(`${method}: ${answer.message}`, answer.outcome === 'refused');
    const read = schema.safeParse(answer.result);
    if (!read.success) throw new Unreadable(`${method} answered in a shape that is not known`);
    return read.data;
  }
}
