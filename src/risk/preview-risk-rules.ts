import { HOUR_MS } from '#core/durations.ts';
import type { Atoms } from '#core/money.ts';
import { assessRisk, RISK_RULES, type RiskRule } from '#risk/risk-rules.ts';
import type { RiskSettings } from '#risk/risk-settings.ts';

/** A past payment, with the facts that the rules would have used. */
export interface PastPayment {
  readonly payerId: string;
  readonly amount: Atoms;
  readonly settledAt: Date;
  /** True if the payer had paid here before. */
  readonly paidHereBefore: boolean;
  /** True if the wallet signed the payment, so that no confirmation would be needed. */
  readonly isSigned: boolean;
}

export interface RiskPreview {
  readonly payments: number;
  readonly stopped: number;
  readonly asked: number;
  readonly byRule: Readonly<Partial<Record<RiskRule, number>>>;
}

/**
 * Returns the effect that these settings would have had on taps. Payments are in order, oldest
 * first; one that the settings would have declined does not count for later ones.
 */
export function previewRisk(settings: RiskSettings, payments: readonly PastPayment[]): RiskPreview {
  const counts = new Map<RiskRule, number>();
  const lately = new Map<string, number[]>();
  let [stopped, asked] = [0, 0];
  for (const payment of payments) {
    const at = payment.settledAt.getTime();
    const before = (lately.get(payment.payerId) ?? []).filter((one) => one > at - HOUR_MS);
    const verdict = assessRisk({
      settings,
      amount: payment.amount,
      blockedHere: false,
      paidHereBefore: payment.paidHereBefore || lately.has(payment.payerId),
      paymentsWithinHour: before.length,
      payerConfirmsFirst: false,
      copied: null,
      refusals: { ofPayer: 0, ofAll: 0 },
    });
    const isFree = verdict.kind === 'allow' || (verdict.kind === 'confirm' && payment.isSigned);
    if (!isFree) counts.set(verdict.rule, (counts.get(verdict.rule) ?? 0) + 1);
    if (verdict.kind === 'block') stopped++;
    else {
      if (!isFree) asked++;
      lately.set(payment.payerId, [...before, at]);
    }
  }
  const named = RISK_RULES.filter((rule) => counts.has(rule));
  const byRule = Object.fromEntries(named.map((rule) => [rule, counts.get(rule) ?? 0]));
  return { payments: payments.length, stopped, asked, byRule };
}
