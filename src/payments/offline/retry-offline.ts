import { isRefusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { chargesOf } from '#core/charges.ts';
import { addMs } from '#core/clock.ts';
import { tenantOf } from '#core/mode.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { appendEvents } from '#events/append-events.ts';
import { describeError } from '#observability/log.ts';
import type { Decline } from '#payments/decline-codes.ts';
import { lockIntents, selectPayable } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { judgeOnChain } from '#payments/offline/decide-bounce.ts';
import {
  bounceOffline,
  type DueOffline,
  lockDueOffline,
  postponeDue,
  postponeOffline,
  selectDueOffline,
} from '#payments/offline/offline-queries.ts';
import type { BounceReason } from '#payments/offline/offline-states.ts';
import { offlineDraft } from '#payments/offline/render-offline-payment.ts';
import { type ChainVerdict, readOfflineRates } from '#payments/offline/signed-sale.ts';
import { RETRY_MS } from '#payments/offline/take-forwarded.ts';
import { transition } from '#payments/payment-intent.ts';
import { saveStates, stepDrafts } from '#payments/save-intent-steps.ts';
import { requestSettlement } from '#payments/settlement-job.ts';
import { announce } from '#payments/wake-waiting-requests.ts';
import { type Chain, withoutUrgency } from '#settlement/chain/chain.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';

/** Sales per run. For each, the chain is queried and a transaction runs. */
const BATCH = 20;

type Context = ProcessContext & {
  readonly chains: readonly Chain[];
  readonly settings: { readonly settleWithinS: number };
};

type Processing = PaymentIntent & { readonly status: 'processing' };

/**
 * Decides again about offline sales without a settlement job: the hourly ceiling was full, or the
 * last job failed or missed its deadline. A sale that can still be paid gets another job with the
 * same settlement number, so at most one of its jobs settles. Other sales bounce. @returns true if
 * there may be more.
 */
export async function retryOffline(ctx: Context): Promise<boolean> {
  const modes = ctx.chains.map(({ config }) => config.livemode);
  const due = await selectDueOffline(ctx.db, ctx.clock.now(), { modes, limit: BATCH });
  for (const one of due) {
    try {
      await retryOne(ctx, one);
    } catch (error) {
      // Continues with the next sale. Otherwise this one, the first of each run, would block all
      // others.
      ctx.log.error('an offline sale could not be decided', {
        sale: one.id,
        error: describeError(error),
      });
      await postponeDue(ctx.db, one, addMs(ctx.clock.now(), RETRY_MS));
    }
  }
  return due.length === BATCH;
}

async function retryOne(ctx: Context, due: DueOffline): Promise<void> {
  const chain = present(
    ctx.chains.find(({ config }) => config.livemode === due.livemode),
    'chain of an offline sale',
  );
  const [intent] = await selectPayable(ctx.db, [due.payment_intent_id]);
  if (intent?.status !== 'processing') return;
  const verdict = await judge(ctx, chain, { due, intent });
  const changed = await ctx.db.transaction((tx) => writeVerdict(tx, ctx, { due, verdict }));
  if (changed === null) return;
  announce(ctx.wakeups, changed.intent);
  if (changed.deliveries > 0) ctx.wakeups.send('deliveries');
}

/** The reason why a sale must still wait, or the verdict that decides it. */
type RetryVerdict = Exclude<ChainVerdict, 'merchant_refused'>;

/** Queries the chain about a sale. Call it outside a transaction. */
async function judge(
  { db, clock }: Context,
  chain: Chain,
  { due, intent }: { readonly due: DueOffline; readonly intent: Processing },
): Promise<RetryVerdict> {
  const { credential, payerAddress: payer } = intent.attempt;
  if (!('signature' in credential)) throw new Error(`${intent.id} has no authorization`);
  const merchantNumber = present(intent.merchant_number, 'merchant number');
  const number = present(intent.settlement_number, 'settlement number');
  const { amount, order_id: orderId } = intent;
  try {
    const { rates } = await readOfflineRates(db, chain, merchantNumber);
    const payment = { number, payer, merchantNumber, amount, orderId };
    const judged = await judgeOnChain(withoutUrgency(chain), {
      payment,
      authorization: credential,
      rates,
    });
    const verdict = judged === 'merchant_refused' ? 'later' : judged;
    if (['settled', 'unavailable', 'authorization_used'].includes(verdict)) return verdict;
    const seconds = Math.floor(clock.now().getTime() / 1000);
    if (Number(credential.validBefore) <= seconds) {
      return verdict === 'wallet_refuses' ? verdict : 'authorization_expired';
    }
    if (verdict === 'later' || verdict === 'wallet_refuses') return 'later';
    return due.value === chargesOf(amount, rates).pulled ? verdict : 'rates_changed';
  } catch (error) {
    if (error instanceof RpcUnavailable) return 'unavailable';
    throw error;
  }
}

/** The decline code of the intent for each bounce reason: the closest existing code. */
const DECLINES: Readonly<Record<BounceReason, Decline>> = {
  insufficient_funds: 'insufficient_funds',
  authorization_expired: 'authorization_refused',
  authorization_used: 'authorization_refused',
  authorization_invalid: 'authorization_refused',
  rates_changed: 'authorization_refused',
  blocked: 'risk_blocked',
  limit_exceeded: 'limit_exceeded',
  already_paid: 'authorization_refused',
  wallet_refuses: 'authorization_refused',
};

interface Changed {
  readonly intent: PaymentIntent;
  readonly deliveries: number;
}

/** Applies the verdict to the sale, unless the sale has changed since it was read. */
async function writeVerdict(
  tx: Tx,
  { clock, settings }: Context,
  { due, verdict }: { readonly due: DueOffline; readonly verdict: RetryVerdict },
): Promise<Changed | null> {
  const now = clock.now();
  const [intent] = await lockIntents(tx, [due.payment_intent_id]);
  if (intent?.status !== 'processing' || !(await lockDueOffline(tx, due))) return null;
  // While recovery compares the ledger with the chain, the sale waits too: recovery itself books a
  // settlement that it finds.
  const mustWait = verdict === 'later' || verdict === 'unavailable';
  if (mustWait || !tx.watch.serves(due.livemode)) {
    await postponeOffline(tx, [intent.id], addMs(now, RETRY_MS));
    return null;
  }
  if (verdict === 'ok' || verdict === 'settled') {
    // Even if the chain has settled the number, another job is needed: the relayer then finds the
    // settlement and books it.
    const merchantNumber = present(intent.merchant_number, 'merchant number');
    const { settleWithinS } = settings;
    await requestSettlement(tx, intent, { merchantNumber, settleWithinS }, now);
    await postponeOffline(tx, [intent.id], null);
    return { intent, deliveries: 0 };
  }
  return bounce(tx, { intent, saleId: due.id, reason: verdict }, now);
}

async function bounce(
  tx: Tx,
  sale: { readonly intent: Processing; readonly saleId: string; readonly reason: BounceReason },
  now: Date,
): Promise<Changed> {
  const { intent: before, saleId, reason } = sale;
  const decline = DECLINES[reason];
  const steps = transition(before, { type: 'not_settled', decline }, now);
  if (isRefusal(steps)) throw new Error(`an offline sale cannot bounce: ${steps.message}`);
  const change = { before, steps };
  await saveStates(tx, [change]);
  const row = await bounceOffline(tx, { id: saleId, reason });
  const stamp = await stampOrder(tx, tenantOf(before), now, steps.length + 1);
  const drafts = [...stepDrafts(change, stamp), offlineDraft(row, stamp)];
  const deliveries = await appendEvents(tx, drafts);
  return { intent: present(steps.at(-1), 'step of a bounce').intent, deliveries };
}
