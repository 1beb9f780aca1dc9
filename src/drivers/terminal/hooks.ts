import { z } from 'zod';
import { parseJson } from '../../base/parse-json.ts';

const hookSchema = z.object({
  hook_event_name: z.string(),
  /** Why a session starts: `startup`, `resume`, `clear`, `compact`. */
  source: z.string().optional(),
  transcript_path: z.string().optional(),
  session_id: z.string().optional(),
  prompt_id: z.string().optional(),
  tool_use_id: z.string().optional(),
  tool_name: z.string().optional(),
});

/** What a hook of the agent told. */
export type Hook = z.infer<typeof hookSchema>;

/** One line of the file that hooks write to; undefined for what is none. */
export function readHook(line: string): Hook | undefined {
  return hookSchema.safeParse(parseJson(line)).data;
}
