import { z } from 'zod';
import type { Capabilities } from '../port.ts';
import { type OpencodeApi, Unreadable } from './api.ts';

/** Shown by experiment with the real program; `docs/drivers/opencode.md` says by which. */
export const capabilities: Capabilities = {
  steer: 'proven',
  negativeProof: 'withdraw',
  turnEnd: 'protocol',
  // Sub-agents in the background are told of, where they are switched on; what a shell leaves running is not.
  backgroundTasks: false,
  wakesByItself: true,
  promptCancelsBackground: false,
  resume: 'always',
  locatesCalls: 'byOrder',
  limits: true,
  usage: 'cost',
};

const price = z.object({ input: z.number(), output: z.number() });
const model = z.object({ cost: price.optional() });
const providers = z.object({
  providers: z.array(z.object({ id: z.string(), models: z.record(z.string(), model) })),
});
const config = z.object({ model: z.string().optional() });

/** What can be proved with the model that is used: opencode reckons a cost only where it knows the model's price. */
export async function capabilitiesOf(api: OpencodeApi): Promise<Capabilities> {
  try {
    const { model: name } = await api.read('/config', config);
    const [, providerId, modelId] = /^([^/]+)\/(.+)$/.exec(name ?? '') ?? [];
    const found = (await api.read('/config/providers', providers)).providers.find(
      ({ id }) => id === providerId,
    );
    const { input = 0, output = 0 } = found?.models[modelId ?? '']?.cost ?? {};
    return input > 0 || output > 0 ? capabilities : { ...capabilities, usage: 'tokens' };
  } catch (error) {
    if (error instanceof Unreadable) return { ...capabilities, usage: 'tokens' };
    throw error;
  }
}
