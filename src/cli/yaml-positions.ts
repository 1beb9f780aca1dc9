import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';

/** Where the key at the end of this path is written; the nearest container that exists, if the key does not. */
export function offsetOfKey(document: Document.Parsed, path: readonly PropertyKey[]): number {
  const found = follow(document, path);
  return found.complete ? (found.key ?? found.value) : found.value;
}

/** Where the value at this path begins; for a value that is missing, where the mapping that lacks it is named. */
export function offsetOfValue(document: Document.Parsed, path: readonly PropertyKey[]): number {
  const found = follow(document, path);
  return found.complete ? found.value : (found.key ?? found.value);
}

interface Found {
  /** Offset of the last key that was followed. */
  readonly key: number | undefined;
  readonly value: number;
  /** Whether the whole path exists in the file. */
  readonly complete: boolean;
}

function follow(document: Document.Parsed, path: readonly PropertyKey[]): Found {
  let node: unknown = document.contents;
  let key: number | undefined;
  let value = startOf(node) ?? 0;
  for (const part of path) {
    const step = childOf(resolve(document, node), part);
    if (!step) return { key, value, complete: false };
    node = step.node;
    key = step.key ?? startOf(node) ?? key;
    value = startOf(node) ?? key ?? value;
  }
  return { key, value, complete: true };
}

function childOf(node: unknown, part: PropertyKey): { node: unknown; key: number | undefined } | undefined {
  if (isSeq(node) && typeof part === 'number') {
    return part < node.items.length ? { node: node.items[part], key: undefined } : undefined;
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find((item: Pair) => keyText(item.key) === String(part));
  return pair && { node: pair.value, key: startOf(pair.key) };
}

function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}

function resolve(document: Document.Parsed, node: unknown): unknown {
  return isAlias(node) ? (node.resolve(document) ?? node) : node;
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}
