import { type Atoms, atoms } from '#core/money.ts';
import { type Limit, limitFrom, type StoredShopSum } from '#core/shop-limit.ts';
import { as, type Row, table } from '#db/table.ts';

/** An account's risk policy in one mode. A `null` limit switches its rule off. */
export interface RiskSettings {
  /**
   * FIRST_MERCHANT_PAYMENT: a payer's first payment here requires confirmation from this amount on.
   */
  readonly firstPaymentConfirmFrom: Atoms | null;
  /** HIGH_AMOUNT: every payment requires confirmation from this amount on. */
  readonly highAmountConfirmFrom: Atoms | null;
  /**
   * VELOCITY: the number of payments that one payer can make here within an hour; further ones are
   * declined.
   */
  readonly velocityPerHour: number | null;
}

/** The default policy: confirmation from 50 USDC on for a first payment, nothing else. */
export const DEFAULT_RISK_SETTINGS: RiskSettings = {
  firstPaymentConfirmFrom: atoms(50_000_000),
  highAmountConfirmFrom: null,
  velocityPerHour: null,
};

/** An account's thresholds for the risk rules, one row per account and mode. */
export const riskSettings = table(
  'risk_settings',
  {
    first_payment_confirm_from: 'bigint?',
    first_payment_confirm_from_presentment: as<StoredShopSum | null>('jsonb?'),
    high_amount_confirm_from: 'bigint?',
    high_amount_confirm_from_presentment: as<StoredShopSum | null>('jsonb?'),
    velocity_per_hour: 'int?',
    version: 'int',
  },
  { account_id: 'text', livemode: 'boolean', updated: 'timestamptz' },
);

export type RiskSettingsRow = Row<typeof riskSettings>;

/** The limits of a policy, each in atoms or in the shop's currency. */
export interface RiskLimits {
  readonly first: Limit | null;
  readonly high: Limit | null;
}

function limit(value: bigint | null, stored: StoredShopSum | null): Limit | null {
  return value === null ? null : limitFrom(value, stored);
}

export function riskLimits(row: RiskSettingsRow | undefined): RiskLimits {
  if (row === undefined) {
    const { firstPaymentConfirmFrom: from } = DEFAULT_RISK_SETTINGS;
    return { first: limit(from, null), high: null };
  }
  const { first_payment_confirm_from: first, high_amount_confirm_from: high } = row;
  return {
    first: limit(first, row.first_payment_confirm_from_presentment),
    high: limit(high, row.high_amount_confirm_from_presentment),
  };
}

/**
 * Returns the settings for the rules.
 * @param from the amount in atoms from which a sale reaches a limit
 */
export function toRiskSettings(
  row: RiskSettingsRow | undefined,
  from: (limit: Limit) => bigint = (limit) => limit.atoms,
): RiskSettings {
  const { first, high } = riskLimits(row);
  return {
    firstPaymentConfirmFrom: first === null ? null : atoms(from(first)),
    highAmountConfirmFrom: high === null ? null : atoms(from(high)),
    velocityPerHour: row?.velocity_per_hour ?? null,
  };
}
