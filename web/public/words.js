// What things are called and how they are shown: the signs and the words of the terminal's tree (src/cli/tree-words.ts).

export const signs = {
  unsent: '○',
  queued: '○',
  running: '●',
  waiting: '◐',
  open: '◎',
  succeeded: '✓',
  failed: '✗',
  cancelled: '⊘',
  lost: '?',
};

/** How an execution is shown: as it ended only once it is closed; before that a tick or a cross would promise too much. */
export function shownState({ state, closed, outcome, waiting }) {
  if (state === 'queued' || state === 'running') return waiting ? 'waiting' : state;
  if (!closed) return 'open';
  return outcome && !(state === 'lost' && outcome === 'failed') ? outcome : state;
}

/** `used 12,300 tokens, $0.41 of $5.00`: at and below a root, or a message with a budget; '' where nobody counted. */
export function spentWords({ spent, budget }) {
  const used = amounts({ usd: spent?.usd, tokens: (spent?.inputTokens ?? 0) + (spent?.outputTokens ?? 0) });
  if (!budget) return used === '' ? '' : `used ${used}`;
  return `used ${used || 'nothing'} of ${amounts(budget)}`;
}

function amounts({ tokens, usd }) {
  const parts = [tokens ? `${tokens.toLocaleString('en')} tokens` : '', usd ? `$${usd.toFixed(2)}` : ''];
  return parts.filter((part) => part !== '').join(', ');
}

/** What is to be known of an execution besides its state, each part a text of its own. */
export function remarksOn(execution, { handles = [], notices = [] } = {}) {
  const { state, closed, open, waiting, error, outcomeCode, result } = execution;
  const isLive = state === 'queued' || state === 'running';
  const remarks = [];
  if (isLive && waiting) remarks.push(waitingWords(waiting));
  if (!isLive && !closed && state !== 'succeeded') remarks.push(`itself ${state}`);
  if (!isLive && !closed && open > 0) remarks.push(`waits for ${open} below`);
  if (handles.length > 0) remarks.push(`handles: ${listed(handles)}`);
  remarks.push(...notices.map(noticeWords).filter((words) => words !== ''));
  const used = spentWords(execution);
  if (used !== '') remarks.push(used);
  if (error) remarks.push(error.message || error.code);
  else if (result) remarks.push(result);
  if (outcomeCode && outcomeCode !== error?.code && outcomeCode !== 'CANCELLED') remarks.push(outcomeCode);
  return remarks.map((text) => shorten(text, 300)).filter((text) => text !== '');
}

/** Why something holds a root open, with the evidence if it is given and says more than the state does. */
export function holdingWords({ why, evidence = '' }) {
  const known = ['running', 'queued', 'waiting', 'cancelling', 'notice_owed'];
  const waits = why === 'waiting' ? /^waits for (.*)$/s.exec(evidence)?.[1] : undefined;
  if (waits !== undefined) return shorten(`waiting for ${waits}`, 200);
  return shorten(`${why.replaceAll('_', ' ')}${known.includes(why) || !evidence ? '' : `: ${evidence}`}`, 200);
}

/** `message Run the checks`: kind and name apart, so that the name can stand in a direction of its own. */
export function titleOf({ kind, name, attempt }, handles = []) {
  const said = kind === 'continuation' && handles.length > 0 ? '' : shorten(name, 200);
  return { kind, name: said === kind ? '' : said, aside: attempt > 1 ? `(attempt ${attempt})` : '' };
}

/** Milliseconds for people: `12s`, `3m05s`, `2h07m`, `4d03h`. */
export function duration(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return pair(seconds, 60, 'm', 's');
  return seconds < 86_400 ? pair(seconds / 60, 60, 'h', 'm') : pair(seconds / 3600, 24, 'd', 'h');
}

/**
 * What an agent wrote, fit for one line. Whatever would act instead of being read goes: escape sequences, controls,
 * marks that reorder the words behind them, invisible tags. It is shown as text only, never as HTML.
 */
export function plain(text) {
  return String(text ?? '')
    .replace(payloads, '')
    .replace(sequences, '')
    .replace(bidiMarks, '')
    .replace(controls, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
}

/** A plain text, cut where it is too long, never inside a character. */
export function shorten(text, longest) {
  const whole = plain(String(text ?? '').slice(0, longest * 4));
  if (whole.length <= longest) return whole;
  return `${whole.slice(0, longest).replace(/[\ud800-\udbff]$/, '')}…`;
}

const payloads = /(?:\x1b[P^_X\]]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)/g;
const sequences = /(?:\x1b\[|\x9b)[0-?]*[ -/]*(?:[@-~]|$)|\x1b[ -/]*[0-~]/g;
const bidiMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const controls = /[\p{Cc}\u2028\u2029\ufeff\u{e0000}-\u{e007f}]/gu;

function pair(value, size, large, small) {
  const total = Math.floor(value);
  return `${Math.floor(total / size)}${large}${String(total % size).padStart(2, '0')}${small}`;
}

function listed(handled) {
  const shown = handled.slice(0, 3).map(({ name, state }) => `${shorten(name, 60)} ${state}`);
  const more = handled.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

function waitingWords({ for: what, text, choices }) {
  return `for ${what}${text ? `: ${text}` : ''}${choices?.length ? ` [${choices.join(' | ')}]` : ''}`;
}

function noticeWords({ state, attempt, reason }) {
  if (state === 'owed') return attempt > 0 ? `result owed again (delivery ${attempt + 1})` : 'result owed';
  if (state === 'claimed') return 'result being delivered';
  if (state === 'handed') return 'result being handled';
  return state === 'waived' ? `result waived${reason ? `: ${reason}` : ''}` : '';
}
