import { requestPolls } from '#apis/payer/payer-long-polls.ts';
import { PayerRequestSchema } from '#apis/payer/payer-schema.ts';
import { type Answer, answerWith, type Refusal, resourceMissing } from '#core/answer.ts';
import type { PayerRow } from '#payers/payer-queries.ts';
import { renderPayerRequest } from '#payers/render.ts';
import type { ApiContext } from '#payments/api-context.ts';

/**
 * Time for which a response waits for the chain, which has a block every second or two. Afterwards,
 * the caller polls the request.
 */
const CHAIN_WAIT_MS = 20_000;

/**
 * Returns the request once the chain has a result. After the time-out, returns its current state.
 */
export async function answerWhenDone(
  ctx: ApiContext,
  input: { readonly id: string; readonly payer: PayerRow; readonly gone: AbortSignal },
): Promise<Answer | Refusal> {
  const request = await requestPolls(ctx).wait(input.id, {
    accept: (seen) => seen?.status !== 'pending',
    waitMs: CHAIN_WAIT_MS,
    gone: input.gone,
  });
  // The payer erased all data during the wait.
  if (request === undefined) return resourceMissing('approval');
  return answerWith(201, renderPayerRequest(request, input.payer.livemode));
}

export const requestResponse = { schema: PayerRequestSchema, description: 'Done, or `pending`.' };
