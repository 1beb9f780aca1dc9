import { parse } from 'yaml';
import { StemmaError } from '../base/errors.ts';
import { readProblem, readTextFile } from './text-file.ts';
import { offsetOfTooDeep } from './yaml-depth.ts';

/** The text of a file that is to be run. Throws `NOT_FOUND` when there is none, and `INVALID_CONFIG` when it cannot be read. */
export async function readRunnable(path: string, shown: string): Promise<string> {
  try {
    return await readTextFile(path);
  } catch (thrown) {
    const isMissing = ['ENOENT', 'EISDIR'].includes((thrown as NodeJS.ErrnoException).code ?? '');
    const text = `The run file "${shown}" cannot be read: ${readProblem(thrown)}.`;
    throw new StemmaError(isMissing ? 'NOT_FOUND' : 'INVALID_CONFIG', text, { file: path }, thrown);
  }
}

/** Whether a file says steps, and not messages. What is no YAML is neither, and its reader says so. */
export function isWorkflowText(text: string): boolean {
  try {
    if (offsetOfTooDeep(text) !== undefined) return false;
    const said: unknown = parse(text, { logLevel: 'silent' });
    return typeof said === 'object' && said !== null && 'steps' in said && !('messages' in said);
  } catch {
    return false;
  }
}
