import { checkMayTakePayments } from '#accounts/may-take-payments.ts';
import { type Answer, answerWith, isRefusal, type Refusal, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { add, ZERO } from '#core/money.ts';
import type { Tx } from '#db/database.ts';
import { insertKeys, type StoredKey } from '#idempotency/key-queries.ts';
import { type Done, decideKeyed } from '#idempotency/run-once-per-key.ts';
import { noteStaticTaps, type StaticTap } from '#payers/payer-queries.ts';
import { serviceUnavailable } from '#payments/ask-chain-before-locking.ts';
import { type Assessment, assessPayment } from '#payments/assess-payment.ts';
import { type CredentialState, kindOf, verify, writeConsumed } from '#payments/credential.ts';
import type { Verified } from '#payments/credentials/credential-kind.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import {
  type BatchTerms,
  checkShare,
  consume,
  credentialOf,
  intentOf,
  type PayContext,
  type PayItem,
  readContext,
  record,
  withBatch,
} from '#payments/pay-batch-state.ts';
import { countPayLinkAnswers } from '#payments/pay-link-queries.ts';
import type { PayRequest } from '#payments/pay-request.ts';
import type { Attempt } from '#payments/payment-attempt.ts';
import {
  byAccountClock,
  canBePaid,
  type IntentCommand,
  transition,
} from '#payments/payment-intent.ts';
import { renderIntent } from '#payments/render.ts';
import { type Change, confirmationDeadline, saveSteps } from '#payments/save-intent-steps.ts';
import { settlementOf } from '#payments/settlement-job.ts';
import { checkTip } from '#payments/tip-limits.ts';
import { requestPayments } from '#settlement/chain-requests.ts';
import { checkLedger } from '#settlement/ledger-gate.ts';

export interface Paid {
  readonly answer: Answer | Refusal;
  /** The intent after the decision; `null` if there was no decision (a replay or a refusal). */
  readonly intent: PaymentIntent | null;
}

/**
 * Pays several intents in one transaction: keys, intents, events, deliveries and settlement jobs
 * commit together. Each payment gets the same response as if it were alone: payments are decided in
 * order, and each decision sees what earlier ones consumed.
 */
export async function payBatch(
  tx: Tx,
  items: readonly PayItem[],
  terms: BatchTerms,
): Promise<{ readonly paid: readonly Paid[]; readonly deliveries: number }> {
  const context = await readContext(tx, items, terms);
  const { paid, stored } = decideAll(context, items);
  return { paid, deliveries: await persist(tx, items, { paid, stored, context }) };
}

interface Settling extends Done {
  readonly intent: PaymentIntent;
}

function toDone(intent: PaymentIntent): Settling {
  const answer = answerWith(200, renderIntent(intent));
  return { answer, resource: intent.id, goesOn: intent.status === 'processing', intent };
}

/** Decides the payments one after the other. */
function decideAll(context: PayContext, items: readonly PayItem[]) {
  const requests = items.map(({ request }) => request);
  const { decided, stored } = decideKeyed(context.keys, requests, (_, index) => {
    const result = decide(context, present(items[index], 'item'), index);
    return isRefusal(result) ? result : toDone(result);
  });
  const paid = decided.map(({ answer, done }): Paid => ({ answer, intent: done?.intent ?? null }));
  return { paid, stored };
}

function decide(context: PayContext, item: PayItem, index: number): PaymentIntent | Refusal {
  const { request } = item;
  const { merchant } = request;
  const forbidden =
    context.ends(merchant) ??
    checkLedger(context.watch, merchant.tenant.livemode) ??
    checkMayTakePayments(merchant);
  if (forbidden !== null) return forbidden;
  const current = intentOf(context, request);
  if (current === null) return resourceMissing('payment intent');
  // The database has lost the tap, so the next tap of this intent gets the result from the chain.
  const isRebuilt = current.status === 'succeeded' && current.attempt.credential.type === 'unknown';
  const verified = verifyIn(context, request);
  if (isRebuilt) {
    consume(context, request, verified?.after ?? null);
    return current;
  }
  const wrongTip = checkTip(current, request.tip);
  if (wrongTip !== null) return wrongTip;
  const { now, presented } = request;
  const isTap = kindOf(presented).isTap?.(presented) ?? true;
  const tappedAt = current.tapped_at ?? (isTap ? tapTime(current, now) : null);
  const intent = { ...current, tapped_at: tappedAt };
  const unpayable = canBePaid(intent, now);
  if (unpayable !== null) return unpayable;
  const decided = command(context, { item, index, intent, verified });
  if (isRefusal(decided)) return decided;
  const steps = transition(intent, decided, now);
  if (isRefusal(steps)) return steps;
  consume(context, request, verified?.after ?? null);
  record(context, request, { before: current, steps });
  return present(steps.at(-1), 'step of a payment').intent;
}

/** Verifies the credential in its current state in the batch; `null` if it is unknown. */
function verifyIn(context: PayContext, request: PayRequest): Verified<CredentialState> | null {
  const state = credentialOf(context, request);
  if (state === null) return null;
  const { cardKey } = context.terms;
  return verify(state, request.presented, { cardKey, now: request.now });
}

/**
 * Returns the time of the tap by the account's clock. It is never before the intent was picked up,
 * even if the clocks of two nodes differ.
 */
function tapTime(intent: PaymentIntent, now: Date): Date {
  const at = byAccountClock(intent, now);
  return intent.picked_up_at !== null && intent.picked_up_at > at ? intent.picked_up_at : at;
}

function command(
  context: PayContext,
  considered: {
    readonly item: PayItem;
    readonly index: number;
    readonly intent: PaymentIntent;
    readonly verified: Verified<CredentialState> | null;
  },
): IntentCommand | Refusal {
  const { item, intent, verified } = considered;
  const { request, preflight } = item;
  const { presented, now } = request;
  const tip = request.tip ?? ZERO;
  const state = credentialOf(context, request);
  if (presented.type === 'visiting' && presented.visit.refusal !== null) {
    return { type: 'decline', ...presented.visit.refusal };
  }
  if (state === null || verified === null)
    return { type: 'decline', decline: context.ofUnknown(presented, intent.livemode) };
  // The credential or the intent was created after they were read before locking, so the chain was
  // not queried.
  if (preflight === null) return serviceUnavailable();
  const payer = present(context.payers.get(state.payerId), 'payer of a credential');
  const { settings, activity } = present(context.facts[considered.index], 'facts of a payment');
  const kind = kindOf(state);
  const { isCopied = false, ...facts } = kind.facts?.(state) ?? {};
  const assessment = assessPayment({
    intent,
    amount: add(intent.amount, tip),
    payer,
    credentialProblem:
      kind.check(state, { intent, payerLivemode: payer.livemode, now }) ?? verified.decline,
    card: null,
    ...facts,
    copied: isCopied ? context.terms.staticPass : null,
    preflight,
    settings,
    activity: withBatch(activity, context, { payerId: payer.id, intent }),
  });
  const full = assessment.kind === 'decline' ? null : checkShare(context, intent, tip);
  if (full !== null) return full;
  const attempt: Attempt = {
    payerId: payer.id,
    payerAddress: payer.address,
    credential: kind.stored(state),
    tip,
    reasonCode: null,
    ...(request.traceparent == null ? {} : { traceparent: request.traceparent }),
  };
  return toCommand(assessment, attempt, now);
}

function toCommand(assessment: Assessment, attempt: Attempt, now: Date): IntentCommand {
  switch (assessment.kind) {
    case 'settle':
      return { type: 'settle', attempt };
    case 'ask_payer': {
      const pending = { ...attempt, reasonCode: assessment.rule };
      return { type: 'ask_payer', attempt: pending, confirmBy: confirmationDeadline(now) };
    }
    case 'decline': {
      const { decline, rule } = assessment;
      return { type: 'decline', decline, attempt, ...(rule === undefined ? {} : { rule }) };
    }
  }
}

async function persist(
  tx: Tx,
  items: readonly PayItem[],
  batch: {
    readonly paid: readonly Paid[];
    readonly stored: readonly StoredKey[];
    readonly context: PayContext;
  },
): Promise<number> {
  const { paid, stored, context } = batch;
  const { settleWithinS } = context.terms;
  const now = new Date(Math.max(...items.map(({ request }) => request.now.getTime())));
  const settlements = paid.flatMap(({ intent }, index) => {
    if (intent?.status !== 'processing') return [];
    const { intentId } = present(items[index], 'item').request;
    const locked = context.intents.get(intentId);
    const merchantNumber = present(locked?.merchant_number, 'merchant number');
    return [settlementOf(intent, { merchantNumber, settleWithinS })];
  });
  await writeConsumed(tx, context.consumed.values(), now);
  const answered = items.flatMap(({ request: { presented, intentId } }, index) =>
    presented.type === 'authorization' && !isRefusal(present(paid[index], 'outcome').answer)
      ? [{ intentId, address: presented.signed.payer.address }]
      : [],
  );
  if (answered.length > 0) await countPayLinkAnswers(tx, answered);
  const taps = staticTaps(context, items, paid);
  if (taps.length > 0) await noteStaticTaps(tx, taps, now);
  const [, , deliveries] = await Promise.all([
    requestPayments(tx, settlements, now),
    insertKeys(tx, stored),
    // Locks the accounts' order until the commit, so it runs last.
    saveSteps(tx, [...context.changes.values()] satisfies Change[], now),
  ]);
  return deliveries;
}

/**
 * Returns the static-pass taps that were paid or declined; their payers get a notification. A payer
 * who must confirm gets a confirmation request instead.
 */
function staticTaps(
  context: PayContext,
  items: readonly PayItem[],
  paid: readonly Paid[],
): readonly StaticTap[] {
  return paid.flatMap(({ intent }, index): StaticTap[] => {
    const state = credentialOf(context, present(items[index], 'item').request);
    if (intent === null || state?.type !== 'nfc_id') return [];
    const tap = { passId: state.pass.id, payerId: state.payerId };
    if (intent.status === 'processing') return [{ ...tap, decline: null }];
    const isDeclined = intent.status === 'requires_payment_method';
    const decline = isDeclined ? (intent.last_payment_error?.decline_code ?? null) : null;
    return decline === null ? [] : [{ ...tap, decline }];
  });
}
