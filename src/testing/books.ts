import { randomBytes } from 'node:crypto';
import { bookMovements, type Movement } from '#books/book-movements.ts';
import { type Statement, statementFile } from '#books/statement.ts';
import type { StatementFormat } from '#books/statement-formats.ts';
import type { Tenant } from '#core/mode.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Database } from '#db/database.ts';

/** A sale for `addSales` to store. */
export interface StoredSale {
  readonly at: Date;
  /** Atoms, with the tip. */
  readonly amount: bigint;
  readonly description?: string;
  /** The id of the sale's location, if it has one. */
  readonly location?: string;
  /** In minor units. */
  readonly presentment?: {
    readonly currency: string;
    readonly amount: number;
    /** Default 1. */
    readonly rate?: string;
  };
}

let calls = 0;

/**
 * Stores sales and their payments, at consecutive positions.
 * @returns the ids of the payments
 */
export async function addSales(
  db: Database,
  tenant: Tenant,
  sales: readonly StoredSale[],
): Promise<string[]> {
  const salt = randomBytes(6).toString('hex');
  const call = (calls++).toString(36).padStart(4, '0');
  const rows = sales.map(
    ({ at, amount, description = null, location = null, presentment = null }, n) => ({
      id: `${salt}${String(n).padStart(10, '0')}`,
      order: `${call}${n.toString(36).padStart(4, '0')}`,
      ...{ n, at, amount: amount.toString(), description, location },
      presentment: presentment && { tipAmount: 0, rate: '1', source: 'test', ...presentment },
    }),
  );
  await db.transaction(async (tx) => {
    const [mode] = await tx.query<{ position: bigint }>(
      `update account_modes set position = position + $3, stamped_at = greatest(stamped_at, $4)
       where account_id = $1 and livemode = $2 returning position - $3 as position`,
      [tenant.accountId, tenant.livemode, rows.length, sales.at(-1)?.at],
    );
    await tx.query(
      `with sale as (
         select * from jsonb_to_recordset($3::text::jsonb) as s (id text, n bigint,
           "order" text, at timestamptz, amount bigint, description text, location text,
           presentment jsonb)
       ), intent as (
         insert into payment_intents (id, account_id, livemode, position, created, amount,
           terminal_id, order_id, description, metadata, source, expires_at, status, attempt,
           payment_id, tx_hash, presentment, location_id)
         select 'pi_' || id, $1, $2, $4 + n + 1, at, amount, 'tml_1', "order", description,
           '{}', 'api', at, 'succeeded', '{}', 'pay_' || id, '0x01', presentment,
           location from sale
         returning id
       )
       insert into payments (id, account_id, livemode, position, created, payment_intent_id,
         terminal_id, payer_id, payer_address, order_id, method_type, credential_type, amount,
         fee_acquirer, fee_protocol, fee_cashback, chain_id, settlement_number, batch_number,
         tx_hash, block_number, log_index, settled_at, refundable_until, presentment, location_id)
       select 'pay_' || id, $1, $2, $4 + n + 1, at, 'pi_' || id, 'tml_1', 'pyr_1',
         '0x' || repeat('aa', 20),
         "order", 'wallet_pass', 'nfc_id', amount, 3, 2, 1, 31337,
         ('x' || left(md5(id), 15))::bit(60)::bigint, 1,
         '0x' || repeat('01', 32), 1, 0, at, at, presentment,
         location
       from sale`,
      [tenant.accountId, tenant.livemode, JSON.stringify(rows), mode?.position],
    );
  });
  return rows.map(({ id }) => `pay_${id}`);
}

/** Books ledger entries as the service does, each at its own time on the account's clock. */
export async function addMovements(
  db: Database,
  tenant: Tenant,
  movements: readonly (Omit<Movement, 'tenant' | 'stamp'> & { readonly at: Date })[],
): Promise<void> {
  for (const { at, ...movement } of movements) {
    await db.transaction(async (tx) => {
      const stamp = await stampOrder(tx, tenant, at, 1);
      await bookMovements(tx, [{ ...movement, tenant, stamp }]);
    });
  }
}

/** Returns the content of a statement's file in this format. */
export async function fileOf(
  db: Database,
  statement: Statement,
  format: StatementFormat,
): Promise<string> {
  const parts: string[] = [];
  for await (const part of statementFile(db, statement, format)) parts.push(part);
  return parts.join('');
}

/** A line of a statement in JSON Lines. */
export interface JsonEntry {
  readonly id: string;
  readonly type: string;
  readonly amount: number;
  readonly created: string;
  readonly original?: string;
}

/** Parses a statement in JSON Lines. */
export function parseJsonl(text: string) {
  const [head, ...entries] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return {
    head: head as { readonly opening_balance: number; readonly closing_balance: number },
    entries: entries as JsonEntry[],
  };
}

/** Parses CSV by RFC 4180. */
export function parseCsv(text: string, separator = ','): string[][] {
  const rows: string[][] = [[]];
  let cell = '';
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const next = text[i];
    if (quoted && next === '"' && text[i + 1] === '"') cell += text[i++];
    else if (next === '"') quoted = !quoted;
    else if (!quoted && (next === separator || text.startsWith('\r\n', i))) {
      rows.at(-1)?.push(cell);
      cell = '';
      if (next !== separator) {
        rows.push([]);
        i++;
      }
    } else cell += next;
  }
  return rows.slice(0, -1);
}
