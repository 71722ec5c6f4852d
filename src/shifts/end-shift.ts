import { selectAccount } from '#accounts/account-queries.ts';
import { closeShift, lockOpenShift, selectShift } from '#accounts/shift-rows.ts';
import { type Answer, answerWith, type Refusal, resourceMissing } from '#core/answer.ts';
import { failpoint } from '#core/failpoints.ts';
import { networkOf, type Tenant } from '#core/mode.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Sql, Tx } from '#db/database.ts';
import type { Place } from '#db/paging.ts';
import { appendEvents } from '#events/append-events.ts';
import { type Done, findReplay, type Keyed, runOnce } from '#idempotency/run-once-per-key.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { giveReceiptNumbers } from '#payments/receipt-numbers.ts';
import { type Mail, queueMail } from '#people/mail-outbox.ts';
import { selectPersonNames } from '#people/user-queries.ts';
import {
  addRefund,
  addSale,
  emptyTally,
  type FiguresByCurrency,
  figuresView,
  type Tally,
  tallyRefund,
  tallySale,
  tallyView,
} from '#shifts/shift-figures.ts';
import {
  type BookedRange,
  type Corrected,
  countDeclines,
  isAfterLoss,
  selectBookedRefunds,
  selectBookedSales,
  selectCorrections,
  selectNewestReport,
  selectOrderEnd,
  selectRefunded,
  selectReportAt,
  selectReportedTerminal,
  selectSale,
  shiftReports,
} from '#shifts/shift-report-queries.ts';

/** Rows per read, so that adding them up delays no tap for more than a few milliseconds. */
const PAGE = 250;
/** Positions in the account's order: the report and its event. */
const PLACES = 2;

export interface EndRequest extends Keyed {
  readonly tenant: Tenant;
  readonly terminalId: string;
}

export type ShiftReport = Awaited<ReturnType<typeof reportOf>>;

/** Writes the mail with a report. */
export type WriteMail = (
  report: ShiftReport,
  about: { readonly sql: Sql; readonly accountId: string; readonly merchantName: string },
) => Promise<Omit<Mail, 'to'>>;

/**
 * Ends the open shift of a terminal and writes its report, with everything booked at the terminal
 * since its previous report. Most rows are added up before the transaction, so that the account's
 * order is locked only for the rest, and no tap waits.
 */
export async function endShift(
  ctx: ApiContext,
  request: EndRequest,
  writeMail: WriteMail,
): Promise<Answer | Refusal> {
  const { tenant, terminalId, now } = request;
  const replay = await findReplay(ctx.db, request.idempotency, now);
  if (replay !== null) return replay;
  const open = await selectShift(ctx.db, terminalId);
  const begun = open === null ? null : await beginReport(ctx.db, { tenant, terminalId });
  failpoint('shifts.rows_read');
  const { answer, done } = await runOnce(ctx.db, request, async (tx) => {
    const shift = await lockOpenShift(tx, terminalId);
    // Another request has ended the shift that this request found.
    if (begun === null || shift === null || shift.id !== open?.id) return resourceMissing('shift');
    return finish(tx, ctx, { ...request, shift, begun, writeMail });
  });
  failpoint('shifts.end_committed');
  if (done !== null && done.deliveries > 0) ctx.wakeups.send('deliveries');
  return answer;
}

/** The rows of a report that had been booked before its transaction. */
interface Begun {
  readonly tally: Tally;
  readonly corrected: readonly Corrected[];
  /** The end of the terminal's previous report. */
  readonly after: Place | null;
  readonly coversFrom: Date;
  readonly location: string | null;
  readonly upTo: Place;
}

const BEGINNING: Place = { created: new Date(0), position: 0n };

async function beginReport(
  sql: Sql,
  { tenant, terminalId }: Pick<EndRequest, 'tenant' | 'terminalId'>,
): Promise<Begun> {
  const previous = (await selectNewestReport(sql, terminalId)) ?? null;
  const terminal = await selectReportedTerminal(sql, terminalId);
  const upTo = await selectOrderEnd(sql, tenant);
  const tally = emptyTally();
  const range = { tenant, terminalId, after: previous ?? BEGINNING, upTo };
  await addRows(sql, tally, range);
  const corrected = await selectCorrections(sql, range);
  const coversFrom = previous?.created ?? terminal.created;
  return { tally, corrected, after: previous, coversFrom, location: terminal.location_id, upTo };
}

async function addRows(sql: Sql, tally: Tally, range: BookedRange): Promise<void> {
  for (let { after } = range; ; ) {
    const sales = await selectBookedSales(sql, { ...range, after }, PAGE);
    for (const sale of sales) tallySale(tally, sale);
    const last = sales.at(-1);
    if (last === undefined || sales.length < PAGE) break;
    after = last;
  }
  for (let { after } = range; ; ) {
    const refunds = await selectBookedRefunds(sql, { ...range, after }, PAGE);
    for (const refund of refunds) tallyRefund(tally, refund);
    const last = refunds.at(-1);
    if (last === undefined || refunds.length < PAGE) break;
    after = { ...after, position: last.position };
  }
  tally.declines += await countDeclines(sql, range);
}

interface Ending extends EndRequest {
  readonly shift: { readonly id: string; readonly started_at: Date };
  readonly begun: Begun;
  readonly writeMail: WriteMail;
}

async function finish(
  tx: Tx,
  ctx: ApiContext,
  ending: Ending,
): Promise<Done & { readonly deliveries: number }> {
  const { tenant, terminalId, now, begun, shift } = ending;
  const stamp = await stampOrder(tx, tenant, now, PLACES);
  const end = { created: stamp.created, position: stamp.next() };
  const rest = { tenant, terminalId, after: begun.upTo, upTo: end };
  // A copy, because a transaction that conflicted runs again.
  const tally = structuredClone(begun.tally);
  await addRows(tx, tally, rest);
  const corrected = [...begun.corrected, ...(await selectCorrections(tx, rest))];
  const corrections = [];
  for (const one of corrected) corrections.push(await correctionOf(tx, terminalId, shift.id, one));
  const number = await takeNumber(tx, ending);
  const report = await reportOf(tx, { ...ending, tally, end, number, corrections });
  const body = JSON.stringify(report);
  await closeShift(tx, { id: shift.id, endedAt: end.created });
  await shiftReports.insert(tx, {
    ...{ id: shift.id, account_id: tenant.accountId, livemode: tenant.livemode, ...end },
    ...{ terminal_id: terminalId, previous_position: begun.after?.position ?? null },
    ...{ series: number.series, number: BigInt(number.number), body },
  });
  await mailReport(tx, ctx, report, ending);
  const type = 'shift.ended';
  const deliveries = await appendEvents(tx, [
    { tenant, type, objectId: shift.id, object: report, stamp },
  ]);
  failpoint('shifts.report_written');
  return { answer: answerWith(200, report), resource: shift.id, deliveries };
}

async function takeNumber(tx: Tx, { tenant, terminalId, now }: Ending) {
  const { accountId: account_id, livemode } = tenant;
  const numbered = { account_id, livemode, terminal_id: terminalId };
  const numberOf = await giveReceiptNumbers(tx, [numbered], { kind: 'shift', now });
  const [series = '', number = ''] = numberOf(terminalId).split('-');
  return {
    series,
    number: Number(number),
    isAfterLoss: await isAfterLoss(tx, { tenant, prefix: series }),
  };
}

/** Returns what a correction takes from the report that holds the row, as figures below 0. */
async function correctionOf(
  tx: Tx,
  terminalId: string,
  own: string,
  { payment, refund, amount, booked }: Corrected,
) {
  const figures: FiguresByCurrency = new Map();
  if (refund === null) addSale(figures, await selectSale(tx, payment), amount < 0n ? -1n : 1n);
  else addRefund(figures, await selectRefunded(tx, refund), amount > 0n ? -1n : 1n);
  const of = (await selectReportAt(tx, { terminalId, position: booked })) ?? own;
  const row = refund === null ? { payment } : { refund };
  return { ...row, of, figures: figuresView(figures) };
}

async function reportOf(
  tx: Tx,
  report: Ending & {
    readonly tally: Tally;
    readonly end: Place;
    readonly number: Awaited<ReturnType<typeof takeNumber>>;
    readonly corrections: readonly Awaited<ReturnType<typeof correctionOf>>[];
  },
) {
  const { tenant, terminalId, shift, begun, tally, end, number, corrections } = report;
  const people = [...tally.cashiers.keys()].filter((id) => id !== null);
  const names = await selectPersonNames(tx, people);
  return {
    id: shift.id,
    object: 'shift',
    livemode: tenant.livemode,
    network: networkOf(tenant.livemode),
    series: number.series,
    number: number.number,
    after_loss: number.isAfterLoss,
    terminal: terminalId,
    location: begun.location,
    started_at: shift.started_at.toISOString(),
    ended_at: end.created.toISOString(),
    covers_from: begun.coversFrom.toISOString(),
    ...tallyView(tally, (id) => names.get(id) ?? null),
    corrections: [...corrections],
  };
}

async function mailReport(tx: Tx, ctx: ApiContext, report: ShiftReport, ending: Ending) {
  const account = await selectAccount(tx, ending.tenant.accountId);
  const to = account?.report_email ?? null;
  if (account === undefined || to === null) return;
  const about = { sql: tx, accountId: account.id, merchantName: account.name };
  const mail = await ending.writeMail(report, about);
  await queueMail(tx, ctx.keys.people, { to, ...mail, now: ending.now });
}
