import { describeError } from '#core/log.ts';
import type { Tx } from '#db/database.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import { pack } from '#settlement/contract/contract-calls.ts';
import { failed } from '#settlement/relayer/rows/facts.ts';
import { writeOutcomes } from '#settlement/relayer/rows/outcome-queries.ts';
import { paymentOf } from '#settlement/relayer/rows/payloads.ts';
import type { OpenRequest, RelayerState } from '#settlement/relayer/rows/state.ts';

/** A payment that cannot even be encoded must not hold up the others for ever. */
export function sortOut(claimed: readonly OpenRequest[]) {
  const requests: OpenRequest[] = [];
  const broken: { request: OpenRequest; error: string }[] = [];
  for (const request of claimed) {
    try {
      pack(paymentOf(request));
      requests.push(request);
    } catch (error) {
      broken.push({ request, error: describeError(error) });
    }
  }
  return { requests, broken };
}

export async function refuseBroken(
  tx: Tx,
  relayer: RelayerState,
  broken: readonly { readonly request: OpenRequest; readonly error: string }[],
): Promise<void> {
  if (broken.length === 0) return;
  await writeOutcomes(
    tx,
    broken.map(({ request }) => ({
      requestId: request.id,
      transactionId: null,
      result: failed('settlement_failed', null),
    })),
  );
  const alarms = broken.map(({ request, error }) => {
    return { kind: 'request_invalid', subject: request.subjectId, details: { error } };
  });
  await insertAlarms(tx, relayer.chain.config.livemode, alarms, relayer.clock.now());
}
