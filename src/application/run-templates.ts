import type { Refusal } from '../api/ports.ts';
import type { RunFile } from '../contract/run-file.ts';
import { parseTemplate } from '../schedules/templates.ts';

/** What is wrong with the templates of a run that says that it has some, if so: known before anything is sent. */
export function refusalOfTemplates({ templates, messages }: RunFile): Refusal | undefined {
  if (!templates) return undefined;
  const issues = messages.flatMap(({ text }, index) => {
    const parsed = parseTemplate(text);
    const found = parsed.ok ? [] : parsed.issues;
    return found.map(({ message }) => ({ path: `messages[${index}].text`, message }));
  });
  const [first] = issues;
  if (!first) return undefined;
  return { ok: false, code: 'INVALID_INPUT', message: `${first.path}: ${first.message}`, data: { issues } };
}
