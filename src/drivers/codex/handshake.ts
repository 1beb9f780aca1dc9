import { identityOf, type ProcessIdentity } from '../../processes/process-identity.ts';
import type { RpcClient } from './rpc-client.ts';
import { diagnosticsAnswer } from './wire.ts';

const initializeMs = 15_000;

/** The server's own process, or why the connection is of no use. */
export type Greeted =
  | { readonly ok: true; readonly server: ProcessIdentity | undefined }
  | { readonly ok: false; readonly message: string };

/** The first words on a new connection. Bounded; does not close the client. */
export async function shakeHands(client: RpcClient): Promise<Greeted> {
  const clientInfo = { name: 'stemma', title: 'Stemma', version: '1' };
  const params = { clientInfo, capabilities: { experimentalApi: true } };
  const hello = await client.request('initialize', params, initializeMs);
  if (hello.outcome !== 'ok')
    return { ok: false, message: `Codex did not accept the connection: ${hello.message}` };
  client.notify('initialized');
  const answer = await client.request('server/diagnostics', {}, initializeMs);
  const read = diagnosticsAnswer.safeParse(answer.outcome === 'ok' ? answer.result : undefined);
  if (!read.success)
    return { ok: false, message: 'Codex does not say which process it is; this version cannot be driven' };
  try {
    return { ok: true, server: identityOf(read.data.process.id) };
  } catch (error) {
    return {
      ok: false,
      message: `the process of the Codex app-server cannot be looked at: ${String(error)}`,
    };
  }
}
