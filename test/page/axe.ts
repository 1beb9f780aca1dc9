import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Tab } from './chromium.ts';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules of WCAG 2.2 AA, and what screen readers are helped by beyond it. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What axe finds wrong in what the tab shows: the rule, and where, as `rule: selector (what is wrong)`. */
export async function violationsIn(tab: Tab): Promise<string[]> {
  if (!(await tab.read<boolean>(`typeof axe === 'object'`))) await tab.read(source);
  const run = `axe.run(document, { runOnly: ${JSON.stringify(tags)} }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ': ' + target.join(' ') + ' (' + failureSummary.replace(/\\s+/g, ' ') + ')')))`;
  const found = await tab.read<string[]>(run);
  if (!found) throw new Error('axe could not look at the page');
  return found;
}
