import { type KeyboardEvent, type ReactNode, useMemo, useRef } from 'react';
import type { Workflow, WorkflowStep } from '../../../../src/contract/workflow.ts';
import view from '../../ui/view.module.css';
import { type GraphLayout, layoutGraph, neighbourOf } from './layered-graph.ts';
import { stepLook } from './step-look.ts';
import styles from './workflows.module.css';

/** More steps than these are no picture any more. */
const mostDrawn = 300;

interface GraphProps {
  readonly steps: Workflow['steps'] | readonly WorkflowStep[];
  /** How far each is in the run that is looked at. */
  readonly states: ReadonlyMap<string, WorkflowStep>;
  readonly chosen: string | undefined;
  readonly choose: (step: string) => void;
}

/** The steps of a workflow by what they need, from the left to the right; arrow keys go along, Enter opens a step. */
export function StepGraph(props: GraphProps): ReactNode {
  const { steps } = props;
  const layout = useMemo(
    () => layoutGraph(steps.slice(0, mostDrawn).map(({ name, needs }) => ({ name, needs }))),
    [steps],
  );
  return (
    <>
      {steps.length > mostDrawn && (
        <p className={view.quiet}>
          The first {mostDrawn} of {steps.length} steps are drawn.
        </p>
      )}
      <Board {...props} layout={layout} />
      <details>
        <summary>The steps as a list</summary>
        <ol>
          {steps.map(({ name, type, needs }) => (
            <li key={name}>
              <bdi>{name}</bdi> ({type}){needs.length > 0 && `, needs ${needs.join(', ')}`}
            </li>
          ))}
        </ol>
      </details>
    </>
  );
}

function Board({
  steps,
  states,
  chosen,
  choose,
  layout,
}: GraphProps & { readonly layout: GraphLayout }): ReactNode {
  const board = useRef<HTMLDivElement>(null);
  const types = new Map(steps.map(({ name, type }) => [name, type]));
  const first = chosen !== undefined && types.has(chosen) ? chosen : layout.nodes[0]?.name;
  const press = (event: KeyboardEvent, name: string): void => {
    const next = neighbourOf(layout, name, event.key);
    if (next === undefined) return;
    event.preventDefault();
    board.current?.querySelector<HTMLElement>(`[data-step="${CSS.escape(next)}"]`)?.focus();
  };
  return (
    <div className={styles.graph}>
      <div
        ref={board}
        className={styles.board}
        role="group"
        aria-label="Steps, by what they need"
        style={{ width: layout.width, height: layout.height }}
      >
        <svg className={styles.edges} width={layout.width} height={layout.height} aria-hidden="true">
          {layout.edges.map(({ from, to, path }) => (
            <path
              key={`${from} ${to}`}
              d={path}
              data-beside={from === chosen || to === chosen || undefined}
            />
          ))}
        </svg>
        {layout.nodes.map(({ name, x, y }) => {
          const step = states.get(name);
          const look = step && stepLook(step);
          const needs = steps.find((one) => one.name === name)?.needs ?? [];
          return (
            <button
              key={name}
              type="button"
              className={styles.node}
              data-step={name}
              data-tone={look?.tone}
              data-chosen={name === chosen || undefined}
              aria-pressed={name === chosen}
              title={name}
              tabIndex={name === first ? 0 : -1}
              style={{ left: x, top: y }}
              onKeyDown={(event) => press(event, name)}
              onClick={() => choose(name)}
            >
              {look && (
                <span className={styles.sign} data-tone={look.tone} aria-hidden="true">
                  {look.sign}
                </span>
              )}
              <span className={styles.nodeName}>
                <span>{name}</span>
                <span className={styles.nodeType}>{types.get(name)}</span>
              </span>
              <span className={styles.hidden}>
                {look && `, ${look.word}`}
                {needs.length > 0 && `, needs ${needs.join(', ')}`}
              </span>
            </button>
          );
        })}
      </div>
    </div>
  );
}
