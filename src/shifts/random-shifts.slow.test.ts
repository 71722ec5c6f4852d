import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openShift } from '#accounts/shift-rows.ts';
import { bookMovements } from '#books/book-movements.ts';
import { isRefusal } from '#core/answer.ts';
import { newId } from '#core/ids.ts';
import { type Stamp, stampOrder } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { giveReceiptNumbers } from '#payments/receipt-numbers.ts';
import { endShift, type ShiftReport } from '#shifts/end-shift.ts';
import { createRandom, type Random, SEED } from '#testkit/fixtures/core/random.ts';
import {
  addMerchant,
  addTerminal,
  openStore,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';

/** Sequences of steps, each in an account of its own, and how many run at the same time. */
const SEQUENCES = 1_000;
const AT_ONCE = 6;
const STEPS = 14;
const PEOPLE = ['usr_ada', 'usr_ben', null] as const;

let store: TestStore;

before(async () => {
  store = await openStore({ maxConnections: AT_ONCE + 2 });
  // A restore also takes back reports, which no statement of the service can.
  await store.db.query('alter table shift_reports disable trigger shift_reports_no_change', []);
});
after(() => store.close());

interface BookedRow {
  readonly id: string;
  readonly payment: string;
  readonly terminal: string;
  readonly cashier: string | null;
  readonly currency: string;
  /** Sale and tip, or the refunded sum, in the unit of the currency. */
  readonly sums: readonly [sale: number, tip: number] | readonly [refunded: number];
  readonly atoms: number;
  readonly isOffline: boolean;
  readonly receipt: string;
  position: bigint;
  /** True if its entry in the books follows it, in the same transaction. */
  readonly isRebuilt?: boolean;
  isRemoved: boolean;
  report: string | null;
}

interface Correction {
  readonly row: BookedRow;
  readonly sign: 1 | -1;
  readonly position: bigint;
  /** The report that names it; `null` until one does. */
  report: string | null;
}

/** What an account should have, and what its ended reports said when they ended. */
class Model {
  rows: BookedRow[] = [];
  corrections: Correction[] = [];
  readonly reports = new Map<string, { readonly report: ShiftReport; readonly position: bigint }>();
}

type Sums = Record<string, { count: number; sales: number; tips: number; atoms: number } & Back>;
interface Back {
  refunds: number;
  refunded: number;
}

function sumUp(rows: readonly BookedRow[], sign = 1): Sums {
  const sums: Sums = {};
  for (const { currency, sums: own, atoms } of rows) {
    const sum = { count: 0, sales: 0, tips: 0, atoms: 0, refunds: 0, refunded: 0 };
    sums[currency] ??= sum;
    const into = sums[currency] ?? sum;
    const [first, tip] = own;
    if (tip === undefined) {
      into.refunds += sign;
      into.refunded += sign * first;
    } else {
      into.count += sign;
      into.sales += sign * first;
      into.tips += sign * tip;
      into.atoms += sign * atoms;
    }
  }
  return sums;
}

function shown(figures: ShiftReport['figures']): Sums {
  return Object.fromEntries(
    figures.map(({ currency, count, sales, tips, atoms, refunds, refunded }) => {
      return [currency, { count, sales, tips, atoms, refunds, refunded }];
    }),
  );
}

interface Shop {
  readonly own: TestStore;
  readonly terminals: readonly string[];
  readonly random: Random;
  readonly model: Model;
}

const RATE = 10_000;

async function insertSale(tx: Tx, shop: Shop, row: BookedRow, stamp: Stamp): Promise<void> {
  const { accountId } = shop.own.merchant.tenant;
  const [sale = 0, tip = 0] = row.sums;
  const presentment =
    row.currency === 'usdc' ? null : { currency: row.currency, amount: sale, tipAmount: tip };
  const intent = row.id.replace('pay_', 'pi_');
  row.position = stamp.next();
  await tx.query(
    `with intent as (
       insert into payment_intents (id, account_id, livemode, position, created, amount,
         terminal_id, order_id, metadata, source, expires_at, status, attempt, payment_id, tx_hash,
         offline)
       values ($1, $2, false, $3, $4, $5, $6, right($1, 8), '{}', 'api', $4, 'succeeded', '{}', $7,
         '0x01', $8::text::jsonb)
       on conflict (id) do nothing
     )
     insert into payments (id, account_id, livemode, position, created, payment_intent_id,
       terminal_id, payer_id, payer_address, order_id, method_type, credential_type, amount,
       fee_acquirer, fee_protocol, fee_cashback, chain_id, settlement_number, batch_number,
       tx_hash, block_number, log_index, settled_at, refundable_until, tip, presentment,
       cashier_id, receipt_number)
     values ($7, $2, false, $3, $4, $1, $6, 'pyr_1', '0x' || repeat('aa', 20), right($1, 8),
       'wallet_pass', 'nfc_id', $5, 3, 2, 1, 31337, ('x' || left(md5($7), 15))::bit(60)::bigint, 1,
       '0x' || repeat('01', 32), 1, 0, $4, $4, $9, $10::text::jsonb, $11, $12)`,
    [
      ...[intent, accountId, row.position, stamp.created, row.atoms, row.terminal, row.id],
      ...[row.isOffline ? '{}' : null, row.currency === 'usdc' ? tip : 0],
      ...[presentment === null ? null : JSON.stringify(presentment), row.cashier, row.receipt],
    ],
  );
}

async function receiptOf(tx: Tx, { own }: Shop, terminal: string, kind: 'payment' | 'refund') {
  const { accountId: account_id, livemode } = own.merchant.tenant;
  const numbered = { account_id, livemode, terminal_id: terminal };
  return (await giveReceiptNumbers(tx, [numbered], { kind, now: own.clock.now() }))(terminal);
}

async function sell(shop: Shop): Promise<void> {
  const { own, random, model, terminals } = shop;
  const inEuros = random.chance(50);
  const sums = [random.between(1, 500), random.chance(30) ? random.between(1, 50) : 0] as const;
  const id = newId('payment', own.clock.now());
  const terminal = random.pick(terminals);
  const row = await own.db.transaction(async (tx) => {
    const stamp = await stampOrder(tx, own.merchant.tenant, own.clock.now(), 1);
    const row: BookedRow = {
      ...{ id, payment: id, terminal, cashier: random.pick(PEOPLE), sums },
      ...{ currency: inEuros ? 'eur' : 'usdc', isOffline: random.chance(20) },
      atoms: (sums[0] + sums[1]) * (inEuros ? RATE : 1),
      receipt: await receiptOf(tx, shop, terminal, 'payment'),
      ...{ position: 0n, isRemoved: false, report: null },
    };
    await insertSale(tx, shop, row, stamp);
    return row;
  });
  model.rows.push(row);
}

async function refund(shop: Shop): Promise<void> {
  const { own, random, model } = shop;
  const sales = model.rows.filter(({ sums }) => sums.length === 2);
  if (sales.length === 0) return;
  const { payment, terminal, currency, sums } = random.pick(sales);
  const sum = random.between(1, sums[0]);
  const id = newId('refund', own.clock.now());
  const atoms = sum * (currency === 'eur' ? RATE : 1);
  const row: BookedRow = {
    ...{ id, payment, terminal, currency, cashier: random.pick(PEOPLE), sums: [sum], atoms },
    ...{ isOffline: false, receipt: '', position: 0n, isRemoved: false, report: null },
  };
  await own.db.transaction((tx) => insertRefund(tx, shop, row));
  model.rows.push(row);
}

async function insertRefund(tx: Tx, { own, random }: Shop, row: BookedRow): Promise<void> {
  const { tenant } = own.merchant;
  const stamp = await stampOrder(tx, tenant, own.clock.now(), 2);
  const presentment = row.currency === 'usdc' ? null : { currency: 'eur', amount: row.sums[0] };
  await tx.query(
    `insert into refunds (id, account_id, livemode, position, created, updated, payment_id, amount,
       status, source, metadata, presentment, cashier_id, tx_hash)
     values ($1, $2, false, $3, $4, $4, $5, $6, 'succeeded', 'terminal', '{}', $7::text::jsonb, $8,
       '0x01')`,
    [
      ...[row.id, tenant.accountId, stamp.next(), stamp.created, row.payment, row.atoms],
      ...[presentment === null ? null : JSON.stringify(presentment), row.cashier],
    ],
  );
  // Books some late, as a correction of a day that was exported.
  const type = random.chance(20) ? 'correction' : 'refund';
  const movement = { tenant, type, objectId: row.id, amount: -BigInt(row.atoms) } as const;
  const next = () => {
    row.position = stamp.next();
    return row.position;
  };
  await bookMovements(tx, [{ ...movement, happened: null, stamp: { ...stamp, next } }]);
}

/** A reorganization removes a row, or brings it back. */
async function reorganize({ own, random, model }: Shop): Promise<void> {
  if (model.rows.length === 0) return;
  const row = random.pick(model.rows);
  const sign = row.isRemoved ? 1 : -1;
  row.isRemoved = !row.isRemoved;
  const { tenant } = own.merchant;
  await own.db.transaction(async (tx) => {
    const stamp = await stampOrder(tx, tenant, own.clock.now(), 1);
    const amount = BigInt(row.atoms * sign * (row.sums.length === 2 ? 1 : -1));
    let position = 0n;
    const next = () => {
      position = stamp.next();
      return position;
    };
    const movement = { tenant, type: 'correction', objectId: row.id, amount } as const;
    await bookMovements(tx, [{ ...movement, happened: null, stamp: { ...stamp, next } }]);
    model.corrections.push({ row, sign, position, report: null });
  });
}

async function end(shop: Shop, terminal: string): Promise<void> {
  const { own, model } = shop;
  const { tenant } = own.merchant;
  const now = own.clock.now();
  await own.db.transaction((tx) =>
    openShift(tx, {
      ...{ terminalId: terminal, accountId: tenant.accountId, personId: null, pinId: null, now },
    }),
  );
  const request = { tenant, terminalId: terminal, idempotency: null, requestId: 'req_1', now };
  const noMail = async () => ({ subject: '', text: '' });
  const answer = await endShift(own.ctx, request, noMail);
  assert.ok(!isRefusal(answer));
  const report = JSON.parse(answer.body) as ShiftReport;
  const due = model.rows.filter((row) => row.terminal === terminal && row.report === null);
  assert.deepEqual(shown(report.figures), sumUp(due), `seed ${SEED}`);
  for (const { cashier, figures } of report.cashiers) {
    const own = due.filter((row) => row.cashier === cashier);
    assert.deepEqual(shown(figures), sumUp(own), `seed ${SEED}`);
  }
  for (const row of due) row.report = report.id;
  const sales = due.filter(({ sums }) => sums.length === 2);
  const inOrder = sales.toSorted((one, other) => Number(one.position - other.position));
  assert.deepEqual(
    [report.first_receipt, report.last_receipt],
    [inOrder.at(0)?.receipt ?? null, inOrder.at(-1)?.receipt ?? null],
  );
  assert.equal(report.offline, sales.filter(({ isOffline }) => isOffline).length);
  const corrected = model.corrections.filter(
    (one) => one.row.terminal === terminal && one.report === null,
  );
  for (const one of corrected) one.report = report.id;
  assert.deepEqual(
    report.corrections.map(({ of, figures, ...row }) => [{ ...row }, of, shown(figures)]),
    corrected.map(({ row, sign }) => [
      row.sums.length === 2 ? { payment: row.id } : { refund: row.id },
      row.report,
      sumUp([row], sign),
    ]),
    `seed ${SEED}`,
  );
  const [stored] = await own.db.query<{ position: bigint }>(
    'select position from shift_reports where id = $1',
    [report.id],
  );
  model.reports.set(report.id, { report, position: stored?.position ?? 0n });
}

/** Takes the account back to an earlier position, and rebuilds its lost sales from the chain. */
async function restore(shop: Shop): Promise<void> {
  const { own, random, model } = shop;
  const { tenant } = own.merchant;
  const { accountId } = tenant;
  // A restore takes back whole transactions.
  const places = [
    ...model.rows.map(({ position, isRebuilt }) => (isRebuilt ? position + 1n : position)),
    ...[...model.reports.values()].map(({ position }) => position),
  ];
  if (places.length === 0) return;
  const to = random.pick(places);
  const isLost = ({ position }: { readonly position: bigint }) => position > to;
  const lost = model.rows.filter((row) => isLost(row) && row.sums.length === 2);
  const lostIds = model.rows.filter(isLost).map(({ id }) => id);
  model.rows = model.rows.filter((row) => !isLost(row));
  model.corrections = model.corrections.filter((one) => !isLost(one));
  const gone = [...model.reports].filter(([, report]) => isLost(report)).map(([id]) => id);
  for (const id of gone) model.reports.delete(id);
  for (const one of [...model.rows, ...model.corrections]) {
    if (gone.includes(one.report ?? '')) one.report = null;
  }
  await own.db.transaction(async (tx) => {
    await tx.query('delete from shift_reports where id = any($1)', [gone]);
    await tx.query('delete from balance_entries where account_id = $1 and position > $2', [
      accountId,
      to,
    ]);
    await tx.query('delete from refunds where id = any($1)', [lostIds]);
    await tx.query('delete from payments where id = any($1)', [lostIds]);
    await tx.query(`update account_modes set position = position + 1048576 where account_id = $1`, [
      accountId,
    ]);
    const now = own.clock.now();
    await tx.query(
      `with old as (
         update receipt_series set ended_at = $2 where account_id = $1 and ended_at is null
         returning terminal_id, kind
       )
       insert into receipt_series (account_id, livemode, prefix, terminal_id, kind, given, begun_at,
         after_loss)
       select $1, false, substr(md5(random()::text), 1, 9), terminal_id, kind, 0, $2, true
       from old`,
      [accountId, now],
    );
  });
  for (const row of model.rows) {
    row.isRemoved = model.corrections.filter((one) => one.row === row).length % 2 === 1;
  }
  for (const row of lost) await rebuild(shop, row);
}

async function rebuild(shop: Shop, row: BookedRow): Promise<void> {
  const { own, random, terminals } = shop;
  const { tenant } = own.merchant;
  const terminal = random.chance(50) ? row.terminal : random.pick(terminals);
  await own.db.transaction(async (tx) => {
    const stamp = await stampOrder(tx, tenant, own.clock.now(), 2);
    const rebuilt: BookedRow = {
      ...{ ...row, terminal, cashier: null, currency: 'usdc', sums: [row.atoms, 0] as const },
      ...{ receipt: await receiptOf(tx, shop, terminal, 'payment'), isRemoved: false },
      ...{ report: null, position: 0n, isRebuilt: true },
    };
    await insertSale(tx, shop, rebuilt, stamp);
    await tx.query('update payments set recovered = true where id = $1', [row.id]);
    const amount = BigInt(row.atoms);
    const type = random.chance(30) ? 'correction' : 'payment';
    const movement = { tenant, type, objectId: row.id, amount, happened: null, stamp } as const;
    await bookMovements(tx, [movement]);
    shop.model.rows.push(rebuilt);
  });
}

async function openShop(sequence: number): Promise<Shop> {
  const now = store.clock.now();
  const merchant = await addMerchant(store.db, { now });
  const counters = [
    await addTerminal(store.db, merchant, now),
    await addTerminal(store.db, merchant, now),
  ];
  const own = { ...store, merchant };
  const random = createRandom(SEED, `shifts ${sequence}`);
  return {
    ...{ own, random, model: new Model() },
    terminals: counters.map(({ terminalId }) => terminalId),
  };
}

async function play(sequence: number): Promise<void> {
  const shop = await openShop(sequence);
  const { random, terminals, model, own } = shop;
  for (let step = 0; step < STEPS; step++) {
    const chosen = random.below(100);
    if (chosen < 45) await sell(shop);
    else if (chosen < 65) await refund(shop);
    else if (chosen < 75) await reorganize(shop);
    else if (chosen < 96) await end(shop, random.pick(terminals));
    else await restore(shop);
  }
  for (const terminal of terminals) await end(shop, terminal);
  assert.ok(model.rows.every(({ report }) => report !== null));
  await checkStored(own, model);
}

async function checkStored(own: TestStore, model: Model): Promise<void> {
  const { accountId } = own.merchant.tenant;
  const bodies = await own.db.query<{ id: string; body: string }>(
    'select id, body from shift_reports where account_id = $1 order by position',
    [accountId],
  );
  assert.deepEqual(
    bodies.map(({ id, body }) => [id, JSON.parse(body)]),
    [...model.reports].map(([id, { report }]) => [id, report]),
    'an ended report has changed',
  );
  const numbers = Map.groupBy(
    [...model.reports.values()].map(({ report }) => report),
    ({ terminal, series }) => `${terminal} ${series}`,
  );
  for (const reports of numbers.values()) {
    const own = reports.map(({ number }) => number);
    assert.deepEqual(
      own,
      own.map((_, index) => index + 1),
      'numbers have gaps',
    );
  }
  const [twice] = await own.db.query<{ count: number }>(
    `select count(*)::int as count from payments p where p.account_id = $1 and 1 <> (
       select count(*) from shift_reports r where r.terminal_id = p.terminal_id
         and p.position <= r.position and p.position > coalesce(r.previous_position, 0))`,
    [accountId],
  );
  assert.equal(twice?.count, 0, 'each sale is in exactly one report');
}

test('1,000 random sequences: each row in one report, all add up, none changes', async () => {
  let sequence = 0;
  const runs = Array.from({ length: AT_ONCE }, async () => {
    while (sequence < SEQUENCES) await play(sequence++);
  });
  await Promise.all(runs);
});
