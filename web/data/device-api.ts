import type { SaleLines } from '#prices/sale-lines.ts';
import { type Answer, type Api, createApi } from './api.ts';
import { type RefundPart, refundFields } from './refund-request-fields.ts';
import { discountFields, lineFields } from './sale-line-fields.ts';
import type {
  CatalogueItemList,
  ChipAuthorization,
  CollectorProof,
  Device,
  DevicePayment,
  FiscalReceiptList,
  PaymentIntent,
  ReceiptMail,
  Refund,
  TestPasses,
  Totals,
} from './types/device.ts';

export type { CatalogueItem, Device, Refund, Totals } from './types/device.ts';

/** A payment. It has no `payer` if it was found by its receipt or order. */
export type Payment = DevicePayment;

export type Intent = PaymentIntent;

export interface Credential {
  readonly type: 'nfc_id' | 'nfc_sun' | 'qr' | 'rotating_code' | 'smart_tap' | 'apple_vas';
  readonly value: string;
}

export interface CreateIntent {
  readonly key: string;
  readonly amount: bigint;
  /** The currency whose minor units the amount counts; `null` if it counts atoms of USDC. */
  readonly currency: string | null;
  /** The items sold; `null` if the sale lists none. */
  readonly lines: SaleLines | null;
  readonly splitGroup: string | null;
  /** Tip percentages that the customer may choose from. */
  readonly tipping: readonly number[] | null;
  /** Name of the cashier, or `null` if the till has none. */
  readonly cashier: string | null;
  /** A manager's code for a discount. */
  readonly managerCode?: string | null;
}

export interface TapIntent {
  readonly key: string;
  readonly credential: Credential;
  /** `null` if the customer was not asked for a tip. */
  readonly tip: bigint | null;
}

/** The response of a fiscal signer. */
export interface Signed {
  readonly signature: string;
  readonly text: string | null;
}

/** The data that a reader needs signed during a phone's tap, in hex. */
export interface TapToProve {
  readonly reader_nonce: string;
  readonly phone_nonce: string;
  readonly reader_key: string;
}

/** A chip's signature for the amount and tip, with the chip's address. */
export interface ChipSignature {
  readonly from: `0x${string}`;
  readonly signature: `0x${string}`;
}

export interface CreateRefund {
  readonly key: string;
  readonly payment: string;
  readonly part: RefundPart;
  readonly cashier: string | null;
  /**
   * A manager's code for a refund above the till's limit. Missing in jobs stored by an earlier
   * version.
   */
  readonly managerCode?: string | null;
}

/**
 * The amount paid, in minor units of the sale's currency, or in atoms of USDC if that is `null`.
 */
export interface PaidSum {
  readonly units: bigint;
  readonly currency: string | null;
}

/** The customer's proof of a sale: a receipt, or an order ID and the amount paid. */
export type SaleWanted =
  /**
   * A receipt number from another till also needs the amount. A receipt URL from a QR code does
   * not.
   */
  | { readonly receipt: string; readonly paid: PaidSum | null }
  | { readonly orderId: string; readonly paid: PaidSum };

export interface Page<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export interface DeviceApi {
  device(): Promise<Answer<Device>>;
  /** Reports the software version of this terminal. */
  report(version: string): Promise<Answer<Device>>;
  /** Long-polls for the next intent; `null` if none arrived in time. */
  next(waitS: number, signal: AbortSignal): Promise<Answer<Intent | null>>;
  intent(
    id: string,
    poll?: { readonly waitS: number; readonly status: string; readonly signal: AbortSignal },
  ): Promise<Answer<Intent>>;
  create(intent: CreateIntent): Promise<Answer<Intent>>;
  tap(id: string, tap: TapIntent): Promise<Answer<Intent>>;
  /** Returns the message that the chip with this address must sign to pay. */
  toSign(
    id: string,
    chip: { readonly from: string; readonly tip: bigint | null },
  ): Promise<Answer<ChipAuthorization>>;
  /** Signs a phone's tap for this till's reader, when Smart Tap is on. */
  proveCollector(tap: TapToProve): Promise<Answer<CollectorProof>>;
  /** Sends the chip's signature. Sending the same one again returns the first response. */
  authorize(
    id: string,
    signed: ChipSignature & { readonly tip: bigint | null },
  ): Promise<Answer<Intent>>;
  cancel(id: string): Promise<Answer<Intent>>;
  /** Returns the receipts that this till sends to the fiscal signer. */
  unsigned(): Promise<Answer<FiscalReceiptList>>;
  /** Submits the signer's response for a receipt. */
  signed(receiptNumber: string, signed: Signed): Promise<Answer<unknown>>;
  /** Returns the items that this till offers as buttons. */
  catalogue(): Promise<Answer<CatalogueItemList>>;
  payments(cursor: string | null): Promise<Answer<Page<Payment>>>;
  /** Finds a sale made at any of the merchant's tills. */
  find(sale: SaleWanted): Promise<Answer<Page<Payment>>>;
  totals(since: string): Promise<Answer<Totals>>;
  refund(refund: CreateRefund): Promise<Answer<Refund>>;
  /** Returns the newest 100 refunds of a payment. */
  refunds(payment: string): Promise<Answer<Page<Refund>>>;
  mailReceipt(payment: string, email: string): Promise<Answer<ReceiptMail>>;
  /** Returns names and credentials of the sandbox's passes. Other services refuse the call. */
  testPasses(): Promise<Answer<TestPasses>>;
}

/** Extra time on top of a long poll's own wait. */
const POLL_GRACE_MS = 5_000;
/**
 * Longer than the 20 s for which the service waits for the chain before it responds `processing`.
 */
const TAP_TIMEOUT_MS = 27_000;
/** Longer than the 60 s for which the service waits for the chain. */
const REFUND_TIMEOUT_MS = 75_000;
const QUICK_TIMEOUT_MS = 10_000;

/** Calls that open, charge, cancel or refund payments. */
type Changes = Pick<DeviceApi, 'create' | 'tap' | 'authorize' | 'cancel' | 'refund'>;

/** Calls that read past sales and their refunds. */
type Sales = Pick<DeviceApi, 'payments' | 'find' | 'totals' | 'refunds'>;

/** Fills in the cashier, which entries stored by an earlier version lack. */
function namedCashier(cashier: string | null | undefined) {
  return cashier == null ? {} : { cashier };
}

/** A manager at the till, and the PIN. */
export interface ManagerAtTill {
  readonly id: string;
  readonly pin: string;
}

/**
 * Managers who allow requests, by the idempotency key. Only in memory, because of the PINs: a
 * request that is repeated after a reload gets its stored response without one.
 */
const managers = new Map<string, ManagerAtTill>();

/** Sends the manager with the request that has this key. */
export function allowBy(manager: ManagerAtTill, key: string): void {
  managers.clear();
  managers.set(key, manager);
}

function allowed(key: string, managerCode: string | null | undefined) {
  const manager = managers.get(key);
  const code = managerCode == null ? {} : { manager_code: managerCode };
  return manager === undefined ? code : { ...code, manager };
}

/** Forgets the manager of an answered request. */
async function forgetting<T>(key: string, sent: Promise<Answer<T>>): Promise<Answer<T>> {
  const answer = await sent;
  if (answer.is === 'done' || answer.is === 'refused') managers.delete(key);
  return answer;
}

/** Returns the amount of a sale in the API's format: in the shop's currency, or in atoms. */
function pricedAt(amount: bigint, currency: string | null) {
  if (currency === null) return { amount: Number(amount) };
  return { presentment: { currency, amount: Number(amount) } };
}

function saleFields(lines: SaleLines | null) {
  return lines === null
    ? {}
    : { line_items: lineFields(lines.lineItems), ...discountFields(lines) };
}

function tipped(tip: bigint | null) {
  return tip === null ? {} : { tip_amount: Number(tip) };
}

function changesOf(api: Api): Changes {
  return {
    create: ({ key, amount, currency, lines, splitGroup, tipping, cashier, managerCode }) =>
      forgetting(
        key,
        api({
          method: 'POST',
          path: '/payment_intents',
          idempotencyKey: key,
          body: {
            ...pricedAt(amount, currency),
            ...saleFields(lines),
            ...(splitGroup === null ? {} : { split_group: splitGroup }),
            ...(tipping === null ? {} : { tipping: { percentages: tipping } }),
            ...namedCashier(cashier),
            ...allowed(key, managerCode),
          },
        }),
      ),
    tap: (id, { key, credential, tip }) =>
      api({
        method: 'POST',
        path: `/payment_intents/${id}/tap`,
        idempotencyKey: key,
        timeoutMs: TAP_TIMEOUT_MS,
        body: { credential, ...tipped(tip) },
      }),
    authorize: (id, { from, signature, tip }) =>
      api({
        method: 'POST',
        path: `/payment_intents/${id}/authorization`,
        timeoutMs: TAP_TIMEOUT_MS,
        body: { from, signature, ...tipped(tip) },
      }),
    cancel: (id) =>
      api({
        method: 'POST',
        path: `/payment_intents/${id}/cancel`,
      }),
    refund: ({ key, payment, part, cashier, managerCode }) =>
      forgetting(
        key,
        api({
          method: 'POST',
          path: '/refunds',
          idempotencyKey: key,
          timeoutMs: REFUND_TIMEOUT_MS,
          body: {
            payment,
            ...refundFields(part),
            ...namedCashier(cashier),
            ...allowed(key, managerCode),
          },
        }),
      ),
  };
}

function paidFields(paid: PaidSum | null) {
  if (paid === null) return {};
  const units = Number(paid.units);
  return paid.currency === null ? { amount: units } : { presentment_amount: units };
}

function salesOf(api: Api): Sales {
  return {
    payments: (cursor) =>
      api({
        path: '/payments',
        query: { limit: 100, cursor: cursor ?? undefined },
      }),
    find: (sale) =>
      api({
        path: '/payments',
        query:
          'receipt' in sale
            ? { receipt: sale.receipt, ...paidFields(sale.paid) }
            : { order_id: sale.orderId, ...paidFields(sale.paid) },
      }),
    totals: (since) => api({ path: '/totals', query: { created_gte: since } }),
    refunds: (payment) => api({ path: '/refunds', query: { payment, limit: 100 } }),
  };
}

export function createDeviceApi(deviceKey: string): DeviceApi {
  const send = createApi({
    root: 'api/device/v1',
    headers: () => ({ Authorization: `Bearer ${deviceKey}` }),
  });
  const api: Api = (request) => send({ timeoutMs: QUICK_TIMEOUT_MS, ...request });
  return {
    ...changesOf(api),
    ...salesOf(api),
    device: () => api({ path: '/terminal' }),
    report: (version) =>
      api({
        method: 'PATCH',
        path: '/terminal',
        body: { platform: 'browser', software_version: version },
      }),
    next: (wait, signal) =>
      api({
        path: '/payment_intents/next',
        query: { wait },
        signal,
        timeoutMs: wait * 1000 + POLL_GRACE_MS,
      }),
    intent: (id, poll) =>
      api({
        path: `/payment_intents/${id}`,
        query: poll === undefined ? {} : { wait: poll.waitS, status: poll.status },
        timeoutMs: (poll?.waitS ?? 0) * 1000 + POLL_GRACE_MS,
        ...(poll === undefined ? {} : { signal: poll.signal }),
      }),
    unsigned: () => api({ path: '/fiscal_receipts' }),
    signed: (receiptNumber, body) =>
      api({
        method: 'POST',
        path: `/fiscal_receipts/${receiptNumber}`,
        body,
      }),
    catalogue: () => api({ path: '/catalogue' }),
    toSign: (id, { from, tip }) =>
      api({
        path: `/payment_intents/${id}/authorization`,
        query: { from, ...tipped(tip) },
      }),
    proveCollector: (body) => api({ method: 'POST', path: '/smart_tap', body }),
    mailReceipt: (payment, email) =>
      api({
        method: 'POST',
        path: `/payments/${payment}/receipt_mail`,
        body: { email },
      }),
    testPasses: () => api({ path: '/test_passes' }),
  };
}
