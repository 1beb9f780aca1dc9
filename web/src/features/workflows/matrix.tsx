import { Link } from '@tanstack/react-router';
import type { KeyboardEvent, ReactNode } from 'react';
import type { Run } from '../../../../src/contract/run.ts';
import { FromNow } from '../../ui/instant.tsx';
import { StateMark } from '../../ui/state-mark.tsx';
import { shownRun } from '../runs/run-rows.ts';
import { runMatrix } from './run-matrix.ts';
import { stepLook, stepRemarks } from './step-look.ts';
import styles from './workflows.module.css';

/** More rows than these are not drawn. */
const mostSteps = 200;

/** Runs by steps, the newest run first. Each cell opens what its step did in that run; arrow keys go along. */
export function Matrix({
  steps,
  runs,
  chosen,
  choose,
}: {
  readonly steps: readonly string[];
  readonly runs: readonly Run[];
  readonly chosen: { readonly run: string | undefined; readonly step: string | undefined };
  readonly choose: (step: string, run: string) => void;
}): ReactNode {
  const matrix = runMatrix(steps, runs);
  // One cell is in the order of the tab key; arrow keys go to the others.
  const [first = ''] = matrix.steps;
  const firstRun = runs.find((run) => matrix.cell(first, run) !== undefined);
  return (
    <div className={styles.matrix}>
      <table>
        <caption className={styles.hidden}>The runs of the workflow by its steps</caption>
        <thead>
          <tr>
            <th scope="col">Step</th>
            {runs.map((run) => (
              <th key={run.id} scope="col">
                <Link to="/runs/$id" params={{ id: run.id }} className={styles.when}>
                  <StateMark state={shownRun(run)} />
                  {run.createdAt !== undefined && <FromNow at={run.createdAt} />}
                  {run.workflow?.group !== undefined && <span>{run.workflow.group}</span>}
                </Link>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {matrix.steps.slice(0, mostSteps).map((name) => (
            <tr key={name}>
              <th scope="row" title={name}>
                {name}
              </th>
              {runs.map((run) => {
                const step = matrix.cell(name, run);
                if (!step)
                  return (
                    <td key={run.id}>
                      <span className={styles.hidden}>none</span>
                    </td>
                  );
                const look = stepLook(step);
                const isChosen = run.id === chosen.run && name === chosen.step;
                const remarks = stepRemarks(step);
                const words = `${name}: ${look.word}${remarks === '' ? '' : ` (${remarks})`}`;
                return (
                  <td key={run.id}>
                    <button
                      type="button"
                      className={styles.cell}
                      data-tone={look.tone}
                      data-chosen={isChosen || undefined}
                      aria-pressed={isChosen}
                      aria-label={words}
                      title={words}
                      tabIndex={name === first && run === firstRun ? 0 : -1}
                      onKeyDown={move}
                      onClick={() => choose(name, run.id)}
                    >
                      <span aria-hidden="true">{look.sign}</span>
                    </button>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Goes to the cell beside the one that has the focus. */
function move(event: KeyboardEvent<HTMLButtonElement>): void {
  const cell = event.currentTarget.closest('td');
  const row = cell?.parentElement as HTMLTableRowElement | null | undefined;
  if (!cell || !row) return;
  const at = cell.cellIndex;
  const rowTo = { ArrowUp: row.previousElementSibling, ArrowDown: row.nextElementSibling }[event.key];
  const to =
    { ArrowLeft: cell.previousElementSibling, ArrowRight: cell.nextElementSibling }[event.key] ??
    (rowTo as HTMLTableRowElement | null | undefined)?.cells[at];
  const button = to?.querySelector('button');
  if (!button) return;
  event.preventDefault();
  button.focus();
}
