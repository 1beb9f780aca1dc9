import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { scheduleName } from '../contract/schedule-input.ts';

/** A file of a workflow: what it is called, and how to name it to people. */
export interface WorkflowPath {
  readonly name: string;
  /** Absolute. */
  readonly path: string;
}

/** What is in a directory of workflows. */
export interface WorkflowPaths {
  readonly files: readonly WorkflowPath[];
  /** Files that cannot be workflows, and why, in a sentence each. */
  readonly odd: readonly { readonly name: string; readonly why: string }[];
}

/** The largest file that is read as a workflow, in bytes. */
const largestFile = 1_000_000;
/** What is wrong with a file whose name no workflow can have. */
const notAName =
  'the name of the file is the name of the workflow, so call it by letters, digits, ".", "_" and "-", beginning with a letter or a digit';
/** How many files of a directory are workflows; the others are none. */
const mostFiles = 1_000;

/** The workflows of a directory, by name. A directory that is not there has none. */
export async function findWorkflows(directory: string): Promise<WorkflowPaths> {
  const entries = await readdir(directory).catch(() => []);
  const found = entries.filter((entry) => /\.ya?ml$/.test(entry)).sort();
  const files = new Map<string, WorkflowPath>();
  const odd: { name: string; why: string }[] = [];
  for (const entry of found) {
    const name = entry.replace(/\.ya?ml$/, '');
    const path = join(directory, entry);
    const parsed = scheduleName.safeParse(name);
    if (!parsed.success) odd.push({ name, why: `${entry}: ${notAName}` });
    else if (files.has(name))
      odd.push({ name, why: `${entry}: there is another file for "${name}" already` });
    else if (files.size >= mostFiles)
      odd.push({ name, why: `${entry}: a directory has at most ${mostFiles} workflows` });
    else files.set(name, { name, path });
  }
  return { files: [...files.values()], odd };
}

/** The text of a workflow file below `directory`, or why it cannot be read. A link may not lead out of the directory. */
export async function readWorkflowText(
  path: string,
  directory?: string,
): Promise<{ readonly ok: true; readonly text: string } | { readonly ok: false; readonly why: string }> {
  try {
    const found = await realpath(path);
    const top = directory === undefined ? undefined : await realpath(directory);
    if (top !== undefined && !found.startsWith(top.endsWith(sep) ? top : `${top}${sep}`))
      return { ok: false, why: 'it leads out of the directory of the workflows' };
    return await readRegular(found);
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const known = {
      ENOENT: 'there is no such file',
      EACCES: 'it may not be read',
      EISDIR: 'it is a directory',
    };
    return { ok: false, why: known[code as keyof typeof known] ?? message };
  }
}

async function readRegular(path: string): ReturnType<typeof readWorkflowText> {
  // What is no file may never end: a pipe is opened without waiting for whoever writes to it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return { ok: false, why: 'it is no file' };
    if (stat.size > largestFile) return { ok: false, why: `it is larger than ${largestFile} bytes` };
    const bytes = await file.readFile();
    return isUtf8(bytes)
      ? { ok: true, text: bytes.toString('utf8') }
      : { ok: false, why: 'it is not in UTF-8; save it as UTF-8' };
  } finally {
    await file.close();
  }
}
