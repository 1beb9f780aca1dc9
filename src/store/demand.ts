/** Throws when a constraint does not hold for a row: a bug. */
export function demand(holds: boolean, what: string, id: string): void {
  if (!holds) throw new Error(`constraint failed for ${id}: ${what}`);
}
