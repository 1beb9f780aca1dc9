import { type Document, isScalar, visit } from 'yaml';

/**
 * Where a key stands a second time in one mapping, as offsets in the order of the text. The library's own look compares every key
 * with every other, which for ten thousand of them takes seconds.
 */
export function offsetsOfSecondKeys(document: Document.Parsed): number[] {
  const offsets: number[] = [];
  visit(document, {
    Map(_, map) {
      const known = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (known.has(key.value)) offsets.push(key.range?.[0] ?? 0);
        known.add(key.value);
      }
    },
  });
  return offsets.sort((a, b) => a - b);
}
