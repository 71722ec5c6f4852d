import { type Refusal, refuse } from '#core/answer.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';

/**
 * Awaits work that begins by reading the chain. If no node responds, returns a refusal; nothing was
 * changed then.
 */
export async function orUnavailable<T>(work: Promise<T>): Promise<T | Refusal> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    return refuse(
      'service_unavailable',
      'The chain cannot be reached. Nothing was changed. Try again.',
    );
  }
}
