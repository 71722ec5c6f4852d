import { present } from '#core/assert.ts';
import { startOfUtcDay } from '#core/check-day-range.ts';
import { addMs } from '#core/clock.ts';
import { HOUR_MS } from '#core/durations.ts';
import { tenantOf } from '#core/mode.ts';
import type { Atoms } from '#core/money.ts';
import { reachesFrom } from '#core/shop-limit.ts';
import { tenantKey } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import type { CardRow } from '#payers/card-queries.ts';
import type { ChipRow } from '#payers/chip-queries.ts';
import type { PayerRow } from '#payers/payer-queries.ts';
import type { Decline } from '#payments/decline-codes.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { byAccountClock } from '#payments/payment-intent.ts';
import { selectRates, usableRate } from '#prices/rate-queries.ts';
import {
  type PayerActivity,
  selectPayerActivities,
  selectRiskSettingsOf,
} from '#risk/risk-queries.ts';
import {
  assessRisk,
  isRefusedOften,
  type RiskRule,
  type StaticPassTerms,
} from '#risk/risk-rules.ts';
import {
  type RiskSettings,
  type RiskSettingsRow,
  riskLimits,
  toRiskSettings,
} from '#risk/risk-settings.ts';

/**
 * The result of asking the chain whether it would accept a payment, before its settlement is
 * requested.
 */
export type Checked = { readonly ok: true } | { readonly ok: false; readonly decline: Decline };

/**
 * `unavailable` and `hour_full` mean that the chain can take no payments now. They say nothing
 * about this payment.
 */
export type PreflightResult = Checked | 'unavailable' | 'hour_full';

/** The facts that decide a payment, read while holding the locks of intent and payer. */
export interface PaymentFacts {
  readonly intent: PaymentIntent;
  /** The sum of sale and tip. */
  readonly amount: Atoms;
  readonly payer: PayerRow;
  readonly credentialProblem: Decline | null;
  /**
   * The tapped card; `null` for other credentials. `per_payment_limit` is `null` if its owner has
   * set none.
   */
  readonly card:
    | (Pick<CardRow, 'asks_since'> & { readonly per_payment_limit: bigint | null })
    | null;
  /**
   * The terms on which the payer must confirm, because the credential can be copied; `null` if it
   * cannot be copied.
   */
  readonly copied: StaticPassTerms | null;
  /** The owner's settings for the signing address, if it is a registered chip; otherwise `null`. */
  readonly chip?: Pick<ChipRow, 'per_payment_limit' | 'blocked_at'> | null;
  /**
   * Time of a data loss that may have lost used taps of this credential, so that its payer must
   * confirm.
   */
  readonly doubtedAt?: Date | null;
  readonly preflight: Checked;
  readonly settings: RiskSettings;
  readonly activity: PayerActivity;
  /** True if the wallet's key has signed this payment itself, so that no confirmation is needed. */
  readonly isSigned?: boolean;
}

export type Assessment =
  | { readonly kind: 'settle' }
  | { readonly kind: 'ask_payer'; readonly rule: RiskRule | 'CARD_AFTER_RECOVERY' }
  | { readonly kind: 'decline'; readonly decline: Decline; readonly rule?: RiskRule };

export interface Candidate {
  readonly intent: PaymentIntent;
  readonly payer: PayerRow;
}

/**
 * Reads the settings and sums that the risk rules need, one element per candidate. Call it after
 * locking the payers.
 */
export async function readActivities(
  tx: Tx,
  candidates: readonly Candidate[],
  now: Date,
): Promise<Pick<PaymentFacts, 'settings' | 'activity'>[]> {
  if (candidates.length === 0) return [];
  const tenants = new Map(
    candidates.map(({ intent }) => [tenantKey(tenantOf(intent)), tenantOf(intent)] as const),
  );
  const [rows, activities] = await Promise.all([
    selectRiskSettingsOf(tx, [...tenants.values()]),
    selectPayerActivities(
      tx,
      candidates.map(({ intent, payer }) => ({
        payerId: payer.id,
        address: payer.address,
        tenant: tenantOf(intent),
        exceptIntentId: intent.id,
        day: startOfUtcDay(byAccountClock(intent, now)),
        hour: addMs(byAccountClock(intent, now), -HOUR_MS),
      })),
    ),
  ]);
  const settings = new Map(
    rows.map((row) => [tenantKey({ accountId: row.account_id, livemode: row.livemode }), row]),
  );
  const rates = await readLimitRates(tx, [...settings.values()]);
  const rateNow = (currency: string) => usableRate(rates, currency, now);
  return candidates.map(({ intent }, index) => ({
    settings: toRiskSettings(settings.get(tenantKey(tenantOf(intent))), (limit) =>
      reachesFrom(limit, intent, limit.inShop === null ? null : rateNow(limit.inShop.currency)),
    ),
    activity: present(activities[index], 'activity of a payer'),
  }));
}

/** Reads the rates of the currencies in which limits are set; most are set in USDC. */
async function readLimitRates(tx: Tx, rows: readonly RiskSettingsRow[]) {
  const limits = rows.map(riskLimits).flatMap(({ first, high }) => [first, high]);
  const currencies = limits.flatMap((limit) => limit?.inShop?.currency ?? []);
  return currencies.length === 0 ? new Map() : await selectRates(tx, currencies);
}

/**
 * True if the payment, together with payments in progress, exceeds the payer's own limits: per
 * payment, per card, or per UTC day.
 */
function exceedsLimits({ amount, payer, card, activity }: PaymentFacts): boolean {
  const { limit_per_payment: perPayment, limit_per_day: perDay } = payer;
  const perTap = card?.per_payment_limit ?? null;
  if (perTap !== null && amount > perTap) return true;
  if (perPayment !== null && amount > perPayment) return true;
  const today = activity.settled_today + activity.under_way + amount;
  return perDay !== null && today > perDay;
}

/**
 * Runs the checks of behavior.md 12.1 in order; the first failure decides. If the payer has signed
 * this payment, it needs no confirmation, and the payer's limits for passes and tokens do not
 * apply. For the address of a chip, its owner's settings apply.
 */
export function assessPayment(facts: PaymentFacts): Assessment {
  const { amount, payer, credentialProblem, preflight, settings, activity } = facts;
  const { isSigned = false, chip = null } = facts;
  if (credentialProblem !== null) return { kind: 'decline', decline: credentialProblem };
  if (payer.blocked_at !== null) return { kind: 'decline', decline: 'risk_blocked' };
  if (chip !== null && chip.blocked_at !== null) {
    return { kind: 'decline', decline: 'risk_blocked' };
  }
  if (!preflight.ok) return { kind: 'decline', decline: preflight.decline };
  const chipLimit = chip?.per_payment_limit ?? null;
  const exceeds = isSigned ? chipLimit !== null && amount > chipLimit : exceedsLimits(facts);
  if (exceeds) return { kind: 'decline', decline: 'limit_exceeded' };
  // Earlier rejections do not count if the payer has signed this payment.
  const refusals = isSigned
    ? { ofPayer: 0, ofAll: 0 }
    : { ofPayer: activity.refused_within_hour, ofAll: activity.refused_here_within_hour };
  const verdict = assessRisk({
    settings,
    amount,
    blockedHere: activity.blocked_here,
    paidHereBefore: activity.paid_here_before,
    paymentsWithinHour: activity.settled_here_within_hour + activity.under_way_here,
    payerConfirmsFirst: payer.confirm_first_payment,
    copied: facts.copied,
    refusals,
  });
  // A data loss may have outdated the card's stored counter. Only the payer knows whether this tap
  // was used before, so the payer must confirm.
  const doubtedAt = facts.card?.asks_since ?? facts.doubtedAt ?? null;
  if (verdict.kind !== 'block' && doubtedAt !== null) {
    if (isRefusedOften({ refusals })) {
      return { kind: 'decline', decline: 'risk_blocked', rule: 'REFUSED_OFTEN' };
    }
    return { kind: 'ask_payer', rule: 'CARD_AFTER_RECOVERY' };
  }
  switch (verdict.kind) {
    case 'allow':
      return { kind: 'settle' };
    case 'confirm':
      return isSigned ? { kind: 'settle' } : { kind: 'ask_payer', rule: verdict.rule };
    case 'block':
      return { kind: 'decline', decline: 'risk_blocked', rule: verdict.rule };
  }
}
