import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The agent's own record of one conversation. It is found by the conversation's id and by nothing else: a file that is
 * merely the newest may be anybody's. Undefined when there is none. Throws when the place cannot be read.
 */
export function findRecord(configDirectory: string, conversationId: string): string | undefined {
  const projects = join(configDirectory, 'projects');
  if (!existsSync(projects)) return undefined;
  for (const project of readdirSync(projects)) {
    const file = join(projects, project, `${conversationId}.jsonl`);
    if (existsSync(file)) return file;
  }
  return undefined;
}

// A text that begins a turn has its own line; one that was taken up within a turn is an attachment of that turn.
const namesOf = (uuid: string): string[] => [
  `"uuid":"${uuid}"`,
  `"source_uuid":"${uuid}"`,
  `"commandUuid":"${uuid}"`,
];

/**
 * Whether the record holds the text with this UUID: what is not in it, no later process of the conversation knows of.
 * Throws when the record cannot be read.
 */
export function isRecorded(configDirectory: string, conversationId: string, uuid: string): boolean {
  const file = findRecord(configDirectory, conversationId);
  if (file === undefined) return false;
  const names = namesOf(uuid);
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.some((line) => {
    if (line.includes('"type":"queue-operation"') && !line.includes('"absorbed_mid_turn"')) return false;
    return names.some((name) => line.includes(name));
  });
}
