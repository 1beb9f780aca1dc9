import type { WireDefinition } from '../../../../src/contract/schedule.ts';
import type { InputIssue } from '../../../../src/contract/issues.ts';
import { spanWords } from './schedule-words.ts';

/** How a schedule says when. */
export type RuleKind = 'cron' | 'every' | 'at' | 'after';

/** What a person edits of a schedule, as texts; everything else of it stays as it is. */
export interface ScheduleDraft {
  readonly kind: RuleKind;
  /** The expression, the span, the time, or the name of the other schedule. */
  readonly when: string;
  readonly timezone: string;
  readonly agent: string;
  readonly cwd: string;
  readonly overlap: string;
  readonly catchUp: string;
  readonly onlyIf: string;
  readonly labels: string;
  /** Of its messages the texts; undefined where it runs a workflow. */
  readonly messages: readonly string[] | undefined;
  /** The name of its workflow; undefined where it sends messages. */
  readonly workflow: string | undefined;
}

/** A new one, to begin with. */
export const newDraft: ScheduleDraft = {
  kind: 'cron',
  when: '0 2 * * *',
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  agent: '',
  cwd: '',
  overlap: 'skip',
  catchUp: 'latest',
  onlyIf: '',
  labels: '',
  messages: [''],
  workflow: undefined,
};

/** What a person can edit of a schedule, as it is now. */
export function draftOf(definition: WireDefinition): ScheduleDraft {
  const { cron, every, at, after, messages, workflow } = definition;
  const rule: Pick<ScheduleDraft, 'kind' | 'when'> =
    cron !== undefined
      ? { kind: 'cron', when: cron }
      : every !== undefined
        ? { kind: 'every', when: spanWords(every) }
        : at !== undefined
          ? { kind: 'at', when: at }
          : { kind: 'after', when: after?.schedule ?? '' };
  return {
    ...rule,
    timezone: definition.timezone,
    agent: definition.agent ?? '',
    cwd: definition.cwd,
    overlap: definition.overlap,
    catchUp: definition.catchUp.policy,
    onlyIf: definition.onlyIf ?? '',
    labels: definition.labels.join(', '),
    messages: messages?.map(({ text }) => text),
    workflow: workflow?.name,
  };
}

/** The whole schedule as it is sent: what was edited, and the rest as `before` says it. */
export function sentOf(draft: ScheduleDraft, before: WireDefinition | undefined): Record<string, unknown> {
  const {
    cron: _cron,
    every: _every,
    at: _at,
    after,
    messages,
    workflow,
    onlyIf: _onlyIf,
    ...rest
  } = before ?? {};
  const { kind, when } = draft;
  const labels = draft.labels
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '');
  return {
    ...rest,
    [kind]: kind === 'after' ? { ...after, schedule: when.trim() } : when.trim(),
    timezone: draft.timezone.trim(),
    cwd: draft.cwd.trim(),
    overlap: draft.overlap,
    catchUp: { ...before?.catchUp, policy: draft.catchUp },
    labels,
    agent: draft.agent.trim() === '' ? undefined : draft.agent.trim(),
    onlyIf: draft.onlyIf.trim() === '' ? undefined : draft.onlyIf,
    ...(draft.workflow === undefined
      ? { messages: sentMessages(draft.messages ?? [], messages ?? []) }
      : { workflow: { ...workflow, name: draft.workflow.trim() } }),
  };
}

// Who changes a text keeps what was said of that message beside it.
function sentMessages(texts: readonly string[], before: NonNullable<WireDefinition['messages']>): unknown[] {
  return texts.map((text, index) => ({
    ...(before.find((one) => one.text === text) ?? before[index]),
    text,
  }));
}

/** One key whose value would be another one, both as people read them. */
export interface DiffRow {
  readonly key: string;
  readonly before: string;
  readonly after: string;
}

/** What would be different, key by key. */
export function diffRows(
  keys: readonly string[],
  before: WireDefinition | undefined,
  after: WireDefinition,
): DiffRow[] {
  const was = (before ?? {}) as Readonly<Record<string, unknown>>;
  const is = after as Readonly<Record<string, unknown>>;
  return keys.flatMap((key) =>
    key === 'messages'
      ? messageRows(before?.messages ?? [], after.messages ?? [])
      : [{ key, before: valueWords(key, was[key]), after: valueWords(key, is[key]) }],
  );
}

type Messages = NonNullable<WireDefinition['messages']>;

/** Message by message: what would be another one, or not be there. */
function messageRows(before: Messages, after: Messages): DiffRow[] {
  return Array.from({ length: Math.max(before.length, after.length) }, (_, index): DiffRow[] => {
    const [was, is] = [before[index], after[index]];
    if (JSON.stringify(was) === JSON.stringify(is)) return [];
    const isSameBeside = was !== undefined && is !== undefined && optionsOf(was) === optionsOf(is);
    const words = (message: Messages[number] | undefined): string =>
      message === undefined ? '' : isSameBeside ? message.text : `${message.text}\n${optionsOf(message)}`;
    return [{ key: `message ${index + 1}`, before: words(was), after: words(is) }];
  }).flat();
}

function optionsOf({ text: _text, ...options }: Messages[number]): string {
  return Object.entries(options)
    .map(
      ([key, value]) =>
        `${key}: ${key === 'timeout' && typeof value === 'number' ? spanWords(value) : valueWords(key, value)}`,
    )
    .join(', ');
}

function valueWords(key: string, value: unknown): string {
  if (value === undefined) return '';
  if (key === 'every' && typeof value === 'number') return spanWords(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What is wrong with a field: of `messages` also what is wrong with one of them. */
export function issuesAt(issues: readonly InputIssue[], ...paths: readonly string[]): string[] {
  const isAt = ({ path }: InputIssue): boolean =>
    paths.some((one) => path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`));
  return issues
    .filter(isAt)
    .map(({ path, message }) => (paths.includes(path) ? message : `${path}: ${message}`));
}
