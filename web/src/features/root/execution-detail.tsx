import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import type { Execution, TreeView } from '../../../../src/contract/execution.ts';
import { stepStateWords } from '../../../../src/words/step-words.ts';
import { useNow } from '../../live/clock.ts';
import { executionQuery } from '../../live/queries.ts';
import { plainLine } from '../../ui/plain.ts';
import { StateMark } from '../../ui/state-mark.tsx';
import { shownState, titleOf } from '../../ui/words.ts';
import { DetailActions } from './detail-actions.tsx';
import { DetailFacts } from './detail-facts.tsx';
import { DetailNotices } from './detail-notices.tsx';
import { DetailTexts } from './detail-texts.tsx';
import styles from './root.module.css';
import type { TraceRow } from './trace.ts';

interface DetailProps {
  readonly row: TraceRow;
  readonly view: TreeView;
  readonly onChoose: (key: string) => void;
  readonly onClose: () => void;
}

/** All that is known of one execution, and what can be done with it. */
export function ExecutionDetail(props: DetailProps): ReactNode {
  const { row, onClose } = props;
  const pane = useRef<HTMLElement>(null);
  const close = (): void => {
    const place = document.querySelector<HTMLElement>('[role="treegrid"] [role="row"][tabindex="0"]');
    onClose();
    place?.focus({ preventScroll: true });
  };
  useEscape(pane, close);
  return (
    <aside ref={pane} className={styles.detail} aria-labelledby="detail-title" tabIndex={-1}>
      <div className={styles.detailHead}>
        <h2 id="detail-title">
          <bdi>
            {row.kind === 'execution' ? titleOf(row.node.execution) : `step ${plainLine(row.step.name, 200)}`}
          </bdi>
        </h2>
        <button type="button" onClick={close} aria-label="Close the detail" title="Close (Esc)">
          ✕
        </button>
      </div>
      {row.kind === 'execution' ? <OfExecution {...props} row={row} /> : <OfStep row={row} />}
    </aside>
  );
}

/** Takes the focus when it opens, and closes by Escape from wherever in it the focus is. */
function useEscape(pane: RefObject<HTMLElement | null>, close: () => void): void {
  const latest = useRef(close);
  useEffect(() => {
    latest.current = close;
  });
  useEffect(() => {
    const element = pane.current;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && !event.defaultPrevented) latest.current();
    };
    element?.focus({ preventScroll: true });
    element?.addEventListener('keydown', onKeyDown);
    return () => element?.removeEventListener('keydown', onKeyDown);
  }, [pane]);
}

function OfExecution({
  row,
  view,
  onChoose,
}: DetailProps & { readonly row: TraceRow & { readonly kind: 'execution' } }): ReactNode {
  const brief = row.node.execution;
  // The tree has beginnings alone of long texts.
  const whole = useQuery({ ...executionQuery(brief.id, view.root), enabled: brief.resultCut === true });
  const execution: Execution = whole.data ? { ...brief, ...pickTexts(whole.data) } : brief;
  return (
    <>
      <div className={styles.facts}>
        <StateMark state={shownState(execution)} word />
        <code className={styles.quiet}>{execution.id}</code>
      </div>
      <DetailActions execution={execution} />
      <DetailTexts execution={execution} />
      <DetailNotices row={row} view={view} onChoose={onChoose} />
      <DetailFacts row={row} view={view} onChoose={onChoose} />
    </>
  );
}

function pickTexts({ result, error }: Execution): Partial<Execution> {
  return { ...(result === undefined ? {} : { result }), ...(error ? { error } : {}), resultCut: false };
}

function OfStep({ row }: { readonly row: TraceRow & { readonly kind: 'step' } }): ReactNode {
  const now = useNow();
  const { step } = row;
  return (
    <>
      <p>{stepStateWords(step, now)}</p>
      <p className={styles.quiet}>
        A step of kind {step.type} that has no attempt at work
        {step.tries > 0 && `; it was tried ${step.tries} ${step.tries === 1 ? 'time' : 'times'}`}.
      </p>
      {step.reused !== undefined && (
        <p>
          <Link to="/roots/$id" params={{ id: step.reused }}>
            The attempt that counts for it
          </Link>
        </p>
      )}
    </>
  );
}
