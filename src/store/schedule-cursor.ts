import type { Schedule } from '../ledger/schedule.ts';

/** The cursor behind a schedule in a list by project and name. Names have no slash. */
export function cursorOf({ project, name, id }: Pick<Schedule, 'project' | 'name' | 'id'>): string {
  return `${project}/${name}/${id}`;
}

/** Project, name and id behind which a list goes on; before all of them without a cursor. */
export function placeOf(cursor: string | undefined): readonly [project: string, name: string, id: string] {
  const [project = '', name = '', id = ''] = (cursor ?? '').split('/');
  return [project, name, id];
}
