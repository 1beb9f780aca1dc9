import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { InputIssue } from '../../../../src/contract/issues.ts';
import type { PreviewAnswer, Schedule, WireDefinition } from '../../../../src/contract/schedule.ts';
import { AskError, tell } from '../../live/ask.ts';
import { useWhyNot } from '../../live/who.ts';
import view from '../../ui/view.module.css';
import { ScheduleChange } from './schedule-change.tsx';
import { schedulePath } from './schedule-actions.tsx';
import { type ScheduleDraft, sentOf } from './schedule-draft.ts';
import { ScheduleFields } from './schedule-fields.tsx';

/** A schedule as it is edited: its fields, what the server says of them, and what would be different before it is so. */
export function ScheduleEditor({
  named,
  before,
  first,
  onEnd,
}: {
  readonly named: Pick<Schedule, 'project' | 'name'>;
  readonly before: WireDefinition | undefined;
  readonly first: ScheduleDraft;
  readonly onEnd: (isDone: boolean) => void;
}): ReactNode {
  const [draft, setDraft] = useState(first);
  const whyNot = useWhyNot();
  const sent = sentOf(draft, before);
  const look = useMutation({
    mutationFn: () => tell<PreviewAnswer>(schedulePath(named, '/preview'), sent),
  });
  const apply = useMutation({
    mutationFn: () => tell<Schedule>(schedulePath(named), sent, { method: 'PUT' }),
    onSuccess: () => onEnd(true),
  });
  const change = (next: ScheduleDraft): void => {
    setDraft(next);
    // What was looked at is not what would be done any more.
    look.reset();
    apply.reset();
  };
  const error = look.error ?? apply.error;
  return (
    <form
      className={view.section}
      onSubmit={(event) => {
        event.preventDefault();
        look.mutate();
      }}
    >
      <ScheduleFields draft={draft} change={change} issues={issuesOf(error)} />
      {error && (
        <p className={view.bad} role="alert">
          {error.message}
        </p>
      )}
      {look.data && <ScheduleChange preview={look.data} isNew={before === undefined} />}
      <div className={view.buttons}>
        <button type="submit" disabled={look.isPending || whyNot !== undefined} title={whyNot}>
          Show what would change
        </button>
        <button
          type="button"
          data-tone="first"
          disabled={!look.data || apply.isPending || (before !== undefined && look.data.changed.length === 0)}
          onClick={() => apply.mutate()}
        >
          {before === undefined ? 'Make it' : 'Apply the change'}
        </button>
        <button type="button" onClick={() => onEnd(false)}>
          Cancel
        </button>
      </div>
    </form>
  );
}

function issuesOf(error: Error | null): readonly InputIssue[] {
  const issues = error instanceof AskError ? error.data['issues'] : undefined;
  return Array.isArray(issues) ? (issues as InputIssue[]) : [];
}
