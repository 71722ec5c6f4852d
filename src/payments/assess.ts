import { addMs } from '#core/clock.ts';
import type { Tx } from '#db/database.ts';
import type { PayerRow } from '#payers/queries.ts';
import type { Decline } from '#payments/decline.ts';
import type { PaymentIntent } from '#payments/payment-intent.ts';
import { type PayerActivityRow, selectPayerActivity, selectRiskSettings } from '#risk/queries.ts';
import { assessRisk, type RiskRule } from '#risk/rules.ts';
import { type RiskSettings, toRiskSettings } from '#risk/settings.ts';

/** What the chain says of a payment that is about to be asked for. */
export type PreflightResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly decline: Decline }
  | 'unavailable';

/** Everything that a payment is decided on. Read under the locks of intent and payer. */
export interface PaymentFacts {
  readonly intent: PaymentIntent;
  readonly payer: PayerRow;
  readonly credentialProblem: Decline | null;
  readonly preflight: Exclude<PreflightResult, 'unavailable'>;
  readonly settings: RiskSettings;
  readonly activity: PayerActivityRow;
}

export type Assessment =
  | { readonly kind: 'settle' }
  | { readonly kind: 'ask_payer'; readonly rule: RiskRule }
  | { readonly kind: 'decline'; readonly decline: Decline; readonly rule?: RiskRule };

const HOUR_MS = 3_600_000;

function startOfUtcDay(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()));
}

/** Policy and sums that the rules need; call it after the payer is locked. */
export async function readActivity(
  tx: Tx,
  of: { readonly intent: PaymentIntent; readonly payer: PayerRow; readonly now: Date },
): Promise<Pick<PaymentFacts, 'settings' | 'activity'>> {
  const { intent, payer, now } = of;
  const [settings, activity] = await Promise.all([
    selectRiskSettings(tx, intent.tenant),
    selectPayerActivity(tx, {
      payerId: payer.id,
      address: payer.address,
      tenant: intent.tenant,
      exceptIntentId: intent.id,
      since: { day: startOfUtcDay(now), hour: addMs(now, -HOUR_MS) },
    }),
  ]);
  return { settings: toRiskSettings(settings), activity };
}

/** The payer's own limits: per payment, and per UTC day with what is on its way. */
function exceedsLimits({ intent, payer, activity }: PaymentFacts): boolean {
  const { limit_per_payment: perPayment, limit_per_day: perDay } = payer;
  if (perPayment !== null && intent.amount > perPayment) return true;
  const today = activity.settled_today + activity.under_way + intent.amount;
  return perDay !== null && today > perDay;
}

/** The checks of decisions.md section 7 in their order; the first that fails decides. */
export function assessPayment(facts: PaymentFacts): Assessment {
  const { intent, payer, credentialProblem, preflight, settings, activity } = facts;
  if (credentialProblem !== null) return { kind: 'decline', decline: credentialProblem };
  if (payer.blocked_at !== null) return { kind: 'decline', decline: 'risk_blocked' };
  if (!preflight.ok) return { kind: 'decline', decline: preflight.decline };
  if (exceedsLimits(facts)) return { kind: 'decline', decline: 'limit_exceeded' };
  const verdict = assessRisk({
    settings,
    amount: intent.amount,
    blockedHere: activity.blocked_here,
    paidHereBefore: activity.paid_here_before,
    paymentsWithinHour: activity.settled_here_within_hour + activity.under_way_here,
    payerConfirmsFirst: payer.confirm_first_payment,
  });
  switch (verdict.kind) {
    case 'allow':
      return { kind: 'settle' };
    case 'confirm':
      return { kind: 'ask_payer', rule: verdict.rule };
    case 'block':
      return { kind: 'decline', decline: 'risk_blocked', rule: verdict.rule };
  }
}
