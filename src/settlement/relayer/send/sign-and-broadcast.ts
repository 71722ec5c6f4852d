import { keccak256 } from 'viem';
import { assert, present } from '#core/assert.ts';
import { describeError } from '#core/log.ts';
import type { Tx } from '#db/database.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import type { Refusal } from '#settlement/relayer/machine/observation.ts';
import {
  type HeldLane,
  type RelayerState,
  stillOpen,
  type TransactionRef,
} from '#settlement/relayer/machine/state.ts';
import {
  type Attempt,
  type Fees,
  fromRows,
  isSendable,
  type OpenTransaction,
} from '#settlement/relayer/machine/transaction.ts';
import { heightNow } from '#settlement/relayer/rows/known-head.ts';
import {
  insertTransactions,
  type NewTransaction,
} from '#settlement/relayer/rows/transaction-queries.ts';
import type { LockedLane, Planned } from '#settlement/relayer/send/planned.ts';
import type { Hex } from '#settlement/requests.ts';
import type { Signer } from '#settlement/signer.ts';

/**
 * Signs the planned transactions with the lane's next nonces and stores bytes, nonces and requests
 * together. After the commit, and only then, they may be broadcast. Where another program keeps the
 * lane's key nothing is signed here: it is asked after the commit (`signElsewhere`).
 */
export async function signAndStore(
  tx: Tx,
  { relayer, lane, nonce }: LockedLane,
  planned: readonly Planned[],
): Promise<OpenTransaction[]> {
  if (planned.length === 0) return [];
  const { chain, clock } = relayer;
  const fees = present(relayer.fees, 'fees: no block was seen yet');
  const { chainId } = chain.config;
  const offer = { noop: false, fees };
  const signed = lane.signsElsewhere
    ? planned.map(() => null)
    : await Promise.all(
        planned.map(({ call: { to, data: input }, gasLimit }, index) => {
          const unsigned = { chainId, nonce: nonce + BigInt(index), to, input, gasLimit, fees };
          return signAttempt(lane.account, unsigned);
        }),
      );
  const rows = planned.map((plan, index) => {
    return { ...toRow(plan, nonce + BigInt(index), fees), ...bytesOf(signed[index] ?? null) };
  });
  const where = {
    livemode: chain.config.livemode,
    lane: lane.lane,
    nextNonce: nonce + BigInt(planned.length),
  };
  const stored = await insertTransactions(tx, where, rows, clock.now());
  return planned.map((plan, index) => {
    const { id, nonce: storedNonce, requests } = present(stored[index], 'stored transaction');
    assert(storedNonce === nonce + BigInt(index), 'a transaction was stored out of order');
    assert(requests === plan.requests.length, 'a request was taken by two transactions');
    const facts = {
      id,
      nonce: storedNonce,
      kind: plan.kind,
      target: plan.call.to,
      input: plan.call.data,
      gasLimit: plan.gasLimit,
      attempts: [signed[index] ?? []].flat(),
      requests: plan.requests,
      validUntil: plan.validUntil ?? null,
      signedAtMs: performance.now(),
    };
    const wanted = lane.signsElsewhere ? offer : null;
    return fromRows(facts, { wanted, query: 'if_listed', isBarred: false });
  });
}

function toBuffer(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}

function bytesOf(attempt: Attempt | null): Pick<NewTransaction, 'tx_hash' | 'raw'> {
  if (attempt === null) return { tx_hash: null, raw: null };
  return { tx_hash: attempt.hash, raw: toBuffer(attempt.raw) };
}

type UnsignedRow = Omit<NewTransaction, 'tx_hash' | 'raw'>;

function toRow(plan: Planned, nonce: bigint, fees: Fees): UnsignedRow {
  return {
    nonce,
    kind: plan.kind,
    target: plan.call.to,
    input: toBuffer(plan.call.data),
    gas_limit: plan.gasLimit,
    max_fee: fees.maxFeePerGas,
    max_tip: fees.maxPriorityFeePerGas,
    valid_until: plan.validUntil ?? null,
    request_ids: plan.requests.map((request) => request.id),
  };
}

export interface Unsigned {
  readonly chainId: number;
  readonly nonce: bigint;
  readonly to: Hex;
  readonly input: Hex;
  readonly gasLimit: bigint;
  readonly fees: Fees;
}

/** The signed bytes of a transaction. Store them before you send them. */
export async function signAttempt(
  account: Signer,
  unsigned: Unsigned,
  noop = false,
): Promise<Attempt> {
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId: unsigned.chainId,
    nonce: Number(unsigned.nonce),
    to: unsigned.to,
    data: unsigned.input,
    value: 0n,
    gas: unsigned.gasLimit,
    ...unsigned.fees,
  });
  return { hash: keccak256(raw), raw, noop, fees: unsigned.fees };
}

/** `waiting`: in the pool, mined, or replaced by another attempt of ours; receipts will show it. */
type Verdict = 'waiting' | Refusal;

const UNDERPRICED = /less than block base fee|underpriced|fee too low|below base fee/i;
const UNFUNDED = /insufficient funds|insufficient balance/i;
const UNSENDABLE = new RegExp(
  [
    'exceeds (block |transaction )?gas limit',
    'gas limit too high',
    'tx gas limit',
    'intrinsic gas',
    'out of gas',
    'gas too low',
    'oversized',
    'invalid sender',
  ].join('|'),
  'i',
);

/**
 * What a node's answer to a broadcast means for the transaction. Nodes have no codes for it, only
 * texts. Everything unknown is `waiting`: it is sent again, and receipts decide.
 */
export function readBroadcastError(message: string): Verdict {
  if (/replacement/i.test(message)) return 'waiting';
  if (UNDERPRICED.test(message)) return 'underpriced';
  if (UNFUNDED.test(message)) return 'unfunded';
  if (UNSENDABLE.test(message)) return 'unsendable';
  return 'waiting';
}

/**
 * Sends the newest attempt of each transaction, in the order given (that of the nonces). It may be
 * called any number of times: the bytes are stored, so sending them again changes nothing. It is no
 * error if the chain cannot be reached: the transactions stay open and are sent again.
 */
export async function broadcast(
  relayer: RelayerState,
  lane: HeldLane,
  transactions: readonly TransactionRef[],
): Promise<void> {
  const sendable = stillOpen(lane, transactions).filter(isSendable);
  if (sendable.length === 0) return;
  const calls = sendable.map(({ attempts }) => {
    const last = attempts.at(-1);
    // A node that answers another hash has not taken these bytes: the next node gets them too.
    const accepts = (hash: unknown) => hash === last?.hash;
    return { method: 'eth_sendRawTransaction', params: [last?.raw], accepts };
  });
  const atBlock = heightNow(relayer);
  for (const transaction of sendable) lane.observe(transaction, { kind: 'sent', atBlock });
  try {
    const answers = await relayer.chain.rpc.batch(calls, { urgent: true });
    answers.forEach((answer, index) => {
      const transaction = sendable[index];
      if (answer.ok || transaction === undefined) return;
      noteRefusal(relayer, lane, transaction, answer.refusal.message);
    });
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    relayer.log.warn('a broadcast got no answer', { error: describeError(error) });
  }
}

/** What a refused broadcast means for the transaction, as it was sent. */
export function noteRefusal(
  relayer: RelayerState,
  lane: HeldLane,
  transaction: OpenTransaction,
  message: string,
): void {
  const verdict = readBroadcastError(message);
  const hash = transaction.attempts.at(-1)?.hash;
  if (verdict === 'waiting' || hash === undefined) return;
  lane.observe(transaction, { kind: 'refused', hash, verdict });
  relayer.log.error(COMPLAINTS[verdict], {
    network: relayer.chain.config.network,
    lane: lane.lane,
    nonce: transaction.nonce,
    message,
  });
}

const COMPLAINTS = {
  underpriced: 'a transaction offers too little',
  unfunded: 'a lane cannot pay for its transaction',
  unsendable: 'no node takes a transaction',
} as const satisfies Record<Refusal, string>;
