const said = process.env['STEMMA_KILLS'] ?? '2';

/** How often a server dies in each window of a kill suite: twice; `STEMMA_KILLS` says otherwise. 20 is the long form, as `all`. */
export const kills = said === 'all' ? 20 : Number(said);

/** As many of these as the server is killed, from the beginning again where there are fewer. */
export function repeated(values: readonly number[], count = kills): number[] {
  return Array.from({ length: count }, (_, index) => values[index % values.length] ?? 1);
}

/** Half as many, at least one: for windows that share their kills with a neighbour. */
export function halved(values: readonly number[]): number[] {
  return repeated(values, Math.ceil(kills / 2));
}
