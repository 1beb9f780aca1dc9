import { readdir, stat } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import { inZone } from '../base/zoned-time.ts';
import type { AttemptPlace, AttemptRecord, FoundFile, KeptFile, RunRecords } from '../runs/step-ports.ts';
import type { Records, TranscriptItem } from '../store/records.ts';
import { copyOnce, writeOnce } from './immutable-file.ts';

/** What records on disk need. */
export interface DiskRecordsOptions {
  /** Where they are kept; made if need be. */
  readonly directory: string;
  readonly records: Pick<Records, 'transcript'>;
  /** Waits until what was said is stored. */
  readonly flush: () => Promise<void>;
  readonly report: (what: string, data: Readonly<Record<string, unknown>>) => void;
}

/** The most that is kept of a conversation: items, and UTF-16 units of all their texts. */
const mostItems = 100_000;
const longestTranscript = 64_000_000;
const pageItems = 500;
/** How many files of an attempt are listed. */
const mostFiles = 200;
/** The largest file that a copy is made of, in bytes. */
const largestCopy = 256_000_000;
/** How long the name of a step or of an output may be in a path. */
const longestName = 80;

/** Keeps the record of workflows in a directory. */
export function diskRunRecords(options: DiskRecordsOptions): RunRecords {
  const { report } = options;
  const directory = (workflowId: ExecutionId): string => join(options.directory, workflowId);
  const attemptDirectory = ({ workflowId, step, attempt }: AttemptPlace): string =>
    join(directory(workflowId), 'steps', safeName(step), String(attempt));
  const underWay = new Map<string, Promise<boolean>>();
  const tryOnce = async (path: string, write: () => Promise<void>): Promise<boolean> => {
    try {
      await write();
      return true;
    } catch (error) {
      report('record.failed', { path, error: (error as Error).message });
      return false;
    } finally {
      underWay.delete(path);
    }
  };
  // Two who write one file would take its draft away from each other, and neither would have written it.
  const trying = (path: string, write: () => Promise<void>): Promise<boolean> => {
    const writing = underWay.get(path) ?? tryOnce(path, write);
    underWay.set(path, writing);
    return writing;
  };
  const json = (path: string, value: Json): Promise<boolean> =>
    trying(path, () => writeOnce(path, `${JSON.stringify(value, null, 2)}\n`, 'new'));
  const text = (path: string, value: string): Promise<boolean> =>
    trying(path, () => writeOnce(path, value, 'new'));
  return {
    directory,
    attemptDirectory,
    files: (place) => filesIn(attemptDirectory(place)),
    async begin(workflowId, { workflow, inputs }) {
      await json(join(directory(workflowId), 'workflow.json'), workflow);
      await json(join(directory(workflowId), 'inputs.json'), inputs);
    },
    async keepFile(place, name, file) {
      const copy = join(attemptDirectory(place), 'outputs', `${safeName(name)}${suffixOf(file)}`);
      if (file.bytes > largestCopy) {
        report('record.tooLarge', { path: file.path, bytes: file.bytes, limit: largestCopy });
        return file.path;
      }
      return (await trying(copy, () => copyOnce(file.path, copy, 'new'))) ? copy : file.path;
    },
    async writeAttempt(place, record) {
      const path = attemptDirectory(place);
      if (record.prompt !== null) await text(join(path, 'prompt.md'), record.prompt);
      await writeTranscript(options, trying, join(path, 'transcript.jsonl'), record);
      const { answer } = record;
      if (answer) await text(join(path, answer.by === 'agent' ? 'answer.md' : 'output.txt'), answer.text);
      if (Object.keys(record.outputs).length > 0)
        await json(join(path, 'outputs', 'values.json'), record.outputs);
      await json(join(path, 'result.json'), record.result);
    },
    async end(workflowId, result) {
      await json(join(directory(workflowId), 'result.json'), result);
    },
  };
}

/** Files that are whole: what is being written has a name of its own. A directory that cannot be read is empty. */
async function filesIn(directory: string): Promise<KeptFile[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  const whole = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.'));
  const paths = whole.map((entry) => join(entry.parentPath, entry.name)).sort();
  const sizes = await Promise.all(
    paths.slice(0, mostFiles).map(async (path) => {
      const found = await stat(path).catch(() => undefined);
      return found && { path: relative(directory, path), bytes: found.size };
    }),
  );
  return sizes.filter((found) => found !== undefined);
}

async function writeTranscript(
  { records, flush }: DiskRecordsOptions,
  trying: (path: string, write: () => Promise<void>) => Promise<boolean>,
  path: string,
  { sessionId }: AttemptRecord,
): Promise<void> {
  if (sessionId === null) return;
  await trying(path, async () => {
    await flush();
    await writeOnce(path, linesOf(records, sessionId), 'new');
  });
}

/** One item a line; what is beyond the bounds is left out, and the last line says so. */
async function* linesOf(records: Pick<Records, 'transcript'>, sessionId: SessionId): AsyncGenerator<string> {
  let sequence = 0;
  let items = 0;
  let length = 0;
  for (;;) {
    const page = await records.transcript(sessionId, sequence, pageItems);
    for (const item of page) {
      items += 1;
      length += item.text.length;
      if (items > mostItems || length > longestTranscript) {
        yield `${JSON.stringify({ kind: 'cut', text: 'The conversation goes on; no more of it is kept here.' })}\n`;
        return;
      }
      yield lineOf(item);
    }
    const last = page.at(-1);
    if (!last || page.length < pageItems) return;
    sequence = last.sequence;
  }
}

function lineOf({ at, kind, text }: TranscriptItem): string {
  return `${JSON.stringify({ at: inZone(at, 'UTC'), kind, text })}\n`;
}

/** A name that is one part of a path, whatever it was: other characters are written as their code. */
function safeName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9._-]/gu, (char) => `%${(char.codePointAt(0) ?? 0).toString(16)}`);
  const whole = safe.replace(/^\./, '%2e').slice(0, longestName);
  return whole === '' ? '%' : whole;
}

function suffixOf({ path }: FoundFile): string {
  const suffix = extname(path);
  return /^\.[A-Za-z0-9]{1,10}$/.test(suffix) ? suffix : '';
}
