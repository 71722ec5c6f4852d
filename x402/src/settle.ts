import { setTimeout as sleep } from 'node:timers/promises';
import { type PaymentIntent, TaplineError } from 'tapline';
import { PayerError } from './payer.ts';
import type { Settled } from './payment-requirements.ts';
import { keyOf, openSale, type Sale, type Seller } from './sale-intent.ts';
import { obstacleOf, readSale } from './verify.ts';

/**
 * The result of a sale. `pending`: repeat the call with the same signature, never with a new one.
 */
type Outcome =
  | { readonly status: 'paid'; readonly intent: PaymentIntent; readonly hash: string }
  | { readonly status: 'pending'; readonly hash: string; readonly message: string }
  | { readonly status: 'failed'; readonly reason: string; readonly message: string };

const LOOK_MS = 300;

export interface SettleOptions {
  /**
   * The time to wait for chain and network, in milliseconds, before the response is
   * `settlement_pending`.
   */
  readonly waitMs: number;
}

/**
 * Takes the client's money and pays the merchant. A repeated call returns the same result and moves
 * no money twice: the token accepts each nonce once, the network pays each intent once, and both
 * are queried rather than remembered. The process may stop at any point without losing anything.
 */
export async function settle(
  seller: Seller,
  asked: { readonly payload: unknown; readonly requirements: unknown },
  options: SettleOptions,
): Promise<Settled> {
  const network = `eip155:${seller.token.facts.chainId}`;
  const checked = await readSale(seller, asked.payload, asked.requirements);
  if ('refusal' in checked) {
    const {
      invalidReason: errorReason = 'invalid_payload',
      invalidMessage,
      payer,
    } = checked.refusal;
    const from = payer === undefined ? {} : { payer };
    const words = invalidMessage === undefined ? {} : { errorMessage: invalidMessage };
    return { success: false, errorReason, ...words, transaction: '', network, ...from };
  }
  const { sale } = checked;
  const outcome = await run(seller, sale, performance.now() + options.waitMs);
  return { ...answerOf(outcome, sale), network, payer: sale.authorization.from };
}

function answerOf(outcome: Outcome, sale: Sale): Omit<Settled, 'network'> {
  switch (outcome.status) {
    case 'paid':
      return {
        success: true,
        transaction: outcome.hash,
        amount: String(sale.authorization.value),
        extra: { paymentIntent: outcome.intent.id },
      };
    case 'pending':
      return {
        success: false,
        errorReason: 'settlement_pending',
        errorMessage: outcome.message,
        transaction: outcome.hash,
      };
    case 'failed':
      return {
        success: false,
        errorReason: outcome.reason,
        errorMessage: outcome.message,
        transaction: '',
      };
  }
}

/** Runs one step at a time, chosen from the current state of network and chain. */
async function run(seller: Seller, sale: Sale, deadline: number): Promise<Outcome> {
  const { merchant, token } = seller;
  const obstacle = await obstacleOf(seller, sale);
  if (obstacle !== null) {
    return { status: 'failed', reason: obstacle, message: 'Nothing was charged.' };
  }
  const place = await openSale(seller, sale);
  if ('taken' in place) {
    const message = 'This signature was used for another resource. Sign a new one.';
    return { status: 'failed', reason: 'duplicate_settlement', message };
  }
  let { intent } = place;
  for (;;) {
    const step = await stepOf(seller, { sale, intent, deadline });
    if (step !== 'again') return step;
    if (performance.now() >= deadline) {
      const hash = (await token.findTransfer(sale.authorization)) ?? '';
      const message = 'The payment is in progress. Try again with the same signature.';
      return { status: 'pending', hash, message };
    }
    await sleep(LOOK_MS);
    intent = await merchant.paymentIntents.retrieve(intent.id);
  }
}

interface At {
  readonly sale: Sale;
  readonly intent: PaymentIntent;
  /** On the clock of `performance.now()`, in milliseconds. */
  readonly deadline: number;
}

async function stepOf(seller: Seller, at: At): Promise<Outcome | 'again'> {
  const { intent, sale } = at;
  switch (intent.status) {
    case 'succeeded': {
      const hash = await seller.token.findTransfer(sale.authorization);
      // The log search does not reach back to old sales. For those, this uses the intent's
      // settlement transaction.
      return { status: 'paid', intent, hash: hash ?? intent.tx_hash ?? '' };
    }
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
async function pay(seller: Seller, { sale, intent, deadline }: At): Promise<Outcome | 'again'> {
  const left = () => Math.max(0, deadline - performance.now());
  const deployed = await seller.token.deploy(sale.authorization, left());
  if (deployed.status === 'sent') {
    const message = 'The wallet is being deployed. Try again with the same signature.';
    return { status: 'pending', hash: '', message };
  }
  if (deployed.status === 'refused') {
    const message = `Nothing was charged: ${deployed.reason}`;
    return { status: 'failed', reason: 'wallet_not_deployed', message };
  }
  const taken = await seller.token.transfer(sale.authorization, left());
  switch (taken.status) {
    case 'sent': {
      const message = 'The transfer is pending. Try again with the same signature.';
      return { status: 'pending', hash: taken.hash ?? '', message };
    }
    case 'refused': {
      const reason = 'invalid_exact_evm_transaction_failed';
      return { status: 'failed', reason, message: `Nothing was charged: ${taken.reason}` };
    }
    case 'done':
      await confirm(seller, intent);
      return 'again';
  }
}

/** Confirms the intent. After a refusal the intent is read, because only its state is reliable. */
async function confirm(seller: Seller, intent: PaymentIntent): Promise<void> {
  const { account, payer, merchant } = seller;
  try {
    const agent_token = await payer.createAgentToken({ account, amount: intent.amount });
    // Each attempt may use a new key, because an intent is paid once, regardless of the key.
    await merchant.paymentIntents.confirm(intent.id, { agent_token });
  } catch (error) {
    if (!(error instanceof TaplineError || error instanceof PayerError)) throw error;
  }
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
  const why =
    intent.last_payment_error?.message ?? `The payment was ${intent.cancellation_reason}.`;
  const reason = intent.last_payment_error?.decline_code ?? 'payment_canceled';
  const { token } = seller;
  const isUsed = await token.isUsed(sale.authorization);
  const arrival = isUsed ? await token.findArrival(sale.authorization) : null;
  if (arrival?.status === 'unknown') {
    throw new Error(`${keyOf(sale.authorization)} was used, but the node does not show how`);
  }
  if (arrival?.status !== 'arrived') {
    const message = `${why} Nothing was charged. A transfer that still arrives will be refunded.`;
    return { status: 'failed', reason, message };
  }
  const back = await token.giveBack(sale.authorization);
  const given = await token.transfer(back, Math.max(0, deadline - performance.now()));
  switch (given.status) {
    case 'done':
      return { status: 'failed', reason, message: `${why} The money was refunded.` };
    case 'sent':
      return {
        status: 'pending',
        hash: given.hash ?? '',
        message: `${why} The refund is pending.`,
      };
    case 'refused':
      throw new Error(`${keyOf(sale.authorization)} cannot be refunded: ${given.reason}`);
  }
}
