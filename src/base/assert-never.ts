/** Ends every `switch` over a union: a case that was forgotten is an error of the compiler, not of the night. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}
