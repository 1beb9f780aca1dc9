import { appendFileSync } from 'node:fs';

/*
 * Loaded into a server that is measured: what of its heap is in use, right after a collection of what is not. A collection costs the
 * more the larger the heap is, which would look like steps that cost more and more: so it is the rarer the longer the last one took.
 */
const leastMs = 5_000;
const restPerMs = 200;
const file = process.env['BENCH_HEAP_FILE'];
const collect = (globalThis as { gc?: () => void }).gc;

function look(): void {
  if (file === undefined || !collect) return;
  const begun = performance.now();
  collect();
  const tookMs = performance.now() - begun;
  appendFileSync(file, `${Date.now()} ${process.memoryUsage().heapUsed}\n`);
  setTimeout(look, Math.max(leastMs, restPerMs * tookMs)).unref();
}

setTimeout(look, leastMs).unref();
