import { type Refusal, refuse } from '#core/answer.ts';
import { only } from '#core/assert.ts';
import { minorDigits } from '#core/currencies.ts';
import type { Sql, Tx } from '#db/database.ts';

/** A tax rate, with the name that the account gave it. */
export interface TaxRate {
  readonly name: string;
  /** Basis points. */
  readonly rate: number;
}

/** A discount that tills offer: a rate in basis points, or a sum in the shop's currency. */
export interface DiscountPreset {
  readonly name: string;
  readonly rate?: number | undefined;
  readonly amount?: number | undefined;
}

export interface FiscalSigner {
  readonly url: string;
  /**
   * `terminal` if tills call the signer within their own network; if omitted, the service calls it.
   */
  readonly called_by?: 'terminal' | undefined;
}

/** Named as in the API. */
export interface ShopSettings {
  /** ISO 4217, in lowercase; `null` for USDC. */
  readonly currency: string | null;
  readonly tax_rates: readonly TaxRate[];
  /** True if prices include their tax, unless a line says otherwise. */
  readonly prices_include_tax: boolean;
  readonly discounts: readonly DiscountPreset[];
  readonly legal_name: string | null;
  readonly address: string | null;
  readonly tax_number: string | null;
  readonly fiscal_signer: FiscalSigner | null;
  /** The name of the tax rate of a sale without items; `null` if there is none. */
  readonly default_tax_rate: string | null;
  /** The tips that a till offers; `null` for 10, 15 and 20 percent. */
  readonly tip_percentages: readonly number[] | null;
}

export type ShopEdit = { readonly [Name in keyof ShopSettings]?: ShopSettings[Name] | undefined };

const COLUMNS = `currency, tax_rates, prices_include_tax, discounts, legal_name, address,
  tax_number,
  case when fiscal_signer is not null
    then jsonb_strip_nulls(jsonb_build_object('url', fiscal_signer,
      'called_by', case when fiscal_by_terminal then 'terminal' end))
    end as fiscal_signer,
  default_tax_rate, tip_percentages`;

export async function selectShopSettings(sql: Sql, accountId: string): Promise<ShopSettings> {
  const rows = await sql.query<ShopSettings>(`select ${COLUMNS} from accounts where id = $1`, [
    accountId,
  ]);
  return only(rows, 'account');
}

export interface AskedTerminal {
  readonly accountId: string;
  readonly terminalId: string;
}

interface TaxRow extends Pick<ShopSettings, 'tax_rates' | 'prices_include_tax'> {
  readonly account_id: string;
  readonly terminal_id: string;
}

/**
 * Reads the tax settings for sales at these terminals: the account's, with the rates of the
 * terminal's location if it has its own rates. The location of another account's terminal is
 * ignored.
 */
export async function selectTaxSettings(
  sql: Sql,
  terminals: readonly AskedTerminal[],
): Promise<(of: AskedTerminal) => TaxRow | undefined> {
  const rows = await sql.query<TaxRow>(
    `select w.account_id, w.terminal_id, coalesce(l.tax_rates, a.tax_rates) as tax_rates,
       a.prices_include_tax
     from unnest($1::text[], $2::text[]) as w (account_id, terminal_id)
     join accounts a on a.id = w.account_id
     left join terminals t on t.id = w.terminal_id and t.account_id = a.id
     left join locations l on l.id = t.location_id and l.account_id = a.id`,
    [terminals.map(({ accountId }) => accountId), terminals.map(({ terminalId }) => terminalId)],
  );
  const keyOf = (accountId: string, terminalId: string) => `${accountId} ${terminalId}`;
  const byKey = new Map(rows.map((row) => [keyOf(row.account_id, row.terminal_id), row]));
  return ({ accountId, terminalId }) => byKey.get(keyOf(accountId, terminalId));
}

/** The row must be locked. */
export async function updateShopSettings(
  tx: Tx,
  accountId: string,
  settings: ShopSettings,
): Promise<void> {
  const { currency, tax_rates, prices_include_tax, legal_name, address, tax_number } = settings;
  await tx.query(
    `update accounts set currency = $2, tax_rates = $3::text::jsonb, prices_include_tax = $4,
       legal_name = $5, address = $6, tax_number = $7, fiscal_signer = $8,
       fiscal_by_terminal = $9, discounts = $10::text::jsonb, default_tax_rate = $11,
       tip_percentages = $12::text::jsonb
     where id = $1`,
    [
      accountId,
      currency,
      JSON.stringify(tax_rates),
      prices_include_tax,
      legal_name,
      address,
      tax_number,
      settings.fiscal_signer?.url ?? null,
      settings.fiscal_signer?.called_by === 'terminal',
      JSON.stringify(settings.discounts),
      settings.default_tax_rate,
      settings.tip_percentages === null ? null : JSON.stringify(settings.tip_percentages),
    ],
  );
}

/**
 * Returns why these settings are invalid beyond the checks of their schema; `null` if they are
 * valid.
 */
export function checkShopEdit({
  currency,
  tax_rates: rates = [],
  discounts = [],
}: ShopEdit): Refusal | null {
  if (currency != null && minorDigits(currency) === undefined) {
    const message = `currency must be a lowercase ISO 4217 code or null, not ${currency}.`;
    return refuse('parameter_invalid', message, 'currency');
  }
  if (discounts.some(({ rate, amount }) => (rate === undefined) === (amount === undefined))) {
    const message = 'Each of the discounts needs a rate or an amount, and not both.';
    return refuse('parameter_invalid', message, 'discounts');
  }
  if (new Set(rates.map(({ name }) => name)).size === rates.length) return null;
  return refuse(
    'parameter_invalid',
    'Each of the tax_rates must have a different name.',
    'tax_rates',
  );
}

/** Refuses settings whose default tax rate is none of their rates. */
export function checkDefaultRate(settings: ShopSettings): Refusal | null {
  const { default_tax_rate: name, tax_rates: rates } = settings;
  if (name === null || rates.some((rate) => rate.name === name)) return null;
  return refuse(
    'parameter_invalid',
    'default_tax_rate must be the name of one of the tax_rates, or null.',
    'default_tax_rate',
  );
}

/** Returns the edit without its omitted fields. */
export function namedIn(edit: ShopEdit): Partial<ShopSettings> {
  return Object.fromEntries(Object.entries(edit).filter(([, value]) => value !== undefined));
}
