import { type Refusal, refuse } from '#core/answer.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';

/** For work that has to ask the chain first; without an answer nothing was done. */
export async function orUnavailable<T>(work: Promise<T>): Promise<T | Refusal> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    return refuse('service_unavailable', 'The chain cannot be reached now. Nothing was done.');
  }
}
