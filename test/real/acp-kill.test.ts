import { geminiKit } from './gemini-kit.ts';
import { type KillPlan, killCases } from './kill-cases.ts';
import { qwenKit } from './qwen-kit.ts';

const points: KillPlan['points'] = [
  { window: 'between send and record', fault: 'send.written', times: [2] },
  { window: "between the turn's end and its commit", fault: 'turn.ended', times: [2] },
];

for (const kit of [geminiKit, qwenKit]) killCases(kit, { points, moments: [1500], patienceMs: 90_000 });
