import { selectBrand } from '#accounts/brand-queries.ts';
import { selectShopAt } from '#accounts/locations.ts';
import { selectShift, shiftView } from '#accounts/shift-rows.ts';
import {
  type DiscountPreset,
  type ShopSettings,
  selectShopSettings,
  selectTaxSettings,
} from '#accounts/shop-settings.ts';
import { deviceRoute } from '#apis/device/device-route.ts';
import { readOffline } from '#apis/device/offline-routes.ts';
import {
  DeviceSchema,
  SHIFT_EXAMPLE,
  SoftwareBody,
  TERMINAL_EXAMPLE,
} from '#apis/merchant/terminal-schema.ts';
import { answerWith } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { brandPath } from '#core/brand-styles.ts';
import { networkOf } from '#core/mode.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { hasTillPeople } from '#people/cashier-pins.ts';
import { knownRates } from '#settlement/chain/fees/fee-rates.ts';
import type { DeviceCaller } from '#terminals/authenticate-terminal.ts';
import { reportSoftware } from '#terminals/change-terminal.ts';
import { terminalObject } from '#terminals/render.ts';
import { tagUrl } from '#terminals/tag-url.ts';
import { selectTerminal, type TerminalRow, updateLastSeen } from '#terminals/terminal-queries.ts';

const responses = {
  200: {
    schema: DeviceSchema,
    description: 'The terminal.',
    example: {
      ...TERMINAL_EXAMPLE,
      merchant_name: 'Blue Door Café',
      time_zone: 'Europe/Berlin',
      language: 'de',
      currency: 'eur',
      discounts: [{ name: 'Regulars', rate: 1000 }],
      default_tax_rate: 'standard',
      default_tax_basis_points: 1900,
      tip_percentages: [10, 15, 20],
      signs_receipts: false,
      tag_url: 'https://pay.example.com/t/3nF8qTz0LwKc5YbRm1XaVe',
      brand_path: null,
      shift: SHIFT_EXAMPLE,
      may_discount: true,
      fee_rates: { acquirer: 30, protocol: 20, cashback: 5 },
      offline_terms: null,
    },
  },
};

/** The tips that a till offers unless the account has its own. */
const USUAL_TIPS = [10, 15, 20];

/** Leaves out sums at a location with another currency than the one that they count. */
function offeredDiscounts({ discounts, currency }: ShopSettings, here: string | null) {
  const isOffered = ({ amount }: DiscountPreset) => amount === undefined || currency === here;
  return discounts.filter(isOffered).map((one) => ({ ...one }));
}

async function renderDevice(ctx: ApiContext, caller: DeviceCaller, row: TerminalRow) {
  const { accountId } = caller.tenant;
  const { merchant } = caller;
  const asked = { accountId, terminalId: row.id };
  const [offline, brand, at, shop, shift, taxesOf, hasPeople] = await Promise.all([
    readOffline(ctx, { merchant, row }),
    selectBrand(ctx.db, accountId),
    selectShopAt(ctx.db, asked),
    selectShopSettings(ctx.db, accountId),
    selectShift(ctx.db, caller.terminalId),
    selectTaxSettings(ctx.db, [asked]),
    hasTillPeople(ctx.db, accountId),
  ]);
  const tax = taxesOf(asked)?.tax_rates.find(({ name }) => name === shop.default_tax_rate);
  return {
    ...terminalObject(row),
    ...offline,
    merchant_name: merchant.name,
    time_zone: at.time_zone,
    language: at.language,
    currency: at.currency,
    discounts: offeredDiscounts(shop, at.currency),
    default_tax_rate: tax?.name ?? null,
    default_tax_basis_points: tax?.rate ?? null,
    tip_percentages: shop.tip_percentages ?? USUAL_TIPS,
    signs_receipts: shop.fiscal_signer?.called_by === 'terminal',
    tag_url: tagUrl(ctx.pages, row),
    brand_path: brand === null ? null : brandPath(brand.style),
    shift: shift === null ? null : shiftView(shift),
    may_discount: !hasPeople || shift?.may_discount === true,
    fee_rates: knownRates(networkOf(row.livemode)),
  };
}

export function readDeviceRoute(ctx: ApiContext) {
  return deviceRoute({
    method: 'GET',
    path: '/terminal',
    operationId: 'retrieveDevice',
    moves: 'nothing',
    summary: 'Retrieve this terminal, its merchant and network',
    responses,
    handle: async ({ caller, now }) => {
      await updateLastSeen(ctx.db, [caller.terminalId], now);
      const row = await selectTerminal(ctx.db, caller.tenant, caller.terminalId);
      const terminal = present(row, 'terminal of a device');
      return answerWith(200, await renderDevice(ctx, caller, terminal));
    },
  });
}

export function reportDeviceRoute(ctx: ApiContext) {
  return deviceRoute<undefined, typeof SoftwareBody>({
    method: 'PATCH',
    path: '/terminal',
    operationId: 'reportDeviceSoftware',
    moves: 'data',
    summary: 'Report the software that this terminal runs',
    description:
      'Once per start. Omitted fields stay as they are. A change sends `terminal.updated`; the ' +
      'same report again changes nothing and sends nothing.',
    body: SoftwareBody,
    bodyExample: { platform: 'browser', software_version: '1.4.0' },
    responses,
    handle: async ({ caller, body, now }) => {
      const ref = { tenant: caller.tenant, id: caller.terminalId, now };
      const row = await ctx.db.transaction((tx) => reportSoftware(tx, ref, body));
      ctx.wakeups.send('deliveries');
      return answerWith(200, await renderDevice(ctx, caller, row));
    },
  });
}
