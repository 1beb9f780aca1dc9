import type { ReactNode } from 'react';
import type { WireDefinition } from '../../../../src/contract/schedule.ts';
import { plainBlock, plainLine } from '../../ui/plain.ts';
import view from '../../ui/view.module.css';
import { ruleWords, spanWords } from './schedule-words.ts';

/** What a schedule says, complete: what was left out is filled in. */
export function ScheduleSays({ definition }: { readonly definition: WireDefinition }): ReactNode {
  const { messages, workflow } = definition;
  return (
    <section className={view.section} aria-labelledby="says-title">
      <h2 id="says-title">What it says</h2>
      <div className={view.panel}>
        <dl className={view.said}>
          {factsOf(definition).map(([key, value]) => (
            <div key={key} style={{ display: 'contents' }}>
              <dt>{key}</dt>
              <dd>
                <bdi>{plainLine(value, 400)}</bdi>
              </dd>
            </div>
          ))}
        </dl>
        {messages?.map(({ text, timeout, onFailure, retry, check }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a message is its place.
          <div key={index} className={view.section}>
            <h3>Message {index + 1}</h3>
            <p className={view.facts}>
              <span>timeout {spanWords(timeout)}</span>
              <span>on failure {onFailure}</span>
              {retry && <span>tried again {retry.max} times</span>}
              {check !== undefined && <span>check {plainLine(check, 100)}</span>}
            </p>
            <pre className={view.text}>{plainBlock(text)}</pre>
          </div>
        ))}
        {workflow?.inputs && (
          <pre className={view.text}>{plainBlock(JSON.stringify(workflow.inputs, null, 2))}</pre>
        )}
      </div>
    </section>
  );
}

function factsOf(definition: WireDefinition): [string, string][] {
  const { timezone, agent, cwd, session, workflow, onlyIf, overlap, catchUp } = definition;
  const { budget, notify, workspace, labels } = definition;
  const all: [string, string | undefined][] = [
    ['When', ruleWords(definition)],
    ['Zone', timezone],
    ['Agent', agent],
    ['Directory', cwd],
    ['Conversation', session?.mode],
    [
      'Workflow',
      workflow && `${workflow.name}${workflow.group === undefined ? '' : `, group ${workflow.group}`}`,
    ],
    ['Only if', onlyIf],
    ['While a run is at work', overlap],
    ['Noticed late', `${catchUp.policy}, within ${spanWords(catchUp.window)}`],
    ['Budget', budget && JSON.stringify(budget)],
    ['Tells', notify.length > 0 ? notify.join(', ') : undefined],
    ['Workspace', workspace],
    ['Labels', labels.length > 0 ? labels.join(', ') : undefined],
  ];
  return all.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
}
