import type { DashboardDeps } from '#apis/dashboard/person-route.ts';
import { isRefusal } from '#core/answer.ts';
import { isId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import { getEvent } from '#events/list.ts';
import { withdrawalObject } from '#payouts/render.ts';
import { selectWithdrawal } from '#payouts/withdrawal-queries.ts';
import { selectRefund } from '#refunds/refund-queries.ts';
import { renderRefund } from '#refunds/render.ts';
import { terminalObject } from '#terminals/render.ts';
import { selectTerminal } from '#terminals/terminal-queries.ts';

export interface Asked {
  readonly tenant: Tenant;
  readonly text: string;
  readonly now: Date;
}

/** What an id names beside intents and payments, as the API shows it. */
export async function findOther({ db }: DashboardDeps, asked: Asked): Promise<object | null> {
  const { tenant, text: id, now } = asked;
  if (isId('refund', id)) {
    const refund = await selectRefund(db, tenant, id);
    return refund === null ? null : renderRefund(refund);
  }
  if (isId('terminal', id)) {
    const row = await selectTerminal(db, tenant, id);
    return row === null ? null : terminalObject(row);
  }
  if (isId('withdrawal', id)) {
    const row = await selectWithdrawal(db, tenant, id);
    return row === undefined ? null : withdrawalObject(row);
  }
  if (isId('event', id)) {
    const event = await getEvent(db, tenant, { id, now });
    return isRefusal(event) ? null : (JSON.parse(event.body) as object);
  }
  return null;
}
