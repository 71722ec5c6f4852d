import { keccak256 } from 'viem';
import { assert, present } from '#core/assert.ts';
import { failpoint } from '#core/failpoints.ts';
import type { Tx } from '#db/database.ts';
import { describeError } from '#observability/log.ts';
import { bumpFees } from '#settlement/chain/fees/gas-fees.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import { jobsOf, type Requeued, requeue } from '#settlement/relayer/jobs/job-queries.ts';
import { KINDS } from '#settlement/relayer/jobs/request-kinds.ts';
import { inSender } from '#settlement/relayer/jobs/sender-queries.ts';
import {
  endUnsigned,
  insertAttempt,
  insertTransactions,
  upsertUnsigned,
} from '#settlement/relayer/jobs/transaction-queries.ts';
import type { Planned } from '#settlement/relayer/send/plan-batches.ts';
import { heightNow } from '#settlement/relayer/state-machine/chain-view.ts';
import {
  type Held,
  type HeldSender,
  stillOpen,
  type TransactionRef,
} from '#settlement/relayer/state-machine/relayer-state.ts';
import {
  type Attempt,
  fromRows,
  isSendable,
  type Observation,
  type Offer,
  type OpenTransaction,
  type Refusal,
} from '#settlement/relayer/state-machine/transaction.ts';
import { OFFERS_TOO_LITTLE, SignerRefused, SignerUnavailable } from '#settlement/remote-signer.ts';

/**
 * Signs the planned transactions with the sender's next nonces, and stores bytes, nonces and jobs
 * together. They may be broadcast only after the commit. If a remote signer has the sender's key,
 * it signs after the commit instead (`signElsewhere`).
 */
export async function signAndStore(
  tx: Tx,
  sender: HeldSender,
  nonce: bigint,
  planned: readonly Planned[],
): Promise<OpenTransaction[]> {
  const calls = planned.map((plan, index) => ({ ...plan, nonce: nonce + BigInt(index) }));
  const nextNonce = nonce + BigInt(planned.length);
  return storeCalls(tx, { sender, nextNonce, cancels: false }, calls);
}

/** Stores cancellations for earlier nonces of the sender that have no stored transaction. */
export async function storeCancellations(
  tx: Tx,
  sender: HeldSender,
  nextNonce: bigint,
  nonces: readonly bigint[],
): Promise<void> {
  const call = { to: sender.address, data: '0x' } as const;
  const gasLimit = sender.relayer.cancellationGas;
  const same = { kind: 'cancellation', call, gasLimit, requests: [] };
  const calls = nonces.map((nonce) => ({ ...same, nonce }));
  await storeCalls(tx, { sender, nextNonce, cancels: true }, calls);
}

async function storeCalls(
  tx: Tx,
  batch: { readonly sender: HeldSender; readonly nextNonce: bigint; readonly cancels: boolean },
  calls: readonly (Planned & { readonly nonce: bigint })[],
): Promise<OpenTransaction[]> {
  const { sender, nextNonce, cancels } = batch;
  if (calls.length === 0) return [];
  const { clock, livemode } = sender.relayer;
  const fees = present(sender.relayer.fees, 'fees: no block was seen yet');
  const offer = { cancels, fees };
  const requested = sender.signsElsewhere ? offer : null;
  const transactions = await Promise.all(
    calls.map(async ({ kind, call, gasLimit, requests, nonce, validUntil = null }) => {
      const signed = { nonce, target: call.to, input: call.data, gasLimit };
      const attempts =
        requested === null ? [await sign({ sender, transaction: signed, offer })] : [];
      const signedAtMs = performance.now();
      return { kind, ...signed, validUntil, signedAtMs, attempts, wanted: requested, requests };
    }),
  );
  const where = { livemode, sender: sender.sender, nextNonce };
  const stored = await insertTransactions(tx, where, transactions, clock.now());
  return transactions.map((transaction, index) => {
    const { id, nonce: storedNonce, requests } = present(stored[index], 'stored transaction');
    assert(storedNonce === transaction.nonce, 'a transaction was stored out of order');
    assert(requests === transaction.requests.length, 'a request was taken by two transactions');
    return fromRows({ ...transaction, id }, 'if_listed', false);
  });
}

interface Signing {
  readonly sender: HeldSender;
  readonly transaction: Pick<OpenTransaction, 'nonce' | 'target' | 'input' | 'gasLimit'>;
  readonly offer: Offer;
}

/** The bytes must be stored before they are sent. */
async function sign({ sender, transaction, offer }: Signing): Promise<Attempt> {
  const { nonce, target, input, gasLimit } = transaction;
  const { cancels, fees } = offer;
  // A call to the sender's own address has no effect except that it uses the nonce.
  const call = cancels
    ? { to: sender.address, data: '0x' as const, gas: sender.relayer.cancellationGas }
    : { to: target, data: input, gas: gasLimit };
  const { chainId } = sender.relayer.chain.config;
  const envelope = { type: 'eip1559', chainId, nonce: Number(nonce), value: 0n } as const;
  const raw = await sender.account.signTransaction({ ...envelope, ...call, ...fees });
  return { hash: keccak256(raw), raw, cancels, fees };
}

/**
 * Asks the sender's remote signer for missing bytes, and stores them. The request was committed
 * before, so after a crash the same request is sent, and the signer returns the same bytes. If the
 * signer does not answer, the transactions stay as they are, their payments wait, and the next
 * check asks again.
 */
async function signElsewhere(
  sender: HeldSender,
  transactions: readonly OpenTransaction[],
): Promise<void> {
  const requests = transactions.map(async (transaction) => {
    const { wanted: offer } = transaction;
    if (offer !== null) await askFor({ sender, transaction, offer });
  });
  await Promise.all(requests);
}

/** If a remote signer signs, broadcasts them once it has returned them. */
export async function sendStored(
  sender: HeldSender,
  stored: readonly OpenTransaction[],
): Promise<void> {
  await signElsewhere(sender, stored);
  await broadcast(sender, stored);
  if (stored.length > 0) failpoint('settlement.broadcast_sent');
}

/**
 * Like {@link signElsewhere}, but does not wait, for loops in which a hanging signer would delay
 * leases and receipts. The returned bytes are broadcast. While one request is in progress, the
 * sender makes no other.
 */
export function askElsewhere(sender: HeldSender, transactions: readonly OpenTransaction[]): void {
  const { relayer } = sender;
  const waiting = transactions.filter(({ wanted }) => wanted !== null);
  if (waiting.length === 0 || sender.isSignerAsked) return;
  sender.see({ isSignerAsked: true });
  signElsewhere(sender, waiting)
    .then(() => broadcast(sender, waiting))
    .catch((error) => {
      const fields = { sender: sender.sender, error: describeError(error) };
      relayer.log.warn('a signature from a signer was not stored', fields);
      // The rows are authoritative, so drop the sender, whose rows are then read again.
      if (relayer.senders.get(sender.sender) === sender) relayer.letGo(sender.sender);
    })
    .finally(() => {
      sender.see({ isSignerAsked: false });
    });
}

type SigningRequest = Held & { readonly offer: Offer };

/**
 * Deletes a signing request and writes what replaces it.
 * @returns `false` if the request was already replaced.
 */
function endQuestion(
  { sender, transaction, offer }: SigningRequest,
  write: (tx: Tx) => Promise<void>,
): Promise<boolean> {
  return inSender(sender, async (tx) => {
    const isAsked = await endUnsigned(tx, transaction.id, offer);
    if (isAsked) await write(tx);
    return isAsked;
  });
}

async function askFor(request: SigningRequest): Promise<void> {
  const { sender, transaction, offer } = request;
  let attempt: Attempt;
  try {
    attempt = await sign(request);
  } catch (error) {
    return noteNoSignature(request, error);
  }
  failpoint('settlement.signature_given');
  const isStored = await endQuestion(request, (tx) =>
    insertAttempt(tx, transaction.id, attempt, sender.relayer.clock.now()),
  );
  if (isStored) sender.observe(transaction, { kind: 'signature_stored', attempt, offer });
}

async function noteNoSignature(request: SigningRequest, error: unknown) {
  const { sender, transaction, offer } = request;
  const { relayer } = sender;
  const { maxFeePerGasCeiling } = relayer.chain.config;
  const fields = { sender: sender.sender, nonce: transaction.nonce, error: describeError(error) };
  if (error instanceof SignerUnavailable) {
    relayer.log.warn('a signer did not respond', fields);
    return;
  }
  // The error may also be that the signer returned something other than the requested transaction.
  relayer.log.error('a signer refused a transaction', fields);
  // If `OFFERS_TOO_LITTLE`, the signer has signed bytes that this ledger lacks, because the
  // database was restored; a higher offer replaces them.
  const fees = bumpFees(offer.fees, relayer.fees ?? offer.fees, maxFeePerGasCeiling);
  const isRefused = error instanceof SignerRefused;
  if (isRefused && error.code === OFFERS_TOO_LITTLE && fees !== null) {
    return offerAgain(request, { cancels: offer.cancels, fees }, []);
  }
  // The key was moved behind a signer that allows no factories. The deployment's nonce must not
  // block later ones.
  const isForeign = transaction.requests.some(({ kind }) => KINDS[kind].triedOnce);
  if (isRefused && isForeign && !offer.cancels) {
    // Bytes that were broadcast may still be mined, so the jobs stay with this transaction until
    // either its bytes or the cancellation is mined.
    const jobs = transaction.attempts.length === 0 ? jobsOf(transaction) : [];
    return offerAgain(request, { cancels: true, fees: fees ?? offer.fees }, jobs);
  }
  const subject = `sender ${sender.sender}`;
  const alarm = { kind: 'signer_refused', subject, details: { error: fields.error } };
  await inSender(sender, (tx) => relayer.raise(tx, [alarm]));
}

/** Replaces the signing request by one for another offer, and queues these jobs again. */
async function offerAgain(
  request: SigningRequest,
  offer: Offer,
  jobs: readonly Requeued[],
): Promise<void> {
  const { sender, transaction } = request;
  // A cancellation may have replaced the signing request. The jobs are then in another transaction.
  const isStored = await endQuestion(request, async (tx) => {
    await upsertUnsigned(tx, transaction.id, offer, sender.relayer.clock.now());
    await requeue(tx, jobs);
  });
  const isRequeued = jobs.length > 0;
  if (isStored) sender.observe(transaction, { kind: 'offer_stored', offer, isRequeued });
}

/**
 * Stores another offer for the nonce of an open transaction: the same call with higher fees, or a
 * cancellation. If `requeued`, its jobs are queued again in the same commit, to be sent in another
 * transaction. If this process has the key, the bytes are signed first and stored in that commit. A
 * remote signer gets the request after the commit that stores it; the same applies if the key was
 * moved back into this process while a signer's response was still missing.
 * @returns the observation for the transaction.
 */
export async function storeOffer(request: SigningRequest, requeued: boolean): Promise<Observation> {
  const { sender, transaction, offer } = request;
  const { relayer } = sender;
  const now = relayer.clock.now();
  const carried = requeued ? jobsOf(transaction) : [];
  const isAsked = sender.signsElsewhere || transaction.wanted !== null;
  const attempt = isAsked ? null : await sign(request);
  await inSender(sender, async (tx) => {
    if (attempt === null) await upsertUnsigned(tx, transaction.id, offer, now);
    else await insertAttempt(tx, transaction.id, attempt, now);
    await requeue(tx, carried);
  });
  if (carried.length > 0) relayer.wakeSenders();
  return attempt === null
    ? { kind: 'offer_stored', offer, isRequeued: requeued }
    : { kind: 'attempt_stored', attempt, isRequeued: requeued };
}

/**
 * Broadcasts each transaction's newest bytes, in the given order (by nonce). The bytes are stored,
 * so this may be called any number of times. An unreachable chain is no error: the transactions
 * stay open and are sent again.
 */
export async function broadcast(
  sender: HeldSender,
  transactions: readonly TransactionRef[],
): Promise<void> {
  const { relayer } = sender;
  const sendable = stillOpen(sender, transactions).filter(isSendable);
  if (sendable.length === 0) return;
  const calls = sendable.map(({ attempts }) => {
    const last = attempts.at(-1);
    // A node that answers with another hash has not accepted these bytes, so the next node gets
    // them too.
    const accepts = (hash: unknown) => hash === last?.hash;
    return { method: 'eth_sendRawTransaction', params: [last?.raw], accepts };
  });
  const atBlock = heightNow(relayer);
  for (const transaction of sendable) sender.observe(transaction, { kind: 'sent', atBlock });
  try {
    const answers = await relayer.chain.rpc.batch(calls, { urgent: true });
    answers.forEach((answer, index) => {
      const transaction = sendable[index];
      if (answer.ok || transaction === undefined) return;
      noteRefusal(sender, transaction, answer.refusal.message);
    });
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    relayer.log.warn('a broadcast got no response', { error: describeError(error) });
  }
}

/** Texts of refusals, because nodes have no codes for them. */
const REFUSALS = {
  underpriced: {
    texts: [/less than block base fee|underpriced|fee too low|below base fee/i],
    complaint: 'the fee of a transaction is too low',
  },
  unfunded: {
    texts: [/insufficient funds|insufficient balance/i],
    complaint: 'a sender cannot pay for its transaction',
  },
  unsendable: {
    texts: [
      /(exceeds (block |transaction )?|tx )gas limit|gas limit too high/i,
      /intrinsic gas|out of gas|gas too low|oversized|invalid sender/i,
    ],
    complaint: 'no node accepts a transaction',
  },
} as const satisfies Record<Refusal, { readonly texts: RegExp[]; readonly complaint: string }>;

/**
 * Interprets a node's answer to a broadcast. `waiting`: the transaction is in the pool or mined, or
 * another broadcast of ours has replaced it; receipts will show which. Unknown answers also count
 * as `waiting`: the bytes are sent again.
 */
export function readBroadcastError(message: string): Refusal | 'waiting' {
  if (/replacement/i.test(message)) return 'waiting';
  const verdicts = Object.keys(REFUSALS) as Refusal[];
  return (
    verdicts.find((verdict) => REFUSALS[verdict].texts.some((text) => text.test(message))) ??
    'waiting'
  );
}

function noteRefusal(sender: HeldSender, transaction: OpenTransaction, message: string): void {
  const verdict = readBroadcastError(message);
  const hash = transaction.attempts.at(-1)?.hash;
  if (verdict === 'waiting' || hash === undefined) return;
  sender.observe(transaction, { kind: 'refused', hash, verdict });
  const fields = { sender: sender.sender, nonce: transaction.nonce, message };
  sender.relayer.log.error(REFUSALS[verdict].complaint, fields);
}
