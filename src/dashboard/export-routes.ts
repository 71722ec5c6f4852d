import { Readable } from 'node:stream';
import Type from 'typebox';
import { withdrawalObject } from '#accounts/withdraw.ts';
import { selectWithdrawalPage } from '#accounts/withdrawal-queries.ts';
import type { Json } from '#core/canonical-json.ts';
import type { Tenant } from '#core/mode.ts';
import { isRefusal } from '#core/refusal.ts';
import type { PersonCaller } from '#dashboard/caller.ts';
import { type DashboardDeps, MODE } from '#dashboard/dashboard-deps.ts';
import { csvHeader, csvLine, type ExportFormat } from '#dashboard/export-rows.ts';
import { personRoute } from '#dashboard/person-route.ts';
import type { Database } from '#db/database.ts';
import type { Page, Place } from '#db/paging.ts';
import { readPage } from '#http/paging.ts';
import type { AnyRoute, Stream } from '#http/route.ts';
import { createdParameters, oneOf } from '#http/schema.ts';
import { asOf } from '#payments/payment-intent.ts';
import { selectPaymentPage } from '#payments/payment-queries.ts';
import { selectIntentPage } from '#payments/queries.ts';
import { renderIntent, renderPayment } from '#payments/render.ts';
import { selectRefundPage } from '#refunds/queries.ts';
import { renderRefund } from '#refunds/render.ts';

/** Rows held in memory at a time, whatever the size of the export. */
const CHUNK = 500;

type Row = { readonly [key: string]: Json };

interface Chunk {
  readonly places: readonly Place[];
  readonly rows: readonly Row[];
}

/** One kind of export: its columns in CSV, and a page of it. */
interface Export {
  readonly columns: readonly string[];
  read(db: Database, of: { tenant: Tenant; now: Date }, page: Page): Promise<Chunk>;
}

function chunkOf<R extends Place>(found: readonly R[], render: (row: R) => Row): Chunk {
  return { places: found, rows: found.map(render) };
}

const EXPORTS = {
  payments: {
    columns: [
      ...['id', 'created', 'settled_at', 'status', 'amount', 'amount_refunded', 'currency'],
      ...['fees.acquirer', 'fees.protocol', 'fees.cashback', 'total_charged', 'net', 'order_id'],
      ...['terminal', 'payment_intent', 'payer', 'payment_method.type', 'split_group', 'network'],
      ...['chain_id', 'tx_hash', 'block_number', 'log_index', 'refundable_until'],
    ],
    read: async (db, { tenant }, page) => {
      const filters = { terminal_id: null, payment_intent_id: null, status: null };
      return chunkOf(await selectPaymentPage(db, { tenant, filters }, page), renderPayment);
    },
  },
  payment_intents: {
    columns: [
      ...['id', 'created', 'status', 'amount', 'currency', 'order_id', 'description', 'terminal'],
      ...['source', 'payment', 'tx_hash', 'cancellation_reason', 'canceled_at', 'expires_at'],
      ...['picked_up_at', 'tapped_at', 'last_payment_error.decline_code', 'split_group'],
      ...['metadata', 'network'],
    ],
    read: async (db, { tenant, now }, page) => {
      const filters = { terminal_id: null, source: null };
      const found = await selectIntentPage(db, { tenant, filters }, page);
      return chunkOf(found, (intent) => renderIntent(asOf(intent, now)));
    },
  },
  refunds: {
    columns: [
      ...['id', 'created', 'updated', 'payment', 'amount', 'currency', 'status', 'reason'],
      ...['failure_code', 'failure_message', 'tx_hash', 'source', 'metadata', 'network'],
    ],
    read: async (db, { tenant }, page) => {
      const of = { tenant, paymentId: null, status: null };
      return chunkOf(await selectRefundPage(db, of, page), renderRefund);
    },
  },
  withdrawals: {
    columns: [
      ...['id', 'created', 'updated', 'amount', 'currency', 'status', 'wallet', 'failure_code'],
      ...['failure_message', 'tx_hash', 'requested_by', 'network'],
    ],
    read: async (db, { tenant }, page) =>
      chunkOf(await selectWithdrawalPage(db, tenant, page), withdrawalObject),
  },
} as const satisfies Record<string, Export>;

type ExportName = keyof typeof EXPORTS;
const NAMES = Object.keys(EXPORTS) as ExportName[];

/**
 * The lines of an export, page after page: each page is a statement of its own, so no snapshot is
 * held while a slow client reads, and nothing is read ahead of what the client has taken.
 */
async function* lines(
  db: Database,
  of: { readonly name: ExportName; readonly format: ExportFormat; tenant: Tenant; now: Date },
  first: Page,
): AsyncGenerator<string> {
  const kind: Export = EXPORTS[of.name];
  if (of.format === 'csv') yield csvHeader(kind.columns);
  let page: Page | null = first;
  while (page !== null) {
    const { limit }: Page = page;
    const { places, rows }: Chunk = await kind.read(db, of, page);
    const shown = rows.slice(0, limit);
    const text = shown.map((row) =>
      of.format === 'csv' ? csvLine(row, kind.columns) : `${JSON.stringify(row)}\n`,
    );
    if (text.length > 0) yield text.join('');
    const last: Place | undefined = rows.length > limit ? places[limit - 1] : undefined;
    page = last === undefined ? null : { ...first, after: last };
  }
}

const TYPES: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
};

function fileName(name: string, tenant: Tenant, of: { format: string; now: Date }): string {
  const day = of.now.toISOString().slice(0, 10);
  return `tapline-${tenant.livemode ? 'live' : 'test'}-${name}-${day}.${of.format}`;
}

const ExportQuery = Type.Object({
  ...createdParameters,
  format: Type.Optional(oneOf(['csv', 'jsonl'] as const, 'Default csv.')),
});

function exportRoute({ db, cursorKey }: DashboardDeps, name: ExportName) {
  return personRoute<typeof ExportQuery>({
    method: 'GET',
    path: `${MODE}/exports/${name}`,
    operationId: `export_${name}`,
    tag: 'Exports',
    summary: `All ${name.replaceAll('_', ' ')} of the time, newest first, as a file`,
    description:
      'CSV (RFC 4180; a cell that a spreadsheet would run as a formula gets an apostrophe in ' +
      'front) or JSON Lines. Streams any number of rows.',
    access: 'viewer',
    query: ExportQuery,
    handle: async ({ caller: { tenant }, query, now }) => {
      const walk = { list: `export ${name}`, tenant, query, cursorKey };
      const page = readPage(walk, query);
      if (isRefusal(page)) return page;
      const format = query.format ?? 'csv';
      const of = { name, format, tenant, now };
      const stream: Stream = {
        status: 200,
        stream: Readable.from(lines(db, of, { ...page, limit: CHUNK }), { highWaterMark: 1 }),
        headers: {
          'Content-Type': TYPES[format],
          'Content-Disposition': `attachment; filename="${fileName(name, tenant, of)}"`,
          'X-Content-Type-Options': 'nosniff',
        },
      };
      return stream;
    },
  });
}

export function exportRoutes(deps: DashboardDeps): AnyRoute<PersonCaller>[] {
  return NAMES.map((name) => exportRoute(deps, name));
}
