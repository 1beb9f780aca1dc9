// The server: one request, one refresh at a time, one stream of events.

const answerMs = 15_000;
const shortestPauseMs = 250;
const pausesPerRequest = 2;

/** Server time minus the time of this machine, in milliseconds. */
let skewMs = 0;

/** The present, by the server's clock. */
export function now() {
  return Date.now() + skewMs;
}

/** A JSON answer. Throws an error whose `status` is that of a refusal; without one, no answer came. */
export function ask(path) {
  return request(path, {});
}

/** Sends a JSON body; answers and throws as `ask` does. */
export function tell(path, body) {
  const headers = { 'content-type': 'application/json' };
  return request(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function request(path, { headers = {}, ...rest }) {
  const response = await fetch(`/api/v1${path}`, {
    ...rest,
    headers: { accept: 'application/json', ...headers },
    signal: AbortSignal.timeout(answerMs),
  });
  const date = Date.parse(response.headers.get('date') ?? '');
  if (Number.isFinite(date)) skewMs = date - Date.now();
  const answer = await response.json();
  if (response.ok) return answer;
  throw Object.assign(new Error(answer.detail ?? `HTTP ${response.status}`), { status: response.status });
}

/**
 * Runs one load at a time; what is asked for meanwhile runs once more after it, however often it was asked for. An answer
 * that takes long is asked for less often.
 */
export function refresher(load, failed) {
  let running;
  let again = false;
  let timer;
  let tookMs = 0;
  const now = () => {
    if (running) {
      again = true;
      return running;
    }
    const began = performance.now();
    running = load().finally(() => {
      running = undefined;
      tookMs = performance.now() - began;
      if (again) soon();
      again = false;
    });
    return running;
  };
  const soon = () => {
    timer ??= setTimeout(
      () => {
        timer = undefined;
        now().catch(failed);
      },
      Math.max(shortestPauseMs, tookMs * pausesPerRequest),
    );
  };
  return { now, soon };
}

/** Follows the events behind a cursor. `broken` is called once, when the stream has ended; nothing comes after it. */
export function followEvents(cursor, { opened, heard, broken }) {
  const source = new EventSource(`/api/v1/events?after=${encodeURIComponent(cursor)}`);
  source.onopen = opened;
  source.onmessage = ({ data }) => heard(JSON.parse(data));
  source.addEventListener('reset', () => heard({ data: {} }));
  source.onerror = () => {
    // The browser would try again by itself, but not after every error; who begins anew misses nothing either way.
    source.close();
    broken();
  };
  return { close: () => source.close() };
}
