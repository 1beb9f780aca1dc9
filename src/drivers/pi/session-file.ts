import { z } from 'zod';
import { parseJson } from '../../base/parse-json.ts';
import { readIfThere } from '../../base/read-if-there.ts';

/** What pi's own record of a conversation holds. */
export type SessionFile =
  | { readonly state: 'missing' }
  /** It has no header that pi would accept; pi would empty it. */
  | { readonly state: 'damaged' }
  | { readonly state: 'found'; readonly cwd: string; readonly userTexts: readonly string[] };

const header = z.object({ type: z.literal('session'), id: z.string(), cwd: z.string().catch('') });
const userEntry = z.object({
  type: z.literal('message'),
  message: z.object({
    role: z.literal('user'),
    content: z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]),
  }),
});

/** Reads the file of a conversation: every text in it that a user said. Throws when it is there and cannot be read. */
export function readSessionFile(path: string): SessionFile {
  const text = readIfThere(path);
  if (text === undefined) return { state: 'missing' };
  const [first = '', ...lines] = text.split('\n');
  const head = header.safeParse(parseJson(first));
  if (!head.success) return { state: 'damaged' };
  const userTexts = lines.flatMap((line) => {
    const parsed = userEntry.safeParse(parseJson(line));
    if (!parsed.success) return [];
    const { content } = parsed.data.message;
    return [typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('')];
  });
  return { state: 'found', cwd: head.data.cwd, userTexts };
}
