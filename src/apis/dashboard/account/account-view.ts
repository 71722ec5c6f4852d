import {
  type AccountRow,
  type ModeRow,
  selectAccount,
  selectModes,
} from '#accounts/account-queries.ts';
import { selectRequestedName } from '#accounts/name-request-queries.ts';
import { dayStartsAt } from '#accounts/shop-days.ts';
import { type ShopSettings, selectShopSettings } from '#accounts/shop-settings.ts';
import { limitPresentment } from '#apis/merchant/limit-schema.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import type { Sql } from '#db/database.ts';
import { numberOnContract } from '#settlement/contract-versions.ts';

function modeView(mode: ModeRow) {
  return {
    mode: mode.livemode ? 'live' : 'test',
    network: networkOf(mode.livemode),
    live: mode.live_at !== null,
    live_at: mode.live_at,
    merchant_number: mode.merchant_number === null ? null : numberOnContract(mode.merchant_number),
    settlement_wallet: mode.settlement_wallet,
  };
}

function accountView(
  account: AccountRow,
  {
    modes,
    requestedName,
    shop,
  }: {
    readonly modes: readonly ModeRow[];
    readonly requestedName: string | null;
    readonly shop: ShopSettings;
  },
) {
  return {
    id: account.id,
    object: 'account',
    name: account.name,
    requested_name: requestedName,
    status: account.status,
    disabled_reason: account.disabled_reason,
    kyb_status: account.kyb_status,
    refund_window_days: account.refund_window_days,
    refund_daily_limit: toJsonAtoms(account.refund_daily_limit),
    refund_daily_limit_presentment: limitPresentment(
      account.refund_daily_limit,
      account.refund_daily_limit_presentment,
    ),
    till_refund_limit: toJsonAtoms(account.till_refund_limit),
    till_refund_limit_presentment: limitPresentment(
      account.till_refund_limit,
      account.till_refund_limit_presentment,
    ),
    time_zone: account.time_zone,
    language: account.language,
    automatic_payout: account.automatic_payout,
    export_schedule: account.export_schedule,
    report_email: account.report_email,
    requested_report_email: account.report_email_asked,
    datev: account.datev,
    day_starts_at: dayStartsAt(account),
    day_starts: { test: account.day_starts?.test ?? [], live: account.day_starts?.live ?? [] },
    ...shop,
    organization: account.organization_id,
    version: account.version,
    created: account.created,
    modes: modes.map(modeView),
  };
}

/** Returns the fields of an account that a cashier may see. */
export async function readCashierAccount(sql: Sql, accountId: string) {
  const account = await selectAccount(sql, accountId);
  if (account === undefined) return null;
  const { id, name, time_zone } = account;
  return { id, object: 'account', name, time_zone };
}

export async function readAccountView(sql: Sql, accountId: string) {
  const [account, modes, requestedName] = await Promise.all([
    selectAccount(sql, accountId),
    selectModes(sql, accountId),
    selectRequestedName(sql, accountId),
  ]);
  if (account === undefined) return null;
  const shop = await selectShopSettings(sql, accountId);
  return accountView(account, { modes, requestedName, shop });
}
