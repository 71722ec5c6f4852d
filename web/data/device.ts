import { type Answer, type Api, createApi } from './api.ts';
import type {
  ChipAuthorization,
  CollectorProof,
  Device,
  DevicePayment,
  PairingTarget,
  PaymentIntent,
  ReceiptMail,
  Refund,
  TestPasses,
  Totals,
} from './types/device.ts';

export type { Device, Refund, Totals } from './types/device.ts';

/** A sale that was looked up has no `payer`. */
export type Payment = DevicePayment;

/** An intent as the device API shows it. */
export type Intent = PaymentIntent;

export interface Credential {
  readonly type: 'nfc_id' | 'nfc_sun' | 'qr' | 'rotating_code' | 'smart_tap' | 'apple_vas';
  readonly value: string;
}

export interface CreateIntent {
  readonly key: string;
  readonly amount: bigint;
  readonly splitGroup: string | null;
  /** Percentages that the customer may choose from. */
  readonly tipping: readonly number[] | null;
  /** null: nobody was named. */
  readonly cashier: string | null;
}

export interface TapIntent {
  readonly key: string;
  readonly credential: Credential;
  /** null: the customer was not asked. */
  readonly tip: bigint | null;
}

/** What a reader has to have signed in the middle of a tap of a phone. In hex. */
export interface TapToProve {
  readonly reader_nonce: string;
  readonly phone_nonce: string;
  readonly reader_key: string;
}

/** What a chip has signed: of its address, for the sum with this tip. */
export interface ChipSignature {
  readonly from: `0x${string}`;
  readonly signature: `0x${string}`;
}

export interface CreateRefund {
  readonly key: string;
  readonly payment: string;
  readonly amount: bigint;
  readonly cashier: string | null;
  /** For what a till may not give back alone; kept ones of an earlier version have none. */
  readonly managerCode?: string | null;
}

/** What the customer holds: a receipt, or the order and what was paid. */
export type SaleWanted =
  /** The number of another till's receipt needs the amount; an address in a QR code none. */
  | { readonly receipt: string; readonly amount: bigint | null }
  | { readonly orderId: string; readonly amount: bigint };

interface Page<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** Everything that a till asks of the service. */
export interface DeviceApi {
  device(): Promise<Answer<Device>>;
  /** Says which software this terminal runs. */
  report(version: string): Promise<Answer<Device>>;
  /** null: none came. */
  next(waitS: number, signal: AbortSignal): Promise<Answer<Intent | null>>;
  intent(
    id: string,
    poll?: { readonly waitS: number; readonly status: string; readonly signal: AbortSignal },
  ): Promise<Answer<Intent>>;
  create(intent: CreateIntent): Promise<Answer<Intent>>;
  tap(id: string, tap: TapIntent): Promise<Answer<Intent>>;
  /** What a chip of this address signs to pay. */
  toSign(
    id: string,
    chip: { readonly from: string; readonly tip: bigint | null },
  ): Promise<Answer<ChipAuthorization>>;
  /** For the reader of this till, where Smart Tap is on. */
  proveCollector(tap: TapToProve): Promise<Answer<CollectorProof>>;
  /** The same signature again gets the first answer. */
  authorize(
    id: string,
    signed: ChipSignature & { readonly tip: bigint | null },
  ): Promise<Answer<Intent>>;
  cancel(id: string): Promise<Answer<Intent>>;
  payments(cursor: string | null): Promise<Answer<Page<Payment>>>;
  /** A sale of any till of the merchant. */
  find(sale: SaleWanted): Promise<Answer<Page<Payment>>>;
  /** Totals of the shift that began then. */
  totals(since: string): Promise<Answer<Totals>>;
  refund(refund: CreateRefund): Promise<Answer<Refund>>;
  /** Mails a receipt to its customer. */
  mailReceipt(payment: string, email: string): Promise<Answer<ReceiptMail>>;
  /** Names and credentials of the sandbox's passes; refused anywhere else. */
  testPasses(): Promise<Answer<TestPasses>>;
}

/** Long polls get this much longer than they ask for. */
const POLL_GRACE_MS = 5_000;
/** The service waits 20 s for the chain before it says `processing`. */
const TAP_TIMEOUT_MS = 27_000;
/** The service waits 60 s for the chain. */
const REFUND_TIMEOUT_MS = 75_000;
const QUICK_TIMEOUT_MS = 10_000;

export interface Paired {
  readonly terminal: string;
  readonly device_key: string;
}

/** Changes the dashboard's code into a device key. */
export function pairDevice(code: string): Promise<Answer<Paired>> {
  const api = createApi({ root: 'api/device/v1' });
  return api({ method: 'POST', path: '/pair', body: { code }, timeoutMs: QUICK_TIMEOUT_MS });
}

/** Whose terminal a code belongs to. It can still be used. */
export function previewPairing(code: string): Promise<Answer<PairingTarget>> {
  const api = createApi({ root: 'api/device/v1' });
  return api({
    method: 'POST',
    path: '/pair/preview',
    body: { code },
    timeoutMs: QUICK_TIMEOUT_MS,
  });
}

/** What charges, gives back or opens and closes payments. */
type Changes = Pick<DeviceApi, 'create' | 'tap' | 'authorize' | 'cancel' | 'refund'>;

/** What is asked about sales that were made. */
type Sales = Pick<DeviceApi, 'payments' | 'find' | 'totals'>;

/** What was kept by an earlier version of the till names nobody. */
function namedCashier(cashier: string | null | undefined) {
  return cashier == null ? {} : { cashier };
}

function tipped(tip: bigint | null) {
  return tip === null ? {} : { tip_amount: Number(tip) };
}

function changesOf(api: Api): Changes {
  return {
    create: ({ key, amount, splitGroup, tipping, cashier }) =>
      api({
        method: 'POST',
        path: '/payment_intents',
        idempotencyKey: key,
        timeoutMs: QUICK_TIMEOUT_MS,
        body: {
          amount: Number(amount),
          ...(splitGroup === null ? {} : { split_group: splitGroup }),
          ...(tipping === null ? {} : { tipping: { percentages: tipping } }),
          ...namedCashier(cashier),
        },
      }),
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
        timeoutMs: QUICK_TIMEOUT_MS,
      }),
    refund: ({ key, payment, amount, cashier, managerCode }) =>
      api({
        method: 'POST',
        path: '/refunds',
        idempotencyKey: key,
        timeoutMs: REFUND_TIMEOUT_MS,
        body: {
          payment,
          amount: Number(amount),
          ...namedCashier(cashier),
          ...(managerCode == null ? {} : { manager_code: managerCode }),
        },
      }),
  };
}

function salesOf(api: Api): Sales {
  return {
    payments: (cursor) =>
      api({
        path: '/payments',
        query: { limit: 100, cursor: cursor ?? undefined },
        timeoutMs: QUICK_TIMEOUT_MS,
      }),
    find: (sale) =>
      api({
        path: '/payments',
        query:
          'receipt' in sale
            ? {
                receipt: sale.receipt,
                ...(sale.amount === null ? {} : { amount: Number(sale.amount) }),
              }
            : { order_id: sale.orderId, amount: Number(sale.amount) },
        timeoutMs: QUICK_TIMEOUT_MS,
      }),
    totals: (since) =>
      api({ path: '/totals', query: { created_gte: since }, timeoutMs: QUICK_TIMEOUT_MS }),
  };
}

export function createDeviceApi(deviceKey: string): DeviceApi {
  const api = createApi({
    root: 'api/device/v1',
    headers: () => ({ Authorization: `Bearer ${deviceKey}` }),
  });
  return {
    ...changesOf(api),
    ...salesOf(api),
    device: () => api({ path: '/terminal', timeoutMs: QUICK_TIMEOUT_MS }),
    report: (version) =>
      api({
        method: 'PATCH',
        path: '/terminal',
        timeoutMs: QUICK_TIMEOUT_MS,
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
    toSign: (id, { from, tip }) =>
      api({
        path: `/payment_intents/${id}/authorization`,
        query: { from, ...tipped(tip) },
        timeoutMs: QUICK_TIMEOUT_MS,
      }),
    proveCollector: (body) =>
      api({ method: 'POST', path: '/smart_tap', body, timeoutMs: QUICK_TIMEOUT_MS }),
    mailReceipt: (payment, email) =>
      api({
        method: 'POST',
        path: `/payments/${payment}/receipt_mail`,
        timeoutMs: QUICK_TIMEOUT_MS,
        body: { email },
      }),
    testPasses: () => api({ path: '/test_passes', timeoutMs: QUICK_TIMEOUT_MS }),
  };
}
