import type { ReactNode } from 'react';
import view from '../../ui/view.module.css';

/** The messages of a schedule in their order. */
export function MessageFields({
  texts,
  problems,
  change,
}: {
  readonly texts: readonly string[];
  readonly problems: readonly string[];
  readonly change: (texts: string[]) => void;
}): ReactNode {
  return (
    <fieldset className={view.panel}>
      <legend>Messages, each sent when the tree of the one before is closed</legend>
      {texts.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a message is its place.
        <div key={index} className={view.section}>
          <label className={view.field}>
            Message {index + 1}
            <textarea value={text} onChange={({ target }) => change(texts.with(index, target.value))} />
          </label>
          {texts.length > 1 && (
            <div className={view.buttons}>
              <button
                type="button"
                disabled={index === 0}
                aria-label={`Move message ${index + 1} up`}
                onClick={() => change(moved(texts, index, index - 1))}
              >
                ↑
              </button>
              <button
                type="button"
                disabled={index === texts.length - 1}
                aria-label={`Move message ${index + 1} down`}
                onClick={() => change(moved(texts, index, index + 1))}
              >
                ↓
              </button>
              <button
                type="button"
                data-tone="bad"
                aria-label={`Remove message ${index + 1}`}
                onClick={() => change(texts.filter((_, at) => at !== index))}
              >
                Remove
              </button>
            </div>
          )}
        </div>
      ))}
      {problems.length > 0 && <p className={view.bad}>{problems.join('; ')}</p>}
      <div className={view.buttons}>
        <button type="button" onClick={() => change([...texts, ''])}>
          Add a message
        </button>
      </div>
    </fieldset>
  );
}

function moved(texts: readonly string[], from: number, to: number): string[] {
  const text = texts[from] ?? '';
  return texts.toSpliced(from, 1).toSpliced(to, 0, text);
}
