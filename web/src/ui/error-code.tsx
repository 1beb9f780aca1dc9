import type { ReactNode } from 'react';
import { plainLine } from './plain.ts';

/** The code of an error, with the way to what it means. */
export function ErrorCode({ code }: { readonly code: string }): ReactNode {
  const shown = plainLine(code, 80);
  return (
    <a
      href={`docs/errors#${encodeURIComponent(code)}`}
      target="_blank"
      rel="noreferrer"
      title="What this code means"
    >
      <code>{shown}</code>
    </a>
  );
}
