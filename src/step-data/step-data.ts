import type { StepData } from '../runs/step-ports.ts';
import { outputValues } from './output-values.ts';
import { readRows } from './rows.ts';

/** Reads what steps take in and leave behind, on this machine. */
export const stepData: StepData = { outputs: outputValues, rows: readRows };
