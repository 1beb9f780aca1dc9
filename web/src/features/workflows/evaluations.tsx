import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Run } from '../../../../src/contract/run.ts';
import { FromNow } from '../../ui/instant.tsx';
import { Plot, type PlotTone } from '../../ui/plot.tsx';
import { StateMark } from '../../ui/state-mark.tsx';
import view from '../../ui/view.module.css';
import { scoreSeries, scoresOf } from './scores.ts';

/** The colours of the lines: what differs beyond them is told in the table. */
const tones: readonly PlotTone[] = ['running', 'good', 'wait', 'bad'];

/** What the runs of a workflow were scored: over time, and run by run. */
export function Evaluations({ runs }: { readonly runs: readonly Run[] }): ReactNode {
  const { at, lines } = scoreSeries(runs);
  const scored = runs.filter(({ scoring }) => scoring !== undefined);
  const drawn = lines.slice(0, tones.length).map(({ name, values }, index) => ({
    label: name,
    tone: tones[index] ?? 'running',
    axis: 'score',
    values,
  }));
  return (
    <section className={view.section} aria-labelledby="evaluations-title">
      <h2 id="evaluations-title">Evaluations</h2>
      {at.length > 0 && (
        <Plot
          at={at}
          lines={drawn}
          axes={[{ name: 'score', words: (value) => value.toLocaleString('en') }]}
          label={`Scores over time: ${lines.map(({ name }) => name).join(', ')}`}
        />
      )}
      <div className={view.scroller}>
        <table>
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col">Evaluation</th>
              {lines.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {scored.map((run) => (
              <Evaluation key={run.id} run={run} names={lines.map(({ name }) => name)} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Evaluation({ run, names }: { readonly run: Run; readonly names: readonly string[] }): ReactNode {
  const { scoring, outcome, createdAt } = run;
  if (!scoring) return null;
  const scores = scoresOf(scoring);
  return (
    <tr>
      <td>
        <Link to="/runs/$id" params={{ id: run.id }}>
          {outcome && <StateMark state={outcome} />} {createdAt !== undefined && <FromNow at={createdAt} />}
        </Link>
      </td>
      <td>
        {scoring.executionId !== undefined && (
          <Link to="/roots/$id" params={{ id: scoring.executionId }}>
            <StateMark state={scoring.outcome ?? 'running'} word />
          </Link>
        )}
      </td>
      {names.map((name) => (
        <td key={name}>{scores.get(name)?.toLocaleString('en') ?? '–'}</td>
      ))}
    </tr>
  );
}
