import { geminiKit } from './gemini-kit.ts';
import { qwenKit } from './qwen-kit.ts';
import { sequenceCases } from './sequence-cases.ts';

for (const kit of [geminiKit, qwenKit]) sequenceCases(kit, { steers: false });
