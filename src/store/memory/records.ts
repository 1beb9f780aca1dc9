import type { Records } from '../records.ts';
import type { MemoryState } from './state.ts';
import { requestKey, transcriptKey } from './state.ts';

type Run = <T>(query: () => T) => Promise<T>;

/** The records of the edges in memory. */
export function memoryRecords(state: MemoryState, read: Run, write: Run): Records {
  const { requests, tokens, transcript, meta } = state;
  return {
    reserve: (request) =>
      write(() => {
        const known = requests.get(requestKey(request));
        if (known) return { ...known, isNew: false };
        const { token, route, key, bodyHash, rootId, at } = request;
        const kept = { token, route, key, bodyHash, rootId, at, answer: null };
        requests.set(requestKey(request), kept);
        return { ...kept, isNew: true };
      }),
    keepAnswer: (place, answer) =>
      write(() => {
        const known = requests.get(requestKey(place));
        if (known) requests.set(requestKey(place), { ...known, answer });
      }),
    putToken: (token) =>
      write(() => {
        const clashes = [...tokens.values()].some((other) => other.name === token.name && !other.revokedAt);
        if (tokens.has(token.hash) || clashes) throw new Error(`a token named ${token.name} exists already`);
        tokens.set(token.hash, token);
      }),
    tokenByHash: (hash) => read(() => tokens.get(hash)),
    tokens: () =>
      read(() =>
        [...tokens.values()].sort((a, b) =>
          a.name < b.name ? -1 : a.name > b.name ? 1 : a.createdAt - b.createdAt,
        ),
      ),
    revokeToken: (name, at) =>
      write(() => {
        const valid = [...tokens.values()].find((token) => token.name === name && token.revokedAt === null);
        if (valid) tokens.set(valid.hash, { ...valid, revokedAt: at });
        return valid !== undefined;
      }),
    appendTranscript: (items) =>
      write(() => {
        for (const item of items) {
          if (!state.rows('session').has(item.sessionId)) throw new Error(`no session ${item.sessionId}`);
          if (!transcript.has(transcriptKey(item))) transcript.set(transcriptKey(item), item);
        }
      }),
    transcript: (sessionId, sequence, limit) =>
      read(() =>
        [...transcript.values()]
          .filter((item) => item.sessionId === sessionId && item.sequence > sequence)
          .sort((a, b) => a.sequence - b.sequence)
          .slice(0, limit),
      ),
    transcriptBefore: (sessionId, sequence, limit) =>
      read(() =>
        [...transcript.values()]
          .filter((item) => item.sessionId === sessionId && item.sequence < sequence)
          .sort((a, b) => a.sequence - b.sequence)
          .slice(-limit),
      ),
    readMeta: (key) => read(() => meta.get(key)),
    writeMeta: (key, value) => write(() => void meta.set(key, value)),
  };
}
