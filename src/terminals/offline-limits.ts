/**
 * The limits for sales that a till accepts offline. They have the same form in the API and the
 * database. The till keeps to them (`till-offline-limits.ts`), and `decide-bounce.ts` enforces them
 * when it forwards the sales.
 */
export interface OfflineLimits {
  /** Maximum of one sale. This limit and the next two are in atoms. */
  readonly per_payment: number;
  readonly per_card_per_day: number;
  readonly total: number;
  readonly count: number;
  /** Hours since the till's last contact with the service; only the till enforces them. */
  readonly hours: number;
}

/** The operator's rule for a network; `per_payment` is the maximum in atoms, `null` for none. */
export interface OfflineRule {
  readonly allowed: boolean;
  readonly per_payment: bigint | null;
}

/** Returns limits with their fields in the API's order, which the database does not keep. */
export function limitsObject(limits: OfflineLimits | null) {
  if (limits === null) return null;
  const { per_payment, per_card_per_day, total, count, hours } = limits;
  return { per_payment, per_card_per_day, total, count, hours };
}

/** Returns the limits for a till: the merchant's, reduced to the operator's rule. */
export function offlineWithin(
  { offline }: { readonly offline: OfflineLimits | null },
  rule: OfflineRule,
): OfflineLimits | null {
  const limits = limitsObject(offline);
  if (limits === null || !rule.allowed) return null;
  const cap = rule.per_payment;
  if (cap === null || cap >= limits.per_payment) return limits;
  return { ...limits, per_payment: Number(cap) };
}
