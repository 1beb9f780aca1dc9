/**
 * Identifiers: a prefix that says what a thing is, then 26 characters that sort by time of birth
 * (48 bits of milliseconds, 80 bits of randomness, Crockford base 32, as in the ULID specification).
 * They are text everywhere: SQLite integers above 2^53 are read wrongly by some bindings.
 */

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** A node of the tree. The id of a root is also its query id. */
export type ExecutionId = Branded<'execution'>;
/** A conversation with an agent. */
export type SessionId = Branded<'session'>;
/** A turn, and the text that begins it: it goes out under this id. */
export type TurnId = Branded<'turn'>;
/** A finished execution's result on its way to a session. */
export type NoticeId = Branded<'notice'>;
/** A text that is put into a running turn: it goes out under this id. */
export type SteerId = Branded<'steer'>;
/** One execution of a sequence of messages. */
export type RunId = Branded<'run'>;
/** A rule that says when a sequence of messages runs. */
export type ScheduleId = Branded<'schedule'>;
/** One instant of a schedule. */
export type OccurrenceId = Branded<'occurrence'>;

/** What each prefix names. */
export const prefixes = {
  execution: 'exe',
  session: 'ses',
  turn: 'trn',
  notice: 'ntc',
  steer: 'str',
  run: 'run',
  schedule: 'sch',
  occurrence: 'occ',
} as const;

type Kind = keyof typeof prefixes;
type IdOf<K extends Kind> = Branded<K>;

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const pattern = /^[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}$/;

/** Makes ids from an injected clock and an injected source of randomness (values in [0, 1)). */
export class Ids {
  readonly #now: () => number;
  readonly #random: () => number;
  #lastMs = -1;
  #counter = 0;

  constructor(now: () => number, random: () => number) {
    this.#now = now;
    this.#random = random;
  }

  /** A new id. It sorts behind every id that this object made before, also when the clock is set back. */
  make<K extends Kind>(kind: K): IdOf<K> {
    return `${prefixes[kind]}_${this.#body()}` as IdOf<K>;
  }

  // A counter takes the first 20 random bits. It starts in their lower half, so half a million ids of one millisecond fit.
  #body(): string {
    const ms = Math.max(this.#now(), this.#lastMs);
    this.#counter = ms === this.#lastMs ? this.#counter + 1 : Math.floor(this.#random() * 0x80000);
    this.#lastMs = ms;
    return encode(ms, 10) + encode(this.#counter, 4) + this.#tail();
  }

  #tail(): string {
    let text = '';
    for (let i = 0; i < 12; i++) text += alphabet[Math.floor(this.#random() * 32)];
    return text;
  }
}

/**
 * Ids for one decision, which may be run twice: the same place gets the same id each time. Made outside the ledger,
 * which has no randomness.
 */
export class FreshIds {
  readonly #ids: Ids;
  readonly #made = new Map<string, string>();

  constructor(ids: Ids) {
    this.#ids = ids;
  }

  /** The id at `place`, a number or a name, of this kind within the decision. */
  at<K extends Kind>(kind: K, place: number | string): IdOf<K> {
    const key = `${kind}:${place}`;
    const known = this.#made.get(key) ?? this.#ids.make(kind);
    this.#made.set(key, known);
    return known as IdOf<K>;
  }
}

function encode(value: number, length: number): string {
  let text = '';
  for (let i = 0, rest = value; i < length; i++, rest = Math.floor(rest / 32))
    text = alphabet[rest % 32] + text;
  return text;
}

/**
 * The id of another kind with the same characters: what is made of a thing exactly once is named by it, so that a
 * repetition finds it.
 */
export function idAs<K extends Kind>(kind: K, id: string): IdOf<K> {
  return `${prefixes[kind]}_${id.slice(4)}` as IdOf<K>;
}

/** Whether `text` is a whole id of this kind. */
export function isId<K extends Kind>(kind: K, text: string): text is IdOf<K> {
  return text.startsWith(`${prefixes[kind]}_`) && pattern.test(text);
}
