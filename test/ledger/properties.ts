import type { Moment, Property } from './moment.ts';
import { admissionProperties } from './properties/admission.ts';
import { batchProperties } from './properties/batches.ts';
import { countingProperties } from './properties/counting.ts';
import { deliveryProperties } from './properties/delivery.ts';
import { livenessProperties } from './properties/liveness.ts';
import { monotoneProperties } from './properties/monotone.ts';
import { noticeProperties } from './properties/notices.ts';
import { outcomeProperties } from './properties/outcomes.ts';
import { parentageProperties } from './properties/parentage.ts';
import { runProperties } from './properties/runs.ts';
import { spendingProperties } from './properties/spending.ts';
import { treeProperties } from './properties/trees.ts';
import { turnProperties } from './properties/turns.ts';

/** Every invariant of the ledger, checked after every decision. What throws comes first: all else follows from it. */
export const properties: readonly Property[] = [
  ...livenessProperties.slice(0, 1),
  ...countingProperties,
  ...monotoneProperties,
  ...noticeProperties,
  ...deliveryProperties,
  ...batchProperties,
  ...turnProperties,
  ...treeProperties,
  ...parentageProperties,
  ...outcomeProperties,
  ...runProperties,
  ...spendingProperties,
  ...admissionProperties,
  ...livenessProperties.slice(1),
];

/** An invariant that does not hold after a decision, or nothing. */
export function violated(moment: Moment): { readonly name: string; readonly why: string } | undefined {
  for (const { name, check } of properties) {
    const why = check(moment);
    if (why !== undefined) return { name, why };
  }
  return undefined;
}
