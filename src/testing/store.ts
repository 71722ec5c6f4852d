import { randomBytes } from 'node:crypto';
import { getAddress } from 'viem';
import type { MerchantAccount } from '#accounts/merchant-caller.ts';
import { createAskHome } from '#cells/ask-home-cell.ts';
import { ALONE } from '#cells/ask-other-cells.ts';
import { type Answer, DEFAULT_WEB_URL, isRefusal, type Refusal } from '#core/answer.ts';
import { startLoop } from '#core/background-loop.ts';
import { hashSecret, newSecret } from '#core/bearer-secrets.ts';
import { type Clock, systemClock } from '#core/clock.ts';
import { type IdKey, newId, toIdKey } from '#core/ids.ts';
import { atoms } from '#core/money.ts';
import type { ProcessKeys } from '#core/process-keys.ts';
import { localWakeups, type Wakeups } from '#db/wakeups.ts';
import { type Log, silentLog } from '#observability/log.ts';
import { createPass } from '#payers/create-pass.ts';
import { createPayer } from '#payers/create-payer.ts';
import { NO_PASS_FILES } from '#payers/pass-files.ts';
import type { PayerRow } from '#payers/payer-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { applySettlements } from '#payments/apply-settlements.ts';
import { createIntent } from '#payments/create-intent.ts';
import { payIntent } from '#payments/pay.ts';
import type { Preflight } from '#payments/pay-request.ts';
import type { Tipping } from '#payments/payment-attempt.ts';
import type { CreateRequest, NewIntent } from '#payments/price-new-intent.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';
import type { Mailing } from '#people/people-context.ts';
import type { StaticPassTerms } from '#risk/risk-rules.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { ChainContext } from '#settlement/chain/chain-context.ts';
import type { FailureReason, Hex, OutcomeFacts } from '#settlement/chain-requests.ts';
import { GAS_PER_DAY, type GasPolicy } from '#settlement/gas-budget.ts';
import type { Readiness } from '#settlement/network-readiness.ts';
import { type TestDatabase, testDatabase } from '#testing/database.ts';
import { settling } from '#testing/settling.ts';
import { systemResolver } from '#webhooks/dns-resolver.ts';
import { addressPolicy } from '#webhooks/refuse-private-addresses.ts';

/** The id key that all tests share, so that one part of a test knows the ids of another part. */
export const TEST_ID_KEY = toIdKey(Buffer.alloc(32, 'id key'));
export const TEST_RECEIPTS: ReceiptPages = { idKey: TEST_ID_KEY, webUrl: () => DEFAULT_WEB_URL };

/** Encrypts the keys of cards. */
export const TEST_CARD_KEY = Buffer.alloc(32, 'card key');

/** The keys of a test's process. */
export const TEST_KEYS: ProcessKeys = {
  id: TEST_ID_KEY,
  card: TEST_CARD_KEY,
  cursor: Buffer.alloc(32, 'cursors'),
  webhook: Buffer.alloc(32, 'webhooks'),
  people: Buffer.alloc(32, 'people'),
};

/** A merchant that is live in test mode, in a database of its own. */
export interface TestStore {
  readonly database: TestDatabase;
  readonly db: TestDatabase['db'];
  readonly clock: Clock;
  readonly wakeups: Wakeups;
  readonly log: Log;
  readonly idKey: IdKey;
  readonly pages: ReceiptPages;
  readonly merchant: MerchantAccount;
  readonly terminalId: string;
  readonly deviceKey: string;
  /**
   * The context of the store's process. A copy of it acts as another process, with its own batches.
   */
  readonly ctx: ApiContext;
  readonly readiness: Readiness;
  readonly settleWithinS: number;
  close(): Promise<void>;
}

export interface StoreOptions {
  readonly clock?: Clock;
  readonly preflight?: Preflight;
  readonly maxConnections?: number;
  /** An existing database, which stays open when the store is closed. */
  readonly database?: TestDatabase;
  readonly wakeups?: Wakeups;
  /** The networks that settle. Default: both. */
  readonly readiness?: Readiness;
  /** Terms of the risk rule STATIC_PASS, which asks the payer to confirm. Default: off. */
  readonly staticPass?: StaticPassTerms;
  /** The merchant's number on a real contract, if there is one. */
  readonly merchantNumber?: bigint;
}

let merchantNumbers = 0n;

/** Adds a verified account that is live on its network. */
export async function addMerchant(
  db: TestDatabase['db'],
  options: { readonly livemode?: boolean; readonly now: Date; readonly merchantNumber?: bigint },
): Promise<MerchantAccount> {
  const { now, livemode = false, merchantNumber = ++merchantNumbers } = options;
  const accountId = newId('account', now);
  await db.query(
    `insert into accounts (id, name, kyb_status, created)
     values ($1, 'Corner Shop', 'approved', $2)`,
    [accountId, now],
  );
  await db.query(
    `insert into account_modes (account_id, livemode, merchant_number, settlement_wallet, live_at)
     values ($1, $2, $3, '0x', $4)`,
    [accountId, livemode, merchantNumber, now],
  );
  const tenant = { accountId, livemode };
  return { tenant, name: 'Corner Shop', kybApproved: true, merchantNumber, keyHash: null };
}

/** Adds a terminal with a device key. */
export async function addTerminal(
  db: TestDatabase['db'],
  merchant: MerchantAccount,
  now: Date,
): Promise<{ readonly terminalId: string; readonly deviceKey: string }> {
  const { accountId, livemode } = merchant.tenant;
  const terminalId = newId('terminal', now);
  await db.query(
    `insert into terminals (id, account_id, livemode, position, created, label, name)
     values ($1, $2, $3, 0, $4, 'Counter', 'Counter')`,
    [terminalId, accountId, livemode, now],
  );
  const deviceKey = newSecret(livemode ? 'deviceKeyLive' : 'deviceKeyTest');
  await db.query('insert into device_keys (hash, terminal_id, created) values ($1, $2, $3)', [
    hashSecret(deviceKey),
    terminalId,
    now,
  ]);
  return { terminalId, deviceKey };
}

/** Returns the context that payouts and recovery need, with the test keys or those of `people`. */
export function chainContext(
  parts: Pick<ChainContext, 'db' | 'wakeups' | 'clock'> & { readonly people?: Mailing },
  chains: readonly Chain[],
): ChainContext {
  const { db, wakeups, clock, people } = parts;
  const context = { db, wakeups, clock, log: silentLog, chains };
  if (people === undefined) return { ...context, keys: TEST_KEYS, pages: TEST_RECEIPTS };
  const pages = { ...TEST_RECEIPTS, webUrl: () => people.webUrl };
  return { ...context, keys: { ...TEST_KEYS, people: people.secretKey }, pages };
}

/** The default limits, without a least sale for which a wallet is deployed. */
export const TEST_GAS: GasPolicy = { perDay: GAS_PER_DAY, approvalsPerAddress: 30, deployFrom: 0 };

/** Returns the context of a store's process. It can reach its database and nothing else. */
function contextOf(
  parts: Pick<ApiContext, 'db' | 'clock' | 'wakeups' | 'readiness'> & {
    readonly preflight: Preflight;
    readonly settleWithinS: number;
  },
  staticPass: StaticPassTerms | null,
): ApiContext {
  const { db, clock, wakeups, readiness, preflight, settleWithinS } = parts;
  const { people } = TEST_KEYS;
  const passkeys = { rpId: 'localhost', rpName: 'Tapline', origins: [DEFAULT_WEB_URL] };
  const mailing = { db, wakeups, secretKey: people, webUrl: DEFAULT_WEB_URL, factorAgeMs: 0 };
  const realm = { ...mailing, passkeys };
  const outside = { policy: addressPolicy([]), resolver: systemResolver() };
  return {
    ...{ db, clock, wakeups, readiness, log: silentLog, chains: [], keys: TEST_KEYS },
    pages: TEST_RECEIPTS,
    settings: {
      production: false,
      isSandbox: true,
      chains: { testnet: null, mainnet: null },
      settleWithinS,
      staticPass,
      gaslessTransfers: null,
      gaslessLimits: { perAddress: 30, perHour: 600 },
      gas: TEST_GAS,
      push: null,
    },
    people: { merchant: realm, operator: realm },
    outside: {
      preflight,
      askHome: createAskHome(db, clock, ALONE),
      webhooks: outside,
      push: outside,
      publicNode: () => null,
      passFiles: NO_PASS_FILES,
      signIn: { chains: [], isOwnDomain: () => false },
    },
    demo: { defaultPass: null, testPasses: null },
  };
}

export async function openStore(options: StoreOptions = {}): Promise<TestStore> {
  const database = options.database ?? (await testDatabase(options.maxConnections));
  const { db } = database;
  const { clock = systemClock, wakeups = localWakeups(), merchantNumber } = options;
  const { readiness = settling } = options;
  const settleWithinS = 60;
  const now = clock.now();
  const number = merchantNumber === undefined ? {} : { merchantNumber };
  const merchant = await addMerchant(db, { now, ...number });
  const { terminalId, deviceKey } = await addTerminal(db, merchant, now);
  const preflight = options.preflight ?? (async () => ({ ok: true as const }));
  return {
    database,
    db,
    clock,
    wakeups,
    idKey: TEST_ID_KEY,
    pages: TEST_RECEIPTS,
    merchant,
    terminalId,
    deviceKey,
    log: silentLog,
    readiness,
    settleWithinS,
    ctx: contextOf(
      { db, clock, wakeups, readiness, preflight, settleWithinS },
      options.staticPass ?? null,
    ),
    close: async () => {
      if (options.database === undefined) await database.close();
    },
  };
}

/** Returns a wallet address whose key is unknown, for tests that do not use the chain. */
export function anyAddress(): Hex {
  return getAddress(`0x${randomBytes(20).toString('hex')}`);
}

/** Adds a payer who has one pass. */
export async function addPayer(
  store: Pick<TestStore, 'db' | 'clock'>,
  wallet: { readonly livemode?: boolean; readonly address?: Hex } = {},
): Promise<{ readonly payer: PayerRow; readonly pass: string; readonly passId: string }> {
  const now = store.clock.now();
  return store.db.transaction(async (tx) => {
    const { livemode = false, address = anyAddress() } = wallet;
    const payer = await createPayer(tx, { livemode, address, now });
    const { secret, row } = await createPass(tx, { payerId: payer.id, label: 'card', now });
    return { payer, pass: secret, passId: row.id };
  });
}

let keys = 0;

/** The place of a sale: a merchant and one of its terminals. */
export type Counter = Pick<TestStore, 'merchant' | 'terminalId'>;

/** Returns a request with this Idempotency-Key, or with a new one. */
export function newRequest(counter: Pick<Counter, 'merchant'>, key = `key-${++keys}`) {
  return {
    tenant: counter.merchant.tenant,
    caller: '',
    key,
    method: 'POST',
    path: '/v1/test',
    fingerprint: hashSecret(key),
    docsUrl: 'http://docs.test',
  };
}

export interface IntentOptions {
  readonly amount?: NewIntent['amount'];
  readonly expiresIn?: number;
  readonly splitGroup?: string;
  readonly tipping?: Tipping;
  readonly lines?: NewIntent['lines'];
}

export type CreateIntent = (request: CreateRequest) => Promise<Answer | Refusal>;

/** Returns a function that creates intents as another process would. */
export function intentCreator({ ctx }: Pick<TestStore, 'ctx'>): CreateIntent {
  const own = { ...ctx };
  return (request) => createIntent(own, request);
}

/** Returns a function that creates open intents. Concurrent calls share a transaction. */
export function intentMaker(store: Pick<TestStore, 'clock' | 'ctx'>) {
  const create = intentCreator(store);
  return async (counter: Counter, options: IntentOptions = {}): Promise<string> => {
    const answer = await create({
      merchant: counter.merchant,
      idempotency: newRequest(counter),
      requestId: 'req_test',
      now: store.clock.now(),
      input: {
        amount: options.amount ?? 2_500_000,
        lines: options.lines ?? null,
        tipping: options.tipping ?? null,
        terminalId: counter.terminalId,
        orderId: null,
        description: null,
        metadata: {},
        source: options.splitGroup === undefined ? 'api' : 'terminal',
        splitGroup: options.splitGroup ?? null,
        expiresIn: options.expiresIn ?? 120,
      },
    });
    return bodyOf(answer).id;
  };
}

/**
 * Adds an open intent at the store's own terminal.
 * @returns the intent's id
 */
export function addIntent(store: TestStore, options: IntentOptions = {}): Promise<string> {
  return intentMaker(store)(store, options);
}

/** Adds an open intent at the store's own terminal, and a payer who has one pass. */
export async function openSale(store: TestStore, options: IntentOptions = {}) {
  return { ...(await addPayer(store)), intentId: await addIntent(store, options) };
}

/** The fields of a payment intent that tests read. */
export interface IntentBody {
  readonly id: string;
  readonly status: string;
  readonly payment: string | null;
  readonly tip: number | null;
  readonly tx_hash: string | null;
  readonly tapped_at: string | null;
  readonly picked_up_at: string | null;
  readonly cancellation_reason: string | null;
  readonly next_action: { readonly reason_code: string; readonly expires_at: string } | null;
  readonly last_payment_error: {
    readonly decline_code: string;
    readonly reason_code: string;
  } | null;
}

/**
 * Returns the intent in a response.
 * @throws if the response is a refusal
 */
export function bodyOf(answer: Answer | Refusal): IntentBody {
  if (isRefusal(answer)) throw new Error(`refused: ${answer.code} ${answer.message}`);
  return JSON.parse(answer.body);
}

/**
 * Returns a code for the response: its error code if there is one, else its decline code, else its
 * status.
 */
export function summaryOf(answer: Answer | Refusal): string {
  if (isRefusal(answer)) return answer.code;
  const body = JSON.parse(answer.body);
  if (body.error !== undefined) return body.error.code;
  return body.last_payment_error?.decline_code ?? body.status;
}

export interface Payment {
  readonly intentId: string;
  readonly counter?: Counter;
  /** The agent token to pay with instead of a pass. */
  readonly token?: string;
  readonly pass?: string;
  readonly tip?: number;
  readonly key?: string;
  readonly now?: Date;
  /**
   * True if the client disconnects right away. The work continues, as after a crash of the client.
   */
  readonly hangUp?: boolean;
}

/** Pays by tapping a pass, or by presenting an agent token. */
export function pay(store: TestStore, payment: Payment): Promise<Answer | Refusal> {
  const { intentId, counter = store, pass, token, tip, key } = payment;
  const { now = store.clock.now() } = payment;
  const tapped = {
    terminalId: counter.terminalId,
    presented: { type: 'nfc_id' as const, value: pass ?? '' },
  };
  const confirm = { presented: { type: 'agent_token' as const, value: token ?? '' } };
  return payIntent(store.ctx, {
    merchant: counter.merchant,
    intentId,
    ...(token === undefined ? tapped : confirm),
    tip: tip === undefined ? null : atoms(tip),
    idempotency: newRequest(counter, key),
    requestId: 'req_test',
    now,
    ...(payment.hangUp === true ? { gone: AbortSignal.abort() } : {}),
  });
}

type Chainlike = Pick<TestStore, 'db' | 'clock' | 'wakeups'>;

/**
 * Plays the parts of relayer and contract: gives every pending payment job a result (success or
 * `failure`) and applies the results.
 * @returns the number of jobs
 */
export async function playChain(
  store: Chainlike,
  failure?: FailureReason,
  more: Partial<OutcomeFacts['payment']> = {},
): Promise<number> {
  const facts = {
    txHash: `0x${'ab'.repeat(32)}`,
    blockNumber: '7',
    logIndex: 0,
    blockTime: store.clock.now().toISOString(),
    batchNumber: '1',
    feeAcquirer: '7500',
    feeProtocol: '5000',
    cashback: '1250',
    chainId: 31337,
    ...more,
  };
  const outcome = failure
    ? { succeeded: false, reason: failure, txHash: null }
    : { succeeded: true, facts };
  const rows = await store.db.query(
    `update chain_requests r
     set status = case when $2 then 'succeeded' else 'failed' end,
       outcome = case when $2 then jsonb_set($1::text::jsonb, '{facts,settlementNumber}',
         to_jsonb(n.number::text)) else $1::text::jsonb end
     from (
       select id, number from chain_requests
       where livemode in (false, true) and status = 'queued' and kind = 'payment' and tries = 0
       offset 0
     ) n
     where n.id = r.id
     returning r.id`,
    [JSON.stringify(outcome), failure === undefined],
  );
  while (await applySettlements({ ...store, log: silentLog, pages: TEST_RECEIPTS }));
  return rows.length;
}

/** Simulates the chain until stopped. New jobs wake it up, as they wake the relayer. */
export function keepSettling(store: Chainlike): { stop(): Promise<void> } {
  const loop = startLoop({
    name: 'played chain',
    pollMs: 20,
    run: async () => (await playChain(store)) > 0,
    onError: (_name, error) => {
      throw error;
    },
  });
  const off = store.wakeups.on('chain-requests', 'testnet', loop.wake);
  return {
    stop: () => {
      off();
      return loop.stop();
    },
  };
}

/** Returns the result of the work. Meanwhile simulates the chain. */
export async function settled<T>(store: Chainlike, work: Promise<T>): Promise<T> {
  const settling = keepSettling(store);
  try {
    return await work;
  } finally {
    await settling.stop();
  }
}

/** Pays, and simulates the chain until the response arrives. */
export function payAndSettle(store: TestStore, payment: Payment): Promise<Answer | Refusal> {
  return settled(store, pay(store, payment));
}
