import Type from 'typebox';
import { getAddress } from 'viem';
import { readLimit } from '#accounts/read-limit.ts';
import { VersionOut } from '#apis/dashboard/account/account-schema.ts';
import {
  MODE,
  type PersonRequest,
  type PersonRoute,
  personRoute,
  recordChange,
} from '#apis/dashboard/person-route.ts';
import { Done, listed } from '#apis/dashboard/person-schema.ts';
import { inShopOf, LimitPresentment, limitInput } from '#apis/merchant/limit-schema.ts';
import { answerWith, isRefusal, type Refusal, resourceMissing } from '#core/answer.ts';
import type { Json } from '#core/canonical-json.ts';
import { atoms, MAX_AMOUNT, toJsonAtoms } from '#core/money.ts';
import type { Limit } from '#core/shop-limit.ts';
import { staleVersion } from '#core/stale-version.ts';
import type { Tx } from '#db/database.ts';
import { nullable, Timestamp, text, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import {
  deleteBlockedPayer,
  insertBlockedPayer,
  saveRiskSettings,
  selectBlockedPayers,
  selectRiskSettings,
} from '#risk/risk-queries.ts';
import {
  type RiskLimits,
  type RiskSettings,
  type RiskSettingsRow,
  riskLimits,
} from '#risk/risk-settings.ts';

const TAG = 'Risk';
/** Maximum size of the list. It has no pages, because no shop is expected to block more wallets. */
const MAX_BLOCKED = 1000;

const LimitBody = nullable(limitInput(MAX_AMOUNT, '`null` switches it off.'));
const LimitOut = nullable(
  Type.Integer({ minimum: 0, description: 'USDC atoms; `null` if it is switched off.' }),
);

const velocityField = {
  velocity_per_hour: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: 'Payments of one payer within an hour; null switches the rule off.',
    }),
  ),
};
const SettingsBody = Type.Object({
  version: Type.Integer({
    minimum: 0,
    description: 'The version that you last read; 0 for the first change.',
  }),
  first_payment_confirm_from: LimitBody,
  high_amount_confirm_from: LimitBody,
  ...velocityField,
});
const RiskSchema = Type.Object(
  {
    version: VersionOut,
    first_payment_confirm_from: LimitOut,
    first_payment_confirm_from_presentment: LimitPresentment,
    high_amount_confirm_from: LimitOut,
    high_amount_confirm_from_presentment: LimitPresentment,
    ...velocityField,
  },
  { description: 'The risk policy of the mode.' },
);

function view({ first, high }: RiskLimits, perHour: number | null): { [key: string]: Json } {
  const shown = (limit: Limit | null) => (limit === null ? null : toJsonAtoms(limit.atoms));
  const inShop = (limit: Limit | null) => (limit === null ? null : inShopOf(limit));
  return {
    first_payment_confirm_from: shown(first),
    first_payment_confirm_from_presentment: inShop(first),
    high_amount_confirm_from: shown(high),
    high_amount_confirm_from_presentment: inShop(high),
    velocity_per_hour: perHour,
  };
}

function viewRow(row: RiskSettingsRow | undefined): { [key: string]: Json } {
  return view(riskLimits(row), row?.velocity_per_hour ?? null);
}

function readRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${MODE}/risk_settings`,
    operationId: 'readRiskSettings',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve the risk policy of the mode',
    access: 'viewer',
    response: RiskSchema,
    handle: async ({ caller }) => {
      const row = await selectRiskSettings(db, caller.tenant);
      return answerWith(200, { version: row?.version ?? 0, ...viewRow(row) });
    },
  });
}

async function saveSettings(
  tx: Tx,
  request: PersonRequest<unknown, Type.Static<typeof SettingsBody>>,
): Promise<{ [key: string]: Json } | Refusal> {
  const { caller, body, now } = request;
  const { tenant } = caller;
  const before = await selectRiskSettings(tx, tenant);
  const stored = riskLimits(before);
  const read = async (
    param: 'first_payment_confirm_from' | 'high_amount_confirm_from',
    unchanged: Limit | null,
  ) => {
    const input = body[param];
    if (input === null) return null;
    const place = { accountId: tenant.accountId, param, most: MAX_AMOUNT, before: unchanged };
    return readLimit(tx, input, place);
  };
  const first = await read('first_payment_confirm_from', stored.first);
  if (isRefusal(first)) return first;
  const high = await read('high_amount_confirm_from', stored.high);
  if (isRefusal(high)) return high;
  const settings: RiskSettings = {
    firstPaymentConfirmFrom: first === null ? null : atoms(first.atoms),
    highAmountConfirmFrom: high === null ? null : atoms(high.atoms),
    velocityPerHour: body.velocity_per_hour,
  };
  const limits = { first, high };
  // Before the first edit there is no row, so that edit must send version 0.
  if ((before?.version ?? 0) !== body.version) return staleVersion(before?.version ?? 0);
  const version = await saveRiskSettings(tx, tenant, {
    ...{ settings, limits },
    ...{ version: body.version, now },
  });
  if (version === null) return staleVersion(before?.version ?? 0);
  await recordChange(tx, request, {
    action: 'risk.settings_changed',
    objectId: tenant.accountId,
    before: viewRow(before),
    after: view(limits, body.velocity_per_hour),
  });
  return { version, ...view(limits, body.velocity_per_hour) };
}

function saveRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof SettingsBody>({
    method: 'PUT',
    path: `${MODE}/risk_settings`,
    operationId: 'saveRiskSettings',
    moves: 'access',
    tag: TAG,
    summary: 'Replace the risk policy of the mode',
    access: 'admin',
    body: SettingsBody,
    response: RiskSchema,
    errors: ['version_conflict', 'rates_unavailable'],
    handle: async (request) => {
      const saved = await db.transaction((tx) => saveSettings(tx, request));
      return isRefusal(saved) ? saved : answerWith(200, saved);
    },
  });
}

const Wallet = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'An EVM address.' });
const BlockedSchema = Type.Object(
  { address: Wallet, note: textOut('The reason for the block; may be empty.'), created: Timestamp },
  { description: 'The blocked wallet.' },
);

function blockedRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${MODE}/blocked_payers`,
    operationId: 'listBlockedPayers',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the wallets that this account does not sell to',
    access: 'viewer',
    response: listed(BlockedSchema, 'The blocked wallets.'),
    handle: async ({ caller }) => {
      const data = await selectBlockedPayers(db, caller.tenant, MAX_BLOCKED);
      return answerWith(200, { object: 'list', data });
    },
  });
}

const BlockBody = Type.Object({ address: Wallet, note: Type.Optional(text(200, 'Why.')) });

function blockRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof BlockBody>({
    method: 'POST',
    path: `${MODE}/blocked_payers`,
    operationId: 'blockPayer',
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Stop selling to this wallet',
    access: 'admin',
    body: BlockBody,
    status: 201,
    response: BlockedSchema,
    handle: async (request) => {
      const { caller, body, now } = request;
      const address = getAddress(body.address.toLowerCase());
      const note = body.note ?? '';
      await db.transaction(async (tx) => {
        await insertBlockedPayer(tx, caller.tenant, { address, note, now });
        const change = { action: 'payer.blocked_here', objectId: address };
        await recordChange(tx, request, { ...change, after: { note } });
      });
      return answerWith(201, { address, note, created: now });
    },
  });
}

function unblockRoute({ db }: ApiContext) {
  return personRoute({
    method: 'DELETE',
    path: `${MODE}/blocked_payers/{address}`,
    operationId: 'unblockPayer',
    moves: 'access',
    tag: TAG,
    summary: 'Sell to this wallet again',
    access: 'admin',
    params: { address: 'text' },
    response: Done,
    handle: async (request) => {
      const text = request.params.address ?? '';
      if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return resourceMissing('blocked payer', 'address');
      const address = getAddress(text.toLowerCase());
      const removed = await db.transaction(async (tx) => {
        if (!(await deleteBlockedPayer(tx, request.caller.tenant, address))) return false;
        const change = { action: 'payer.unblocked_here', objectId: address };
        await recordChange(tx, request, { ...change, after: { note: null } });
        return true;
      });
      return removed
        ? answerWith(200, { status: 'unblocked' })
        : resourceMissing('blocked payer', 'address');
    },
  });
}

export function riskRoutes(ctx: ApiContext): PersonRoute[] {
  return [readRoute(ctx), saveRoute(ctx), blockedRoute(ctx), blockRoute(ctx), unblockRoute(ctx)];
}
