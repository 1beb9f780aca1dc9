import { z } from 'zod';
import { parseJson } from '../../base/parse-json.ts';
import type { Question } from './state.ts';
import { brief } from './wire.ts';

/** The choice that says no to any question. */
export const refusal = 'Refuse';

/** The choices of a permission. Both are for this once: a rule would outlive the run that it was given for. */
const permissionChoices = ['Allow', refusal] as const;

const permission = z.object({
  tool_name: z.string(),
  input: z.record(z.string(), z.unknown()),
  decision_reason: z.string().optional().catch(undefined),
});

const choosing = z.object({
  questions: z
    .array(
      z.object({
        question: z.string(),
        multiSelect: z.boolean().optional().catch(undefined),
        options: z.array(z.object({ label: z.string() })),
      }),
    )
    .length(1),
});

/** Reads a `can_use_tool` request; undefined when it is none that can be shown. */
export function readQuestion(
  request: Readonly<Record<string, unknown>>,
  isOrphan: boolean,
): Question | undefined {
  const parsed = permission.safeParse(request);
  if (!parsed.success) return undefined;
  const { tool_name: name, input, decision_reason: reason } = parsed.data;
  const asked = readChoice(request);
  if (asked) return { text: asked.text, choices: [...asked.options, refusal], isOrphan, request };
  const what = `${name} ${brief(describe(input), 2000)}`;
  const text = reason === undefined ? what : `${what} (${reason})`;
  return { text, choices: permissionChoices, isOrphan, request };
}

/** What a question with choices of its own asks. One that is several, or wants several answers, cannot be shown as one. */
export function readChoice(
  request: Readonly<Record<string, unknown>>,
): { readonly text: string; readonly options: readonly string[] } | undefined {
  if (request['tool_name'] !== 'AskUserQuestion') return undefined;
  const [first] = choosing.safeParse(request['input']).data?.questions ?? [];
  if (!first || first.multiSelect) return undefined;
  return { text: first.question, options: first.options.map(({ label }) => label) };
}

/** The value of a tool's one telling argument, else all of them. */
function describe(input: Readonly<Record<string, unknown>>): string {
  for (const name of ['command', 'file_path', 'url', 'query', 'plan']) {
    const value = input[name];
    if (typeof value === 'string') return value;
  }
  return JSON.stringify(input);
}

/** The tool and its input of an item of the transcript, on one line. */
export function describeCall(name: string, input: string): string {
  const parsed = z.record(z.string(), z.unknown()).safeParse(parseJson(input));
  return `${name} ${parsed.success ? describe(parsed.data) : input}`.trim();
}
