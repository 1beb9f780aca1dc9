/** The variable of the environment in which a shell finds an input, a variable of the group, or a column of the row: `ROW_TITLE`. */
export function variableOf(what: 'INPUT' | 'GROUP' | 'ROW', name: string): string {
  return `${what}_${name.toUpperCase().replace(/[^A-Z0-9_]/g, '_')}`;
}
