/** One thing that was looked at. `fail`: it must be mended; `warn`: something will not work, and the rest does. */
export interface Finding {
  readonly what: string;
  readonly state: 'ok' | 'warn' | 'fail';
  /** What was seen. */
  readonly seen: string;
  /** What to do about it; absent where nothing is to be done. */
  readonly advice?: string;
}
