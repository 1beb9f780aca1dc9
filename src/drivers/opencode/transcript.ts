const longestText = 16_384;

/** Cuts a text to what a transcript keeps. */
export function bounded(text: string, longest = longestText): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}…`;
}
