import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { RunAnswer } from '../../../../src/contract/requests.ts';
import type { Workflow } from '../../../../src/contract/workflow.ts';
import { tell } from '../../live/ask.ts';
import { plainLine } from '../../ui/plain.ts';
import view from '../../ui/view.module.css';
import { defaultWords, sentInputs } from './start-inputs.ts';

/** How a run of a workflow is begun: its inputs, its group, and where it works. */
export function StartWorkflow({
  workflow,
  onEnd,
}: {
  readonly workflow: Workflow;
  readonly onEnd: () => void;
}): ReactNode {
  const navigate = useNavigate();
  const { project, name, inputs: declared, groups, evaluation } = workflow;
  const [filled, setFilled] = useState<Readonly<Record<string, string>>>({});
  const [group, setGroup] = useState('');
  const [cwd, setCwd] = useState('');
  const [isScored, setScored] = useState(true);
  const { inputs, problems } = sentInputs(declared, filled);
  const body = {
    inputs,
    ...(group === '' ? {} : { group }),
    ...(cwd.trim() === '' ? {} : { cwd: cwd.trim() }),
    ...(evaluation === undefined || isScored ? {} : { evaluation: false }),
  };
  const start = useMutation({
    mutationFn: () => tell<RunAnswer>(`/workflows/${encodeURIComponent(`${project}/${name}`)}/run`, body),
    onSuccess: ({ runId }) => void navigate({ to: '/runs/$id', params: { id: runId } }),
  });
  return (
    <form
      className={view.panel}
      aria-label="Start a run"
      onSubmit={(event) => {
        event.preventDefault();
        if (problems.size === 0) start.mutate();
      }}
    >
      <div className={view.fields}>
        {Object.entries(declared).map(([key, input]) => (
          <InputField
            key={key}
            name={key}
            input={input}
            value={filled[key] ?? ''}
            set={(value) => setFilled({ ...filled, [key]: value })}
          />
        ))}
        {groups.length > 0 && (
          <label className={view.field}>
            Group
            <select value={group} onChange={({ target }) => setGroup(target.value)}>
              <option value="">each of them, side by side</option>
              {groups.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
        )}
        <label className={view.field}>
          Directory
          <input
            name="cwd"
            value={cwd}
            placeholder="its project's"
            onChange={({ target }) => setCwd(target.value)}
          />
        </label>
      </div>
      {evaluation !== undefined && (
        <label>
          <input type="checkbox" checked={isScored} onChange={({ target }) => setScored(target.checked)} />{' '}
          scored by {evaluation} when it is closed
        </label>
      )}
      {start.error && (
        <p className={view.bad} role="alert">
          {start.error.message}
        </p>
      )}
      <div className={view.buttons}>
        <button type="submit" data-tone="first" disabled={start.isPending || problems.size > 0}>
          Start it
        </button>
        <button type="button" onClick={onEnd}>
          Cancel
        </button>
        {problems.size > 0 && (
          <span className={view.quiet}>
            {[...problems].map(([key, problem]) => `${key} ${problem}`).join('; ')}
          </span>
        )}
      </div>
    </form>
  );
}

function InputField({
  name,
  input,
  value,
  set,
}: {
  readonly name: string;
  readonly input: Workflow['inputs'][string];
  readonly value: string;
  readonly set: (value: string) => void;
}): ReactNode {
  const standard = defaultWords(input);
  const choices = input.type === 'boolean' ? ['true', 'false'] : input.enum?.map(String);
  return (
    <label className={view.field}>
      {name}
      {input.required && standard === '' && ' (needed)'}
      {choices ? (
        <select name={name} value={value} onChange={({ target }) => set(target.value)}>
          <option value="">{standard === '' ? 'not said' : `${standard} (if not said)`}</option>
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : (
        <input
          name={name}
          value={value}
          placeholder={plainLine(standard, 100)}
          inputMode={input.type === 'number' ? 'decimal' : undefined}
          onChange={({ target }) => set(target.value)}
        />
      )}
      {input.description !== undefined && <span>{plainLine(input.description, 200)}</span>}
    </label>
  );
}
