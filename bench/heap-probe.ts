import { appendFileSync } from 'node:fs';

/* Loaded into a server that is measured: what of its heap is in use, right after a collection of what is not. */
const everyMs = 5_000;
const file = process.env['BENCH_HEAP_FILE'];
const collect = (globalThis as { gc?: () => void }).gc;
if (file !== undefined && collect) {
  setInterval(() => {
    collect();
    appendFileSync(file, `${Date.now()} ${process.memoryUsage().heapUsed}\n`);
  }, everyMs).unref();
}
