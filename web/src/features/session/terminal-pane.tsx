import { type ReactNode, useEffect, useRef, useState } from 'react';
import { plainLine } from '../../ui/plain.ts';
import type { TerminalState } from '../../live/terminal-link.ts';
import { openTerminalScreen, type TerminalScreen } from './terminal-screen.ts';
import styles from './terminal.module.css';

/** The agent's own screen, live: one viewer owns it, types and gives it its size; the others watch, and can take it over. */
export function TerminalPane({ sessionId }: { readonly sessionId: string }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const screen = useRef<TerminalScreen>(undefined);
  const [state, setState] = useState<TerminalState>({ state: 'connecting' });
  const [speaks, setSpeaks] = useState(false);
  useEffect(() => {
    if (!box.current) return;
    const opened = openTerminalScreen(box.current, sessionId, setState);
    screen.current = opened;
    opened.connect();
    return () => {
      screen.current = undefined;
      opened.end();
    };
  }, [sessionId]);
  const isOwner = state.state === 'shown' && state.place.isOwner;
  const mayTake = state.state === 'shown' && !state.place.isOwner && state.place.mayType;
  return (
    <section className={styles.pane} aria-label="Terminal">
      <div
        className={styles.bar}
        role="status"
        id="terminal-state"
        data-state={state.state}
        data-owner={isOwner}
      >
        <span>{wordsOf(state)}</span>
        {mayTake && (
          <button
            type="button"
            onClick={() => {
              screen.current?.take();
              screen.current?.focus();
            }}
          >
            {state.place.isOwned ? 'Take over' : 'Take it'}
          </button>
        )}
        {state.state === 'ended' && (
          <button
            type="button"
            onClick={() => {
              setState({ state: 'connecting' });
              screen.current?.connect();
            }}
          >
            Open again
          </button>
        )}
        <button
          type="button"
          className={styles.speaks}
          aria-pressed={speaks}
          onClick={() => {
            screen.current?.speak(!speaks);
            setSpeaks(!speaks);
          }}
        >
          For a screen reader
        </button>
        {isOwner && <span className={styles.hint}>Ctrl+Alt+Escape leaves it</span>}
      </div>
      <div
        className={styles.screen}
        ref={box}
        data-watches={!isOwner || undefined}
        onKeyDownCapture={(event) => {
          // Every other key is the agent's: this one gives the keyboard back.
          if (event.key !== 'Escape' || !event.ctrlKey || !event.altKey) return;
          event.preventDefault();
          event.stopPropagation();
          document.getElementById('tab-terminal')?.focus();
        }}
      />
    </section>
  );
}

function wordsOf(state: TerminalState): string {
  switch (state.state) {
    case 'connecting':
      return 'connecting…';
    case 'lost':
      return 'The connection broke; trying again…';
    case 'ended':
      return plainLine(state.reason, 400);
    case 'shown':
      if (state.place.isOwner) return 'You have the terminal.';
      if (!state.place.mayType) return 'You watch: you are signed in to read only.';
      return state.place.isOwned
        ? 'You watch: somebody else has the terminal.'
        : 'You watch: nobody has the terminal.';
  }
}
