/** Limits in minor units of the shop's currency. */
export interface PresentmentLimits {
  readonly currency: string;
  readonly per_payment: number;
  readonly per_card_per_day: number;
  readonly total: number;
}

/** The three sums that an offline till may not exceed, in one unit. */
export type SumLimit = 'per_payment' | 'per_card_per_day' | 'total';

/**
 * The limits for sales that a till accepts offline. They have the same form in the API and the
 * database. The till keeps to them (`till-offline-limits.ts`), and `decide-bounce.ts` enforces them
 * when it forwards the sales.
 */
export interface OfflineLimits {
  /**
   * Maximum of one sale. This limit and the next two are in atoms; if they were set in the shop's
   * currency, this is what they were worth then.
   */
  readonly per_payment: number;
  readonly per_card_per_day: number;
  readonly total: number;
  readonly count: number;
  /** Hours since the till's last contact with the service; only the till enforces them. */
  readonly hours: number;
  /** The limits as they were set in the shop's currency; `null` if they were set in atoms. */
  readonly presentment: PresentmentLimits | null;
  /** Basis points by which the till's rate is above the market's. */
  readonly rate_margin: number;
}

/** Limits as stored. Releases that sold offline in USDC alone wrote neither of the last two. */
export type StoredLimits = Omit<OfflineLimits, 'presentment' | 'rate_margin'> &
  Partial<Pick<OfflineLimits, 'presentment' | 'rate_margin'>>;

/** Covers what major currencies move in a day or two. */
export const USUAL_MARGIN = 100;

/** The operator's rule for a network; `per_payment` is the maximum in atoms, `null` for none. */
export interface OfflineRule {
  readonly allowed: boolean;
  readonly per_payment: bigint | null;
}

function presentmentObject({ presentment }: StoredLimits) {
  if (presentment == null) return null;
  const { currency, per_payment, per_card_per_day, total } = presentment;
  return { currency, per_payment, per_card_per_day, total };
}

/** Returns limits with their fields in the API's order, which the database does not keep. */
export function limitsObject(limits: StoredLimits | null) {
  if (limits === null) return null;
  const { per_payment, per_card_per_day, total, count, hours } = limits;
  const presentment = presentmentObject(limits);
  const { rate_margin = USUAL_MARGIN } = limits;
  return { per_payment, per_card_per_day, total, count, hours, presentment, rate_margin };
}

/** A till's limits, and the operator's cap on one sale beside them. */
export type TillLimits = OfflineLimits & {
  /** Atoms; `null` for none. */
  readonly cap: number | null;
};

/** Returns the limits for a till within the operator's rule. */
export function offlineWithin(
  { offline }: { readonly offline: StoredLimits | null },
  rule: OfflineRule,
): TillLimits | null {
  const limits = limitsObject(offline);
  if (limits === null || !rule.allowed) return null;
  return { ...limits, cap: rule.per_payment === null ? null : Number(rule.per_payment) };
}

/** Returns a limit in atoms and, if it was set in the shop's currency, in its minor units. */
export function limitOf({ presentment, ...limits }: OfflineLimits, name: SumLimit) {
  return { atoms: limits[name], units: presentment?.[name] ?? null };
}
