import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm';
import { present } from '#core/assert.ts';
import { describeError } from '#observability/log.ts';
import type { TappedType } from '#payments/credential.ts';
import { methodOf, type PaymentMethod } from '#payments/payment.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { type Caller, caller, type Reply } from '#testkit/apis/api-client.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { signAtTerms, type TillTerms } from '#testkit/apis/offline-sales.ts';
import { type LinkBody, readLink, sign } from '#testkit/apis/pay-links.ts';
import { lastOf, persist } from '#testkit/simulation/restore-ground.ts';
import type { UndeployedWallet } from '#testkit/simulation/ways/outside-wallets.ts';
import type { PayerKind, WayPayer } from '#testkit/simulation/ways/payers.ts';
import type { Till } from '#testkit/simulation/ways/shops.ts';
import { DECIDED_MS } from '#testkit/simulation/ways/world.ts';

/** The terms of a sale. */
export interface Wish {
  /** Amount of the sale in atoms, without the tip. */
  readonly amount: number;
  /** The tip in atoms; `null` if no tip is offered. */
  readonly tip: number | null;
  /** The unique order number, of at most 7 characters. */
  readonly order: string;
  readonly splitGroup?: string;
}

/** The result of a sale, as the service reported it to the payer or the seller. */
export interface WayResult {
  /** The status of the intent, or the code of the refusal. */
  readonly said: string;
  readonly intent: string | null;
  readonly payment: string | null;
}

/** One sale, with the credential that its payer presents. */
export interface Attempt {
  /** The intent's id; `null` if the intent is created only by the payment. */
  readonly intent: string | null;
  /** Pays. If called again, sends the same request. Repeats it until there is a final response. */
  pay(node: number): Promise<WayResult>;
  /** Presents the same credential at this till for another sale of the same amount. */
  spendAgain(node: number, till: Till): Promise<WayResult>;
}

export interface Shopping {
  /** Returns the API URL of a node, such as `http://127.0.0.1:1/api`. */
  url(node: number): string;
  readonly till: Till;
  readonly payer: WayPayer;
  readonly wish: Wish;
}

/** A way to pay. It sends the same HTTP requests as the customers' and shops' devices. */
export interface Way {
  readonly name: string;
  /** The method that the API shows for payments made in this way. */
  readonly method: PaymentMethod;
  readonly payer: PayerKind;
  /** True if the payment is made at a till, which can split bills and ask for tips. */
  readonly atTill: boolean;
  /**
   * The results that are allowed when the credential is presented for another sale. Only a pass can
   * pay twice.
   */
  readonly again: readonly string[];
  /** Creates the sale and the credential, without paying. */
  begin(shopping: Shopping): Promise<Attempt>;
}

const NODES = 2;

type Door = ReturnType<typeof doorAt>;

function doorAt({ url, till }: Pick<Shopping, 'url' | 'till'>, node: number) {
  return {
    merchant: caller(`${url(node)}/v1`, till.secretKey),
    terminal: caller(`${url(node)}/device/v1`, till.deviceKey),
    pay: caller(`${url(node)}/pay/v1`, ''),
  };
}

export function toResult({ status, body }: Reply): WayResult {
  if (status >= 300) {
    return { said: errorCodeOf(body) ?? String(status), intent: null, payment: null };
  }
  const { id, payment } = body;
  const paid = typeof payment === 'string' ? payment : null;
  return { said: String(body.status), intent: String(id), payment: paid };
}

async function create(shopping: Shopping, node: number, order: string): Promise<string> {
  const { till, wish, payer } = shopping;
  const { merchant, terminal } = doorAt(shopping, node);
  const tipping = wish.tip === null ? {} : { tipping: { percentages: [10] } };
  const sale = { amount: wish.amount, order_id: order, ...tipping };
  const fromServer = {
    ...sale,
    terminal: payer.kind === 'agent' ? till.agentTerminal : till.terminal,
  };
  const key = `create ${order}`;
  // Creates a split bill, which only a till can do.
  const created = await persist(() =>
    wish.splitGroup === undefined
      ? merchant.post('/payment_intents', fromServer, key)
      : terminal.post('/payment_intents', { ...sale, split_group: wish.splitGroup }, key),
  );
  assert.equal(created.status, 201, JSON.stringify(created.body));
  return String(created.body.id);
}

type Present = (door: Door, intent: string, key: string) => Promise<Reply>;

/** Waits for the result: as a till does, polls as long as the status is `processing`. */
async function awaitEnd(shopping: Shopping, node: number, intent: string): Promise<WayResult> {
  const { merchant } = doorAt(shopping, node);
  const read = async () =>
    toResult(await persist(() => merchant.get(`/payment_intents/${intent}`)));
  const result = await lastOf(read, ({ said }) => said !== 'processing', DECIDED_MS);
  return result ?? { said: 'processing', intent, payment: null };
}

/** Begins a sale as the merchant's server would. */
async function beginWith(
  shopping: Shopping,
  prepare: (intent: string) => Promise<Present>,
): Promise<Attempt> {
  const { order } = shopping.wish;
  const intent = await create(shopping, 0, order);
  const present = await prepare(intent);
  // Tries the other node if one does not respond, as a load balancer would.
  const send = async (at: Shopping, node: number, { id, key }: { id: string; key: string }) => {
    let tries = 0;
    const ask = async () => {
      const reply = await present(doorAt(at, (node + tries++) % NODES), id, key);
      // Not a final response: the request must be repeated with the same key.
      if (errorCodeOf(reply.body) === 'idempotency_request_in_progress') throw new Error('not yet');
      return reply;
    };
    const result = toResult(await persist(ask));
    return result.said === 'processing' ? awaitEnd(at, node, id) : result;
  };
  return {
    intent,
    pay: (node) => send(shopping, node, { id: intent, key: `pay ${order}` }),
    spendAgain: async (node, till) => {
      const elsewhere = { ...shopping, till };
      const other = await create(elsewhere, node, `${order}x`);
      return send(elsewhere, node, { id: other, key: `again ${order}` });
    },
  };
}

const always = (value: string) => () => value;

const tipOf = ({ wish }: Shopping) => (wish.tip === null ? {} : { tip_amount: wish.tip });

/** The results of a credential that pays once and is presented for another sale. */
const SPENT = ['requires_payment_method'];

/** Reads a credential at the tap. `merchant` has the test helpers of phones. */
type Read = (merchant: Caller) => string | Promise<string>;

/** A way to pay with a credential that the till reads. `show` prepares it before the tap. */
function tapped(
  name: string,
  type: TappedType,
  again: readonly string[],
  show: (payer: WayPayer) => Promise<Read>,
): Way {
  const begin = (shopping: Shopping) =>
    beginWith(shopping, async () => {
      const read = await show(shopping.payer);
      let reading: Promise<string> | null = null;
      return async ({ terminal, merchant }, id, key) => {
        // Read once, even if both nodes get the tap at the same time.
        reading ??= Promise.resolve(read(merchant));
        const value = await reading.catch((error) => {
          reading = null;
          throw error;
        });
        const body = { credential: { type, value }, ...tipOf(shopping) };
        return terminal.post(`/payment_intents/${id}/tap`, body, key);
      };
    });
  return { name, method: methodOf(type), payer: 'enrolled', atTill: true, again, begin };
}

/** A way to pay with a signature, which is valid for its sale only. */
function signed(
  name: string,
  payer: PayerKind,
  begin: Way['begin'],
  credential: 'authorization' | 'chip' = 'authorization',
): Way {
  const again = ['signature_invalid'];
  return { name, method: methodOf(credential), payer, atTill: true, again, begin };
}

async function linkOf({ terminal }: Door, intent: string): Promise<string> {
  const { body } = await persist(() => terminal.get(`/payment_intents/${intent}`));
  return String(body.payment_url).split('/').at(-1) ?? '';
}

/**
 * Returns an IP address that differs from wallet to wallet, because one address may deploy only
 * three wallets an hour.
 */
function addressOf(from: Hex): string {
  return `10.${[4, 6, 8].map((at) => Number.parseInt(from.slice(at, at + 2), 16)).join('.')}`;
}

/** Begins a sale in which a wallet scans the till's link and signs the terms. */
function scanned(
  shopping: Shopping,
  { from, account }: UndeployedWallet = shopping.payer,
): Promise<Attempt> {
  return beginWith(shopping, async (intent) => {
    const door = doorAt(shopping, 0);
    // Remembers the tokens of links, because a till shows no link while its sale is being paid.
    const shown = new Map<string, Promise<string>>();
    const tokenOf = (at: Door, id: string) => {
      const token = shown.get(id) ?? linkOf(at, id);
      shown.set(id, token);
      return token;
    };
    const tip = shopping.wish.tip === null ? '' : `&tip_amount=${shopping.wish.tip}`;
    const open = async (at: Door, id: string) =>
      readLink(at.pay, await tokenOf(at, id), `${from}${tip}` as typeof from);
    const signature = await sign(account, await open(door, intent));
    const body = { from, signature, ...tipOf(shopping) };
    return async (at, id, key) => {
      // Opens the other sale's link first, so that the service has terms against which to check the
      // signature.
      if (id !== intent) await open(at, id);
      return at.pay.send('POST', `/${await tokenOf(at, id)}/authorization`, {
        headers: {
          'Content-Type': 'application/json',
          'Idempotency-Key': key,
          'X-Forwarded-For': addressOf(from),
        },
        body: JSON.stringify(body),
      });
    };
  });
}

/** Begins a sale in which a chip at the till signs the terms and the till sends the signature. */
function signedAtTill(shopping: Shopping): Promise<Attempt> {
  return beginWith(shopping, async (intent) => {
    const { account, from } = shopping.payer;
    const pathOf = (id: string) => `/payment_intents/${id}/authorization`;
    const tip = shopping.wish.tip === null ? '' : `&tip_amount=${shopping.wish.tip}`;
    const { terminal } = doorAt(shopping, 0);
    const result = await persist(() => terminal.get(`${pathOf(intent)}?from=${from}${tip}`));
    const signature = await sign(account, result.body as unknown as LinkBody);
    const body = { from, signature, ...tipOf(shopping) };
    return (at, id) => at.terminal.post(pathOf(id), body);
  });
}

function confirmed(shopping: Shopping): Promise<Attempt> {
  return beginWith(shopping, async () => {
    const { till, wish, payer } = shopping;
    const token = await payer.agentToken(till.account, wish.amount);
    return ({ merchant }, id, key) =>
      merchant.post(`/payment_intents/${id}/confirm`, { agent_token: token }, key);
  });
}

/**
 * All ways to pay. If the code has a credential that none of them uses,
 * `test/faults/ways.slow.test.ts` fails.
 */
export const WAYS: readonly Way[] = [
  tapped('a pass', 'nfc_id', ['succeeded'], async (payer) => always(payer.pass())),
  tapped('a one-minute code', 'qr', SPENT, async (payer) => always(await payer.code())),
  tapped('a SUN card', 'nfc_sun', [...SPENT, 'requires_action'], async (payer) =>
    always((await payer.chip()).tap()),
  ),
  // Phones are read only at the tap: a code expires within half a minute, and Apple's message
  // within a minute.
  tapped('a rotating code', 'rotating_code', SPENT, (payer) => payer.rotating()),
  tapped('a pass in Google Wallet', 'smart_tap', [...SPENT, 'requires_action'], (payer) =>
    payer.phone('smart_tap'),
  ),
  tapped('a pass in Apple Wallet', 'apple_vas', SPENT, (payer) => payer.phone('apple_vas')),
  signed('a wallet with a key', 'wallet', (shopping) => scanned(shopping)),
  signed('a contract wallet', 'contract', (shopping) => scanned(shopping)),
  signed('a contract wallet that is not deployed', 'undeployed', async (shopping) =>
    scanned(shopping, await shopping.payer.undeployed()),
  ),
  signed('a chip at the till', 'wallet', signedAtTill, 'chip'),
  {
    name: 'an offline sale',
    method: methodOf('authorization'),
    payer: 'wallet',
    // False, because offline sales have neither split bills nor tips.
    atTill: false,
    again: ['parameter_invalid'],
    begin: acceptOffline,
  },
  {
    name: 'an agent token',
    method: methodOf('agent_token'),
    payer: 'agent',
    atTill: false,
    again: ['requires_payment_method'],
    begin: confirmed,
  },
  {
    name: 'x402',
    method: methodOf('agent_token'),
    payer: 'bridge',
    atTill: false,
    again: ['duplicate_settlement'],
    begin: sellOverX402,
  },
];

async function offlineTermsOf({ terminal }: Door): Promise<TillTerms> {
  const read = () => persist(() => terminal.get('/terminal'));
  const answer = await lastOf(read, ({ body }) => body.offline_terms !== null, DECIDED_MS);
  return present(answer?.body.offline_terms as TillTerms | null, 'terms of offline sales');
}

/**
 * Begins a sale at an offline till: the wallet signs the terms, and the till stores the signature.
 */
async function acceptOffline(shopping: Shopping): Promise<Attempt> {
  const terms = await offlineTermsOf(doorAt(shopping, 0));
  const record = await signAtTerms(shopping.payer.account, terms, shopping.wish.amount);
  return {
    intent: null,
    pay: (node) => forward(shopping, node, record),
    // The signature covers the merchant, the amount and a salt, so it is not valid for another
    // sale.
    spendAgain: (node, till) => {
      const other = `0x${randomBytes(32).toString('hex')}`;
      return forward({ ...shopping, till }, node, { ...record, salt: other });
    },
  };
}

/**
 * Forwards a stored sale to any node, as a till does, again and again until the chain has decided.
 */
async function forward(shopping: Shopping, node: number, record: object): Promise<WayResult> {
  let tries = 0;
  const ask = async (): Promise<WayResult> => {
    const { terminal } = doorAt(shopping, (node + tries++) % NODES);
    const reply = await terminal.post('/offline_payments', { payments: [record] });
    const [one] = (reply.body.data ?? []) as readonly Record<string, string | null>[];
    if (reply.status >= 500) throw new Error(`the answer was ${reply.status}`);
    if (one === undefined) return toResult(reply);
    const said = one.code ?? one.bounce_reason ?? one.status ?? 'nothing';
    return { said, intent: one.payment_intent ?? null, payment: one.payment ?? null };
  };
  const result = await lastOf(ask, ({ said }) => said !== 'processing', DECIDED_MS);
  return result ?? { said: 'no answer', intent: null, payment: null };
}

type Settling = Awaited<ReturnType<Shopping['payer']['facilitator']>>;

/** Signs the payment for a resource as an x402 client does, with the published x402 package. */
async function signPayload(shopping: Shopping, facilitator: Settling, resource: string) {
  const { wish, payer } = shopping;
  const requirements = {
    ...facilitator.requirements({ price: wish.amount, resource }),
    // Long, because these tests do not test expired signatures.
    maxTimeoutSeconds: 3_600,
  };
  const { network, asset } = requirements as { network: `eip155:${number}`; asset: string };
  const client = x402Client.fromConfig({
    schemes: [{ network, client: new ExactEvmScheme(await payer.buyer()) }],
    spendControls: { allowedAssets: [{ network, asset }] },
  });
  const payload = await client.createPaymentPayload({
    x402Version: 2,
    resource: { url: resource },
    accepts: [requirements as never],
  });
  return { payload, requirements };
}

/** Describes an error without addresses and ids, so that equal errors are counted together. */
function describeWithoutIds(error: unknown): string {
  const [line = ''] = describeError(error).split('\n');
  return line.replace(/0x[0-9a-f]+|pi_\w+/gi, '…').slice(0, 160);
}

/** The longest name of a purchase over x402. */
const PAYMENT_ID_LENGTH = 128;

/**
 * Sells to a machine over x402. The seller's facilitator charges the machine and pays the merchant.
 */
async function sellOverX402(shopping: Shopping): Promise<Attempt> {
  const { payer, till, wish } = shopping;
  const facilitator = await payer.facilitator(till);
  const resource = `https://shop.example/${wish.order}`;
  const signed = await signPayload(shopping, facilitator, resource);
  const { requirements } = signed;
  // Without a name, only the first call gets a success, and a node may die before it answers.
  const id = Buffer.from(resource).toString('hex').slice(-PAYMENT_ID_LENGTH);
  const extensions = { 'payment-identifier': { info: { required: false, id } } };
  const payload = { ...signed.payload, extensions };
  const settle = async (request: object): Promise<WayResult> => {
    let result: WayResult = { said: 'no answer', intent: null, payment: null };
    await waitUntil(async () => {
      // The call fails while a node is down. The seller's server would then respond with 500, and
      // the client would try again.
      const settled = await facilitator.settle(payload, request).catch(describeWithoutIds);
      if (typeof settled === 'string' || settled.errorReason === 'settlement_pending') {
        // The last reason, so that a soak's report shows why sales got no response.
        const last = typeof settled === 'string' ? settled : settled.errorMessage;
        result = { ...result, said: `no answer (${last})` };
        return false;
      }
      const said = settled.success ? 'succeeded' : (settled.errorReason ?? 'failed');
      const intent = settled.success ? (settled.extra?.paymentIntent ?? null) : null;
      result = { said, intent, payment: null };
      return true;
    }, DECIDED_MS);
    return result;
  };
  return {
    intent: null,
    pay: () => settle(requirements),
    spendAgain: () =>
      settle({ ...requirements, extra: { ...requirements.extra, resource: `${resource}/other` } }),
  };
}
