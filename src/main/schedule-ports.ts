import type { ApiPorts, Refusal } from '../api/ports.ts';

type Ports = Pick<ApiPorts, 'schedules' | 'scheduleQueries'>;

/** The ports of schedules on a server that keeps none. Wired until the service of schedules is. */
export function withoutSchedules(): Ports {
  const refusal: Refusal = { ok: false, code: 'ILLEGAL_STATE', message: 'This server keeps no schedules.' };
  const refuse = async () => refusal;
  return {
    schedules: {
      put: refuse,
      remove: refuse,
      trigger: refuse,
      pause: refuse,
      resume: refuse,
      backfill: refuse,
      stop: refuse,
      apply: refuse,
    },
    scheduleQueries: {
      find: async () => ({ found: 'none' }),
      list: async () => ({ items: [] }),
      get: async () => undefined,
      next: async () => undefined,
      occurrences: async () => ({ items: [] }),
      runs: async () => ({ items: [] }),
    },
  };
}
