import { setTimeout as sleep } from 'node:timers/promises';
import { type PaymentIntent, TaplineError } from 'tapline';
import type { Authorization } from './authorization.ts';
import { type Claim, type Claims, openClaims } from './claims.ts';
import { PayerError } from './payer.ts';
import type { Settled } from './payment-requirements.ts';
import {
  findSale,
  isOfSale,
  keyOf,
  MOST_ATTEMPTS,
  openSale,
  paidBy,
  type Sale,
  type Seller,
} from './sale-intent.ts';
import { obstacleOf, readSale, type SaleRequest } from './verify.ts';

/**
 * The result of a sale. `pending`: repeat the call with the same signature, never with a new one.
 * `hash` is empty while no transaction is known.
 */
type Outcome =
  | { readonly status: 'paid'; readonly intent: PaymentIntent; readonly hash: string }
  | {
      readonly status: 'pending';
      readonly intent: PaymentIntent;
      readonly hash: string;
      readonly message: string;
    }
  /** The signature was used for another resource. */
  | { readonly status: 'taken'; readonly intent: PaymentIntent; readonly hash: string }
  | {
      readonly status: 'failed';
      readonly reason: string;
      readonly message: string;
      /** Set if an earlier signature of the same identifier failed, so this one may be charged. */
      readonly isEarlier?: true;
    };

interface Ran {
  readonly outcome: Outcome;
  /** True if the call may tell its caller that the sale is paid, which happens once. */
  readonly isFirst: boolean;
}

const LOOK_MS = 300;
/**
 * The time for which only the process that opened a sale sends its transactions. Later it has
 * probably ended, so every process continues the sale.
 */
const TAKE_OVER_MS = 30_000;
/**
 * The age at which a sale ends whose payment the network still refuses to begin. As long as the
 * network itself may try to send a payment, and shorter than a call waits.
 */
const GIVE_UP_MS = 80_000;

export interface SettleOptions {
  /**
   * The time to wait for chain and network, in milliseconds, before the response is
   * `settlement_pending`.
   */
  readonly waitMs: number;
}

export type Settle = (request: SaleRequest) => Promise<Settled>;

/**
 * Returns a function that takes the client's money and pays the merchant. A repeated call moves no
 * money twice: the token accepts each nonce once, the network pays each intent once, and both are
 * queried rather than remembered. The process may stop at any point without losing anything.
 *
 * A sale is answered with success once, to the first caller; others get `duplicate_settlement`.
 * A caller that names the purchase hears the result as often as it asks.
 */
export function openSettling(seller: Seller, { waitMs }: SettleOptions): Settle {
  const network = `eip155:${seller.token.facts.chainId}`;
  const claims = openClaims();
  /** The running settlements, so that concurrent calls for one sale work once. */
  const running = new Map<string, Promise<Ran>>();
  return async (request) => {
    const checked = await readSale(seller, request);
    if ('refusal' in checked) {
      const { invalidReason: errorReason = 'invalid_payload', ...refusal } = checked.refusal;
      const { invalidMessage, payer } = refusal;
      const from = payer === undefined ? {} : { payer };
      const words = invalidMessage === undefined ? {} : { errorMessage: invalidMessage };
      return { success: false, errorReason, ...words, transaction: '', network, ...from };
    }
    const { sale } = checked;
    const key = keyOf(sale);
    const earlier = running.get(key);
    const result = earlier ?? run(seller, { claims, sale, deadline: performance.now() + waitMs });
    if (earlier === undefined) running.set(key, result);
    try {
      const { outcome, isFirst } = await result;
      const isKnown = sale.identifier !== null || (isFirst && earlier === undefined);
      return { ...answerOf(outcome, { sale, isKnown }), network, payer: sale.authorization.from };
    } finally {
      if (earlier === undefined) running.delete(key);
    }
  };
}

/** Names the payment intent, because the clients of `@x402/core` drop other fields of a 409. */
function duplicateOf({ id }: PaymentIntent): string {
  return `This payment was presented before and is settled once. Payment intent ${id} shows how.`;
}

function answerOf(
  outcome: Outcome,
  { sale, isKnown }: { readonly sale: Sale; readonly isKnown: boolean },
): Omit<Settled, 'network'> {
  if (outcome.status === 'failed') {
    const { reason: errorReason, message: errorMessage } = outcome;
    return { success: false, errorReason, errorMessage, transaction: '' };
  }
  const { intent, hash: transaction } = outcome;
  const told = { transaction, extra: { paymentIntent: intent.id } };
  if (outcome.status === 'taken' || !isKnown || !isOfSale(intent, sale)) {
    const errorMessage = duplicateOf(intent);
    return { success: false, errorReason: 'duplicate_settlement', errorMessage, ...told };
  }
  if (outcome.status === 'pending') {
    const { message: errorMessage } = outcome;
    return { success: false, errorReason: 'settlement_pending', errorMessage, ...told };
  }
  return { success: true, amount: String(sale.authorization.value), ...told };
}

interface Task {
  readonly claims: Claims;
  readonly sale: Sale;
  /** On the clock of `performance.now()`, in milliseconds. */
  readonly deadline: number;
}

/** Settles a sale, after earlier signatures of its identifier that ended unpaid. */
async function run(seller: Seller, task: Task): Promise<Ran> {
  const { sale } = task;
  const existing = sale.identifier === null ? null : await findSale(seller, sale);
  for (let attempt = existing?.attempt ?? 1; attempt <= MOST_ATTEMPTS; attempt++) {
    const intent = attempt === existing?.attempt ? existing.intent : null;
    const ran = await runOnce(seller, { ...task, attempt, intent });
    if (ran.outcome.status !== 'failed' || ran.outcome.isEarlier !== true) return ran;
  }
  const message = 'Nothing was charged: too many payments failed under this identifier.';
  return { outcome: { status: 'failed', reason: 'payment_canceled', message }, isFirst: false };
}

async function runOnce(
  seller: Seller,
  task: Task & { readonly attempt: number; readonly intent: PaymentIntent | null },
): Promise<Ran> {
  const { sale, attempt, claims } = task;
  if (task.intent === null) {
    const obstacle = await obstacleOf(seller, sale);
    if (obstacle !== null) {
      const message = 'Nothing was charged.';
      return { outcome: { status: 'failed', reason: obstacle, message }, isFirst: false };
    }
  }
  const key = keyOf(sale, attempt);
  const taken = claims.take(key, sale.authorization);
  let own: readonly Claim[] = taken;
  try {
    const [{ id: claim }] = taken;
    const intent = task.intent ?? (await openSale(seller, sale, { attempt, claim }));
    own = taken.filter(({ id }) => id === intent.metadata.x402_claim);
    if (!isOfSale(intent, sale)) {
      const hash = await hashOf(seller, intent);
      return { outcome: { status: 'taken', intent, hash }, isFirst: false };
    }
    const isFirst = own.length > 0;
    // An earlier signature of the identifier, which this process has not used up yet.
    const payable = [...own.map((one) => one.authorization), sale.authorization];
    const authorization = payable.find(({ nonce }) => nonce === intent.metadata.x402_nonce) ?? null;
    const outcome = await drive(seller, { ...task, intent, isFirst, authorization });
    if (isFirst && outcome.status === 'paid') own = [];
    return { outcome, isFirst };
  } finally {
    claims.giveBack(key, own);
  }
}

/** Runs one step at a time, chosen from the current state of network and chain. */
async function drive(seller: Seller, at: At): Promise<Outcome> {
  let { intent } = at;
  for (;;) {
    const step = await stepOf(seller, { ...at, intent });
    if (step !== 'again') return step;
    if (performance.now() >= at.deadline) {
      const message = 'The payment is in progress. Try again with the same signature.';
      return { status: 'pending', intent, hash: await hashOf(seller, intent), message };
    }
    await sleep(LOOK_MS);
    intent = await seller.merchant.paymentIntents.retrieve(intent.id);
  }
}

/** Returns the hash of the transfer that pays the intent, or an empty string if it is unknown. */
async function hashOf(seller: Seller, intent: PaymentIntent): Promise<string> {
  if (intent.metadata.x402_nonce === undefined) return '';
  return (await seller.token.findTransfer(paidBy(seller, intent))) ?? '';
}

interface At extends Omit<Task, 'claims'> {
  readonly intent: PaymentIntent;
  readonly isFirst: boolean;
  /**
   * The signature that pays the intent; `null` if only another process has it, to which another
   * signature of the same identifier was presented.
   */
  readonly authorization: Authorization | null;
}

async function stepOf(seller: Seller, at: At): Promise<Outcome | 'again'> {
  const { intent } = at;
  switch (intent.status) {
    case 'succeeded':
      return { status: 'paid', intent, hash: await hashOf(seller, intent) };
    case 'canceled':
      return refund(seller, at);
    case 'requires_payment_method':
      if (intent.last_payment_error !== null) return cancel(seller, intent);
      return pay(seller, at);
    case 'requires_action':
      // The owner of the bridge wallet would have to confirm, but no person is present, so this
      // cancels the sale. Higher limits of the wallet avoid it.
      return cancel(seller, intent);
    default:
      return 'again';
  }
}

/**
 * Deploys the client's wallet and takes the money, if necessary, and pays the intent with it. If
 * the process is killed between the deployment and the transfer, the next call finds the wallet
 * deployed.
 */
async function pay(seller: Seller, at: At): Promise<Outcome | 'again'> {
  const { authorization, intent, deadline } = at;
  const { token } = seller;
  if (authorization === null) return awaitEarlier(seller, intent);
  const mustWait = !at.isFirst && ageOf(intent) < TAKE_OVER_MS;
  if (mustWait && !(await token.isUsed(authorization))) return 'again';
  const left = () => Math.max(0, deadline - performance.now());
  const deployed = await token.deploy(authorization, left());
  if (deployed.status === 'sent') {
    const message = 'The wallet is being deployed. Try again with the same signature.';
    return { status: 'pending', intent, hash: deployed.hash ?? '', message };
  }
  if (deployed.status === 'refused') {
    return refused(seller, at, { reason: 'wallet_not_deployed', why: deployed.reason });
  }
  const taken = await token.transfer(authorization, left());
  switch (taken.status) {
    case 'sent': {
      const message = 'The transfer is pending. Try again with the same signature.';
      return { status: 'pending', intent, hash: taken.hash ?? '', message };
    }
    case 'refused': {
      const reason = 'invalid_exact_evm_transaction_failed';
      return refused(seller, at, { reason, why: taken.reason });
    }
    case 'done':
      return confirm(seller, intent);
  }
}

function ageOf({ created }: PaymentIntent): number {
  return Date.now() - Date.parse(created);
}

/**
 * Returns the failure of a transfer that was not made. The intent of an identifier is canceled, so
 * that the client's next signature does not wait for this one to expire.
 */
async function refused(
  seller: Seller,
  { sale, intent }: At,
  { reason, why }: { readonly reason: string; readonly why: string },
): Promise<Outcome> {
  if (sale.identifier !== null) await cancel(seller, intent);
  return { status: 'failed', reason, message: `Nothing was charged: ${why}` };
}

/**
 * Waits for the transfer of an earlier signature with the same identifier, which only the process
 * that has it can send. This call's signature is not used. If the earlier one has expired, the
 * intent ends.
 */
async function awaitEarlier(seller: Seller, intent: PaymentIntent): Promise<'again'> {
  const { token } = seller;
  const earlier = paidBy(seller, intent);
  if (!(await token.isUsed(earlier))) {
    return (await token.isLost(earlier)) ? cancel(seller, intent) : 'again';
  }
  const arrival = await token.findArrival(earlier);
  if (arrival.status === 'elsewhere') return cancel(seller, intent);
  return arrival.status === 'arrived' ? confirm(seller, intent) : 'again';
}

/**
 * Confirms the intent, or cancels it if the network has refused that for too long. Then the intent
 * is read, because only its state is reliable.
 */
async function confirm(seller: Seller, intent: PaymentIntent): Promise<'again'> {
  const { account, payer, merchant } = seller;
  try {
    const agent_token = await payer.createAgentToken({ account, amount: intent.amount });
    // Each attempt may use a new key, because an intent is paid once, regardless of the key.
    await merchant.paymentIntents.confirm(intent.id, { agent_token });
  } catch (error) {
    if (!(error instanceof TaplineError || error instanceof PayerError)) throw error;
    if (ageOf(intent) > GIVE_UP_MS) return cancel(seller, intent);
  }
  return 'again';
}

async function cancel(seller: Seller, intent: PaymentIntent): Promise<'again'> {
  try {
    await seller.merchant.paymentIntents.cancel(intent.id);
  } catch (error) {
    // An intent that cannot be canceled is in progress or paid.
    if (!(error instanceof TaplineError) || error.status !== 409) throw error;
  }
  return 'again';
}

/** Returns the client's money, once, because the merchant was not paid and will not be. */
async function refund(seller: Seller, { sale, intent, deadline }: At): Promise<Outcome> {
  const isExpired = intent.cancellation_reason === 'expired';
  const ended = `The payment ${isExpired ? 'expired' : 'was canceled'} before it could be made.`;
  const why = intent.last_payment_error?.message ?? ended;
  const reason = intent.last_payment_error?.decline_code ?? 'payment_canceled';
  const { token } = seller;
  const authorization = paidBy(seller, intent);
  const isEarlier = authorization.nonce !== sale.authorization.nonce;
  const failed = (message: string): Outcome => {
    return { status: 'failed', reason, message, ...(isEarlier ? { isEarlier } : {}) };
  };
  const isUsed = await token.isUsed(authorization);
  const arrival = isUsed ? await token.findArrival(authorization) : null;
  if (arrival?.status === 'unknown') {
    throw new Error(`${keyOf(sale)} was used, but the node does not show how`);
  }
  if (arrival?.status !== 'arrived') {
    return failed(`${why} Nothing was charged. A transfer that still arrives will be refunded.`);
  }
  const back = await token.giveBack(authorization);
  const given = await token.transfer(back, Math.max(0, deadline - performance.now()));
  switch (given.status) {
    case 'done':
      return failed(`${why} The money was refunded.`);
    case 'sent': {
      const hash = given.hash ?? '';
      return { status: 'pending', intent, hash, message: `${why} The refund is pending.` };
    }
    case 'refused':
      throw new Error(`${keyOf(sale)} cannot be refunded: ${given.reason}`);
  }
}
