import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Serial } from '../base/serial.ts';
import { type AgentProfileInput, agentProfileInput } from '../contract/config-file.ts';
import type { Records } from '../store/records.ts';

/** Where profiles are kept between two starts of the server. */
export type ProfileRecords = Pick<Records, 'readMeta' | 'writeMeta'>;

/** A profile that came with a run: the name that the run file gave it, and what it says. */
export interface KeptProfile {
  readonly name: string;
  readonly input: AgentProfileInput;
}

const metaKey = 'ad_hoc_agents';
const mostKept = 1000;

const keptEntry = z.object({ as: z.string(), name: z.string(), input: agentProfileInput });

/**
 * Profiles that came with runs, under names of their own, kept as long as the last thousand that were used: a session is
 * bound to the name of its agent and has to find it again after a restart. One value of the database holds them all, with
 * their environments, in the clear; the data directory is readable for its owner only.
 */
export class KeptProfiles {
  readonly #records: ProfileRecords;
  readonly #writing = new Serial();
  /** By their names here, the one that was used last at the end. Replaced when it was written, never changed. */
  #entries: ReadonlyMap<string, KeptProfile>;

  private constructor(records: ProfileRecords, entries: ReadonlyMap<string, KeptProfile>) {
    this.#records = records;
    this.#entries = entries;
  }

  /** Reads what earlier servers kept. What cannot be read any more is left out: its sessions say so when they are used. */
  static async load(records: ProfileRecords): Promise<KeptProfiles> {
    return new KeptProfiles(records, parseEntries(await records.readMeta(metaKey)));
  }

  find(as: string): KeptProfile | undefined {
    return this.#entries.get(as);
  }

  /** Keeps a profile and answers its name here, `NAME~HASH`; durable when it resolves. The same profile has one name. */
  add(name: string, input: AgentProfileInput): Promise<string> {
    return this.#writing.run(async () => {
      const as = this.#nameFor(name, input);
      const isNewest = [...this.#entries.keys()].at(-1) === as;
      if (isNewest) return as;
      const others = [...this.#entries].filter(([known]) => known !== as);
      const entries = [...others, [as, { name, input }] as const].slice(-mostKept);
      const told = entries.map(([known, profile]) => ({ as: known, ...profile }));
      await this.#records.writeMeta(metaKey, JSON.stringify(told));
      this.#entries = new Map(entries);
      return as;
    });
  }

  // Eight digits tell a thousand profiles apart; where they do not, the whole hash does: a name names one program.
  #nameFor(name: string, input: AgentProfileInput): string {
    const content = canonical({ name, input });
    const hash = createHash('sha256').update(content).digest('hex');
    const short = `${name}~${hash.slice(0, 8)}`;
    const known = this.#entries.get(short);
    return known === undefined || canonical(known) === content ? short : `${name}~${hash}`;
  }
}

function parseEntries(text: string | undefined): Map<string, KeptProfile> {
  const entries = new Map<string, KeptProfile>();
  for (const value of parseList(text)) {
    const read = keptEntry.safeParse(value);
    if (read.success) entries.set(read.data.as, { name: read.data.name, input: read.data.input });
  }
  return entries;
}

function parseList(text: string | undefined): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** JSON in which the order of keys says nothing, so that two ways to write a profile are one. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
