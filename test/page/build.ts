import { buildPage } from '../e2e/built-program.ts';

/** Before any test of the page: it is built from its sources as they are. */
export function setup(): void {
  buildPage();
}
