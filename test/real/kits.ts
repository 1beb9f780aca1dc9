import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { AgentKit } from './kit.ts';

const directory = dirname(fileURLToPath(import.meta.url));

/** Every kit that there is: what the files `NAME-kit.ts` beside this one export under `NAMEKit`, in one word. A new file is a new kit. */
export async function findKits(): Promise<AgentKit[]> {
  const files = readdirSync(directory).filter((name) => name.endsWith('-kit.ts'));
  const kits: AgentKit[] = [];
  for (const file of files.sort()) {
    const words = file.slice(0, -'-kit.ts'.length);
    const name = words.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    const exported = (await import(pathToFileURL(join(directory, file)).href)) as Record<string, unknown>;
    const kit = exported[`${name}Kit`] as AgentKit | undefined;
    if (kit) kits.push(kit);
  }
  return kits;
}
