import type { ReactNode } from 'react';

/** The lines of each picture, drawn in a square of 24. Letters of a font may be missing; these never are. */
const lines = {
  monitor: 'M3 12h4l3-8 4 16 3-8h4',
  runs: 'M7 4v16l12-8z',
  schedules: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3.5 2',
  workflows: 'M4 4h5v5H4zM15 9.5h5v5h-5zM4 15h5v5H4zM9 6.5h3v11H9M12 12h3',
  sessions: 'M4 5h16v11H10l-4 4v-4H4z',
  agents: 'M6 8h12v11H6zM12 4v4M9.5 12v2M14.5 12v2M3 12v3M21 12v3',
  settings: 'M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4',
  stemma: 'M12 3v6M12 9H6v5M12 9h6v5M4.5 14h3v3h-3zM16.5 14h3v3h-3zM12 9v5M10.5 14h3v3h-3z',
} as const;

/** What can be drawn. */
export type IconName = keyof typeof lines;

/** A picture in the colour and the size of the text about it. It says nothing: a word stands beside it. */
export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return (
    <svg
      viewBox="0 0 24 24"
      width="1.15em"
      height="1.15em"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={lines[name]} />
    </svg>
  );
}
