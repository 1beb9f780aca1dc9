/** Rows beyond the edges that are drawn too; and the range changes by so many at once, so that it changes seldom. */
const beyond = 20;
const atOnce = 8;

/** The places of the rows to draw for a stretch of the screen; pixels from the top of the first row. */
export function rowsOnScreen({
  count,
  height,
  from,
  to,
}: {
  readonly count: number;
  readonly height: number;
  readonly from: number;
  readonly to: number;
}): { readonly first: number; readonly last: number } {
  const first = Math.floor((Math.floor(from / height) - beyond) / atOnce) * atOnce;
  const last = Math.ceil((Math.ceil(to / height) + beyond) / atOnce) * atOnce;
  return {
    first: Math.max(0, Math.min(first, count - 1)),
    last: Math.min(Math.max(last, 0), count - 1),
  };
}
