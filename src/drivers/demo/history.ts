import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

/** What one conversation remembers: its prompts with their answers, and how often each rule was used. */
export interface History {
  readonly sessionId: string;
  readonly turns: { prompt: string; answer: string }[];
  readonly used: Record<string, number>;
}

const shape = z.object({
  sessionId: z.string(),
  turns: z.array(z.object({ prompt: z.string(), answer: z.string() })),
  used: z.record(z.string(), z.number()),
});

/** Where conversations are kept: `STEMMA_DEMO_HOME`, else a folder of the temporary directory. */
export function demoHome(env: NodeJS.ProcessEnv): string {
  return env['STEMMA_DEMO_HOME'] ?? `${env['TMPDIR'] ?? '/tmp'}/stemma-demo-agent`;
}

/** The conversation of that id, or undefined when none was kept or its file is broken. */
export function loadHistory(home: string, sessionId: string): History | undefined {
  if (!/^[\w-]+$/.test(sessionId)) return undefined;
  try {
    return shape.parse(JSON.parse(readFileSync(fileOf(home, sessionId), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Keeps the conversation. A kill at any moment leaves the file before or after, never half of it. */
export function saveHistory(home: string, history: History): void {
  mkdirSync(home, { recursive: true });
  const file = fileOf(home, history.sessionId);
  writeFileSync(`${file}.new`, JSON.stringify(history));
  renameSync(`${file}.new`, file);
}

function fileOf(home: string, sessionId: string): string {
  return `${home}/${sessionId}.json`;
}
