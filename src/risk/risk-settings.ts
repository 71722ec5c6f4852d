import type { Atoms } from '#core/money.ts';
import { atoms } from '#core/money.ts';
import { type Row, table } from '#db/table.ts';

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
    high_amount_confirm_from: 'bigint?',
    velocity_per_hour: 'int?',
    version: 'int',
  },
  { account_id: 'text', livemode: 'boolean', updated: 'timestamptz' },
);

export type RiskSettingsRow = Row<typeof riskSettings>;

function optional(value: bigint | null): Atoms | null {
  return value === null ? null : atoms(value);
}

export function toRiskSettings(row: RiskSettingsRow | undefined): RiskSettings {
  if (row === undefined) return DEFAULT_RISK_SETTINGS;
  return {
    firstPaymentConfirmFrom: optional(row.first_payment_confirm_from),
    highAmountConfirmFrom: optional(row.high_amount_confirm_from),
    velocityPerHour: row.velocity_per_hour,
  };
}
