import { failpoint } from '#core/failpoints.ts';
import { describeError } from '#core/log.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import { bumpFees } from '#settlement/relayer/machine/fees.ts';
import type { HeldLane, RelayerState } from '#settlement/relayer/machine/state.ts';
import type { Attempt, Offer, OpenTransaction } from '#settlement/relayer/machine/transaction.ts';
import { inLane } from '#settlement/relayer/rows/lane-queries.ts';
import { insertSigned, replaceUnsigned } from '#settlement/relayer/rows/transaction-queries.ts';
import { NOOP_GAS_LIMIT } from '#settlement/relayer/send/gas.ts';
import {
  broadcast,
  signAttempt,
  type Unsigned,
} from '#settlement/relayer/send/sign-and-broadcast.ts';
import { OFFERS_TOO_LITTLE, SignerRefused, SignerUnavailable } from '#settlement/signer.ts';

/**
 * Asks the lane's signer for the bytes of what has none yet, and stores them. What it was asked is
 * committed before, so after a crash exactly that is asked again, and a signer gives the same bytes
 * twice. Without an answer the transactions stay as they are: the next look asks again, and their
 * payments wait meanwhile.
 */
export async function signElsewhere(
  relayer: RelayerState,
  lane: HeldLane,
  transactions: readonly OpenTransaction[],
): Promise<void> {
  await Promise.all(
    transactions.map(async (transaction) => {
      const { wanted: offer } = transaction;
      if (offer !== null) await askFor(relayer, { lane, transaction, offer });
    }),
  );
}

/**
 * As {@link signElsewhere}, for loops that must not wait: a signer that hangs would hold up leases
 * and receipts. What it gives is broadcast. While it is asked, the lane asks nothing else.
 */
export function askElsewhere(
  relayer: RelayerState,
  lane: HeldLane,
  transactions: readonly OpenTransaction[],
): void {
  const waiting = transactions.filter(({ wanted }) => wanted !== null);
  if (waiting.length === 0 || lane.isSignerAsked) return;
  lane.see({ kind: 'signer_asked' });
  signElsewhere(relayer, lane, waiting)
    .then(() => broadcast(relayer, lane, waiting))
    .catch((error) => {
      const fields = { network: relayer.chain.config.network, lane: lane.lane };
      relayer.log.warn('what a signer gave was not stored', {
        ...fields,
        error: describeError(error),
      });
      // Its rows say what there is: the keeper reads them again.
      if (relayer.lanes.get(lane.lane) === lane) relayer.letGo(lane.lane);
    })
    .finally(() => {
      lane.see({ kind: 'signer_answered' });
    });
}

export interface Asked {
  readonly lane: HeldLane;
  readonly transaction: OpenTransaction;
  readonly offer: Offer;
}

async function askFor(relayer: RelayerState, asked: Asked): Promise<void> {
  const { lane, transaction, offer } = asked;
  let attempt: Attempt;
  try {
    attempt = await sign(relayer, asked);
  } catch (error) {
    return noteNoSignature(relayer, asked, error);
  }
  failpoint('settlement.signature_given');
  const { now } = relayer.clock;
  const isStored = await inLane(relayer, lane, (tx) =>
    insertSigned(tx, transaction.id, attempt, now()),
  );
  // Otherwise another look has stored it, or something else was asked for meanwhile.
  if (!isStored) return;
  lane.observe(transaction, { kind: 'signature_stored', attempt, offer });
}

/** The bytes for what is offered for the nonce of an open transaction. Store before you send. */
export function sign(relayer: RelayerState, { lane, transaction, offer }: Asked): Promise<Attempt> {
  const { chainId } = relayer.chain.config;
  const { nonce, target: to, input, gasLimit } = transaction;
  const { fees } = offer;
  const unsigned = offer.noop
    ? noop(lane, { nonce, chainId, fees })
    : { chainId, nonce, to, input, gasLimit, fees };
  return signAttempt(lane.account, unsigned, offer.noop);
}

async function noteNoSignature(relayer: RelayerState, asked: Asked, error: unknown) {
  const { lane, transaction, offer } = asked;
  const { network, livemode, maxFeePerGasCeiling } = relayer.chain.config;
  const why = describeError(error);
  const fields = { network, lane: lane.lane, nonce: transaction.nonce, error: why };
  if (error instanceof SignerUnavailable) {
    relayer.log.warn('a signer gave no signature', fields);
    return;
  }
  // A signer that answers with something else than it was asked for has refused, too.
  relayer.log.error('a signer refused a transaction', fields);
  // It knows bytes that this ledger does not: those of a database that was put back.
  const fees = bumpFees(offer.fees, relayer.fees ?? offer.fees, maxFeePerGasCeiling);
  const isOutbid = error instanceof SignerRefused && error.code === OFFERS_TOO_LITTLE;
  if (isOutbid && fees !== null) {
    await askInstead(relayer, asked, { noop: offer.noop, fees });
    return;
  }
  const alarm = { kind: 'signer_refused', subject: `lane ${lane.lane}`, details: { error: why } };
  await inLane(relayer, lane, (tx) => insertAlarms(tx, livemode, [alarm], relayer.clock.now()));
}

async function askInstead(
  relayer: RelayerState,
  { lane, transaction, offer: before }: Asked,
  offer: Offer,
): Promise<void> {
  const isStored = await inLane(relayer, lane, (tx) =>
    replaceUnsigned(tx, transaction.id, { before, offer }, relayer.clock.now()),
  );
  // A cancellation may have taken its place: its jobs are under way elsewhere then.
  if (!isStored) return;
  lane.observe(transaction, { kind: 'offer_stored', offer, isRequeued: false });
}

/** A call of one's own address that does nothing: it uses a nonce up. */
export function noop(
  lane: HeldLane,
  { nonce, chainId, fees }: Pick<Unsigned, 'nonce' | 'chainId' | 'fees'>,
): Unsigned {
  return { chainId, nonce, to: lane.address, input: '0x', gasLimit: NOOP_GAS_LIMIT, fees };
}
