import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useId } from 'react';
import type { InputIssue } from '../../../../src/contract/issues.ts';
import { agentsQuery, workflowsQuery } from '../../live/queries.ts';
import view from '../../ui/view.module.css';
import { MessageFields } from './message-fields.tsx';
import { issuesAt, type RuleKind, type ScheduleDraft } from './schedule-draft.ts';

interface FieldsProps {
  readonly draft: ScheduleDraft;
  readonly change: (draft: ScheduleDraft) => void;
  readonly issues: readonly InputIssue[];
}

const ruleHints: Readonly<Record<RuleKind, string>> = {
  cron: 'Minute, hour, day, month, weekday: 0 2 * * *',
  every: 'A span: 15m, 2h, 1d',
  at: 'Once: 2027-01-01T09:00',
  after: 'The name of another schedule of the project',
};

/** What a person says of a schedule, each field with what is wrong with it. */
export function ScheduleFields({ draft, change, issues }: FieldsProps): ReactNode {
  const set = (part: Partial<ScheduleDraft>): void => change({ ...draft, ...part });
  return (
    <>
      <div className={view.fields}>
        <WhenFields draft={draft} change={change} issues={issues} />
        <Text
          label="Zone"
          path="timezone"
          value={draft.timezone}
          issues={issues}
          set={(timezone) => set({ timezone })}
        />
        <AgentField draft={draft} change={change} issues={issues} />
        <Text label="Directory" path="cwd" value={draft.cwd} issues={issues} set={(cwd) => set({ cwd })} />
        <Choice
          label="While a run is at work"
          value={draft.overlap}
          options={overlaps}
          set={(overlap) => set({ overlap })}
        />
        <Choice
          label="What was noticed late"
          value={draft.catchUp}
          options={catchUps}
          set={(catchUp) => set({ catchUp })}
        />
        <Text
          label="Only if (a shell command)"
          path="onlyIf"
          value={draft.onlyIf}
          issues={issues}
          set={(onlyIf) => set({ onlyIf })}
        />
        <Text
          label="Labels"
          path="labels"
          value={draft.labels}
          issues={issues}
          set={(labels) => set({ labels })}
        />
      </div>
      <WorkFields draft={draft} change={change} issues={issues} />
    </>
  );
}

const overlaps = [
  ['skip', 'skip: the instant is skipped'],
  ['queueOne', 'queueOne: one waits'],
  ['cancelOther', 'cancelOther: the run is cancelled'],
  ['allow', 'allow: beside it'],
] as const;
const catchUps = [
  ['latest', 'latest: the newest runs'],
  ['all', 'all: each runs'],
  ['none', 'none: none runs'],
] as const;

function WhenFields({ draft, change, issues }: FieldsProps): ReactNode {
  return (
    <>
      <Choice
        label="When"
        value={draft.kind}
        options={[
          ['cron', 'by a cron expression'],
          ['every', 'every so often'],
          ['at', 'once'],
          ['after', 'after another schedule'],
        ]}
        set={(kind) => change({ ...draft, kind: kind as RuleKind })}
      />
      <Text
        label={ruleHints[draft.kind]}
        path={draft.kind}
        value={draft.when}
        issues={issues}
        set={(when) => change({ ...draft, when })}
      />
    </>
  );
}

function AgentField({ draft, change, issues }: FieldsProps): ReactNode {
  const agents = useQuery(agentsQuery(false));
  const names = agents.data?.items.map(({ name }) => name) ?? [];
  return (
    <Text
      label="Agent"
      path="agent"
      value={draft.agent}
      issues={issues}
      options={names}
      set={(agent) => change({ ...draft, agent })}
    />
  );
}

function WorkFields({ draft, change, issues }: FieldsProps): ReactNode {
  const workflows = useQuery({ ...workflowsQuery(), enabled: draft.workflow !== undefined });
  const toWorkflow = (isWorkflow: boolean): void =>
    change({
      ...draft,
      workflow: isWorkflow ? '' : undefined,
      messages: isWorkflow ? undefined : [''],
    });
  return (
    <>
      <Choice
        label="What it does"
        value={draft.workflow === undefined ? 'messages' : 'workflow'}
        options={[
          ['messages', 'sends messages, one after the other'],
          ['workflow', 'runs a workflow'],
        ]}
        set={(what) => toWorkflow(what === 'workflow')}
      />
      {draft.workflow === undefined ? (
        <MessageFields
          texts={draft.messages ?? []}
          problems={issuesAt(issues, 'messages')}
          change={(messages) => change({ ...draft, messages })}
        />
      ) : (
        <Text
          label="Workflow"
          path="workflow"
          value={draft.workflow}
          issues={issues}
          options={workflows.data?.items.map(({ name }) => name) ?? []}
          set={(workflow) => change({ ...draft, workflow })}
        />
      )}
    </>
  );
}

function Text({
  label,
  path,
  value,
  issues,
  options = [],
  set,
}: {
  readonly label: string;
  /** The key of the schedule that the field says. */
  readonly path: string;
  readonly value: string;
  readonly issues: readonly InputIssue[];
  readonly options?: readonly string[];
  readonly set: (value: string) => void;
}): ReactNode {
  const id = useId();
  const problems = issuesAt(issues, path);
  return (
    <label className={view.field}>
      {label}
      <input
        name={path}
        value={value}
        list={options.length > 0 ? `${id}-options` : undefined}
        aria-invalid={problems.length > 0 || undefined}
        aria-describedby={problems.length > 0 ? `${id}-problem` : undefined}
        onChange={({ target }) => set(target.value)}
      />
      {options.length > 0 && (
        <datalist id={`${id}-options`}>
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </datalist>
      )}
      {problems.length > 0 && (
        <span className={view.bad} id={`${id}-problem`}>
          {problems.join('; ')}
        </span>
      )}
    </label>
  );
}

function Choice({
  label,
  value,
  options,
  set,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, words: string])[];
  readonly set: (value: string) => void;
}): ReactNode {
  return (
    <label className={view.field}>
      {label}
      <select value={value} onChange={({ target }) => set(target.value)}>
        {options.map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
