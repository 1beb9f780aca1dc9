import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { plainLine } from '../../ui/plain.ts';

/** A link to a schedule by `project/name`. */
export function ScheduleLink({ full }: { readonly full: string }): ReactNode {
  const [project = '', name = ''] = full.split('/');
  return (
    <Link to="/schedules/$project/$name" params={{ project, name }}>
      {plainLine(full, 80)}
    </Link>
  );
}
