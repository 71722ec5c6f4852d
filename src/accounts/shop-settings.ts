import { type Refusal, refuse } from '#core/answer.ts';
import { only } from '#core/assert.ts';
import { minorDigits } from '#core/currencies.ts';
import type { Sql, Tx } from '#db/database.ts';

/** A tax rate with the account's name for it. */
export interface TaxRate {
  readonly name: string;
  /** Basis points. */
  readonly rate: number;
}

/** The service that signs receipts. */
export interface FiscalSigner {
  readonly url: string;
  /** Set if tills call it, in their own network; otherwise the service does. */
  readonly called_by?: 'terminal' | undefined;
}

/** The pricing and receipt settings of a shop. Named as in the API. */
export interface ShopSettings {
  /** ISO 4217, in lowercase; `null` for USDC. */
  readonly currency: string | null;
  readonly tax_rates: readonly TaxRate[];
  /** True if prices include their tax, unless a line says otherwise. */
  readonly prices_include_tax: boolean;
  readonly legal_name: string | null;
  readonly address: string | null;
  readonly tax_number: string | null;
  readonly fiscal_signer: FiscalSigner | null;
}

export type ShopEdit = { readonly [Name in keyof ShopSettings]?: ShopSettings[Name] | undefined };

interface Id {
  readonly id: string;
}

const COLUMNS = `currency, tax_rates, prices_include_tax, legal_name, address, tax_number,
  case when fiscal_signer is not null
    then jsonb_strip_nulls(jsonb_build_object('url', fiscal_signer,
      'called_by', case when fiscal_by_terminal then 'terminal' end))
    end as fiscal_signer`;

export async function selectShopSettings(sql: Sql, accountId: string): Promise<ShopSettings> {
  const rows = await sql.query<ShopSettings>(`select ${COLUMNS} from accounts where id = $1`, [
    accountId,
  ]);
  return only(rows, 'account');
}

/** Reads the tax settings by account id. */
export async function selectTaxSettings(
  sql: Sql,
  accountIds: readonly string[],
): Promise<Map<string, Pick<ShopSettings, 'tax_rates' | 'prices_include_tax'>>> {
  const rows = await sql.query<Pick<ShopSettings, 'tax_rates' | 'prices_include_tax'> & Id>(
    'select id, tax_rates, prices_include_tax from accounts where id = any($1)',
    [accountIds],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Updates the shop's settings. The row must be locked. */
export async function updateShopSettings(
  tx: Tx,
  accountId: string,
  settings: ShopSettings,
): Promise<void> {
  const { currency, tax_rates, prices_include_tax, legal_name, address, tax_number } = settings;
  await tx.query(
    `update accounts set currency = $2, tax_rates = $3::text::jsonb, prices_include_tax = $4,
       legal_name = $5, address = $6, tax_number = $7, fiscal_signer = $8,
       fiscal_by_terminal = $9
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
    ],
  );
}

/** Returns the reason why these settings are invalid beyond their schema, or `null`. */
export function checkShopEdit({ currency, tax_rates: rates = [] }: ShopEdit): Refusal | null {
  if (currency != null && minorDigits(currency) === undefined) {
    const message = `currency: ISO 4217 has no ${currency}. Send a lowercase code, or null.`;
    return refuse('parameter_invalid', message, 'currency');
  }
  if (new Set(rates.map(({ name }) => name)).size === rates.length) return null;
  return refuse('parameter_invalid', 'Two of the tax_rates have the same name.', 'tax_rates');
}

/** Returns the edit without its omitted fields. */
export function namedIn(edit: ShopEdit): Partial<ShopSettings> {
  return Object.fromEntries(Object.entries(edit).filter(([, value]) => value !== undefined));
}
