import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeFunctionData } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { SCOPES } from '#accounts/api-key-scopes.ts';
import { createAccountWithOwner } from '#accounts/create-account.ts';
import { createApiKey } from '#accounts/create-api-key.ts';
import { isRefusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { systemClock } from '#core/clock.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { connectWakeups, type Wakeups } from '#db/wakeups.ts';
import { silentLog } from '#observability/log.ts';
import { goLiveInTest } from '#payouts/go-live-in-test.ts';
import { chain as chainSettings } from '#settings/chain-settings.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import { reconcileOnce } from '#settlement/reconciliation/reconcile-once.ts';
import { createTerminal } from '#terminals/create-terminal.ts';
import { type Caller, caller } from '#testkit/apis/api-client.ts';
import {
  enrolBySignature,
  type OutsideChain,
  type OutsideContract,
  startOutsideChain,
} from '#testkit/apis/outside-chain.ts';
import { startThrowawayPostgres } from '#testkit/fixtures/db/throwaway-postgres.ts';
import { chainContext } from '#testkit/fixtures/payments/store.ts';
import {
  type SpawnedNetwork,
  spawnNetwork,
  temporaryDataDir,
} from '#testkit/network/spawn-network.ts';
import { checkInvariants } from '#testkit/simulation/invariants/invariants.ts';
import { testUsdcAbi } from '../../contracts/artifacts/TestUSDC.ts';

/**
 * A hundred merchants sell while the network gets its next contract, and move to it one by one. No
 * sale is lost or duplicated, and each is refunded on the contract where it was paid.
 */

const CHAIN_ID = 41_201;
const MERCHANTS = 100;
const PAYERS = 20;
const AMOUNT = 100_000;
const MONEY = 1_000_000_000n;
/** Time between two sales of a merchant. */
const PAUSE_MS = 6_000;
const MOVE_EVERY_MS = 500;
const SECRET = randomBytes(32).toString('hex');
const WAIT_MS = 240_000;
const ACTOR = { type: 'system', name: 'test' } as const;

interface Merchant {
  readonly accountId: string;
  readonly key: string;
  readonly terminal: string;
  readonly payments: string[];
}

interface Payer {
  readonly account: PrivateKeyAccount;
  readonly pass: string;
  /**
   * Resolves once the merchant has agreed to the next contract; `null` until a tap has required
   * that.
   */
  agreed: Promise<unknown> | null;
}

let ground: OutsideChain;
let first: OutsideContract;
let second: OutsideContract;
let postgres: Awaited<ReturnType<typeof startThrowawayPostgres>>;
let folder: Awaited<ReturnType<typeof temporaryDataDir>>;
let network: SpawnedNetwork;
let db: Database;
let wakeups: Wakeups;
let chain: Chain;
const merchants: Merchant[] = [];
const payers: Payer[] = [];
let selling = true;
/** True once the test has ended or failed. */
let isOver = false;
/** Number of taps that got a 5xx or no answer while the service was replaced. */
let unanswered = 0;

const envOf = ({ env }: OutsideContract) => ({
  ...env,
  DATABASE_URL: postgres.url,
  TAPLINE_SECRET: SECRET,
  RATE_LIMIT: '1000/1',
});

async function openOutside({ env }: OutsideContract): Promise<Chain> {
  const settings = present(chainSettings(env, 'testnet', new Set()), 'settings of the chain');
  return openChain(settings, silentLog);
}

async function goLive(tenant: { accountId: string; livemode: false }): Promise<void> {
  const own = chainContext({ db, wakeups, clock: systemClock }, [chain]);
  const ctx = { ...own, keys: { ...own.keys, people: Buffer.from(SECRET, 'hex') } };
  const decided = await goLiveInTest(ctx, { tenant, actor: ACTOR, now: new Date() });
  assert.ok(!isRefusal(decided), JSON.stringify(decided));
}

async function addMerchant(position: number): Promise<Merchant> {
  const now = new Date();
  const owner = {
    email: `owner${position}@shop.test`,
    password: `a long password ${position}`,
    name: 'Owner',
  };
  const input = { accountName: `Shop ${position}`, owner, actor: ACTOR, now };
  const made = await createAccountWithOwner(db, input);
  assert.ok(!isRefusal(made), JSON.stringify(made));
  const tenant = { accountId: made.accountId, livemode: false } as const;
  await goLive(tenant);
  const common = { tenant, actor: ACTOR, now };
  const [key, till] = await db.transaction(async (tx) => [
    await createApiKey(tx, {
      ...common,
      name: 'till',
      scopes: SCOPES,
      ipAllowlist: [],
      expiresAt: null,
    }),
    await createTerminal(tx, { ...common, label: 'Till' }),
  ]);
  assert.ok(!isRefusal(key) && !isRefusal(till));
  return { accountId: made.accountId, key: key.secret, terminal: till.row.id, payments: [] };
}

async function addPayer(): Promise<Payer> {
  const account = privateKeyToAccount(generatePrivateKey());
  const args = [account.address, MONEY] as const;
  const mint = encodeFunctionData({ abi: testUsdcAbi, functionName: 'mint', args });
  await ground.send(ground.issuer.key, ground.usdc, mint);
  const webUrl = network.sandbox.web_url;
  return {
    account,
    pass: await enrolBySignature(account, { webUrl, chainId: CHAIN_ID }),
    agreed: null,
  };
}

async function start(contract: OutsideContract): Promise<void> {
  network = await spawnNetwork({ dataDir: folder.path, env: envOf(contract) });
}

before(async () => {
  [ground, postgres, folder] = await Promise.all([
    startOutsideChain({ chainId: CHAIN_ID, token: 'test' }),
    startThrowawayPostgres(),
    temporaryDataDir(),
  ]);
  first = await ground.deploySettlement();
  await start(first);
  db = openDatabase({ url: postgres.url, maxConnections: 6 });
  wakeups = await connectWakeups(db);
  chain = await openOutside(first);
  for (let position = 0; position < MERCHANTS; position++)
    merchants.push(await addMerchant(position));
  for (let position = 0; position < PAYERS; position++) payers.push(await addPayer());
  await until('all to be live', async () => (await countLive(0)) >= MERCHANTS);
});

after(async () => {
  [selling, isOver] = [false, true];
  await network?.stop();
  await wakeups?.close();
  await db?.close();
  await chain?.close();
  await Promise.all([postgres?.stop(), ground?.stop(), folder?.remove()]);
});

async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await sleep(200)) {
    if (await look()) return;
  }
  throw new Error(`waited for ${what}`);
}

async function countLive(contractVersion: number): Promise<number> {
  const rows = await db.query<{ count: bigint }>(
    `select count(*) from account_modes
     where account_id = any($1) and not livemode and merchant_number >> 32 = $2`,
    [merchants.map(({ accountId }) => accountId), contractVersion],
  );
  return Number(rows[0]?.count);
}

const apiOf = ({ key }: Merchant): Caller => caller(`${network.sandbox.base_url}/v1`, key);

/** Retries while the service is being replaced. */
async function answered(ask: () => ReturnType<Caller['post']>) {
  for (;;) {
    if (isOver) throw new Error('the test is over');
    const reply = await ask().catch(() => null);
    if (reply !== null && reply.status < 500) return reply.body;
    unanswered++;
    await sleep(300);
  }
}

async function sell(merchant: Merchant, n: number): Promise<void> {
  const payer = present(payers[n % PAYERS], 'payer');
  const { terminal, payments } = merchant;
  const created = await answered(() =>
    apiOf(merchant).post('/payment_intents', { amount: AMOUNT, terminal }),
  );
  const { id } = created;
  const tap = { payment_intent: id, credential: { type: 'nfc_id', value: payer.pass } };
  const path = `/test_helpers/terminals/${terminal}/tap`;
  let intent = await answered(() => apiOf(merchant).post(path, tap));
  const error = intent.last_payment_error as { decline_code?: string } | null | undefined;
  if (error?.decline_code === 'approval_insufficient') {
    const wallet = { webUrl: network.sandbox.web_url, chainId: CHAIN_ID };
    payer.agreed ??= enrolBySignature(payer.account, wallet);
    await payer.agreed;
    intent = await answered(() => apiOf(merchant).post(path, tap));
  }
  await until(`the sale ${id}, ${JSON.stringify(intent)}`, async () => {
    const now = await answered(() => apiOf(merchant).get(`/payment_intents/${id}`));
    if (now.status === 'succeeded') payments.push(String(now.payment));
    return now.status === 'succeeded';
  });
}

async function sellOn(merchant: Merchant, position: number): Promise<void> {
  await sleep((PAUSE_MS * position) / MERCHANTS);
  for (let n = position; selling; n++) {
    await sell(merchant, n);
    await sleep(PAUSE_MS);
  }
}

test('a hundred merchants move to the next contract while they sell', async (t) => {
  const sales = merchants.map((merchant, position) => sellOn(merchant, position));
  const failed = Promise.all(sales);
  failed.catch(() => {});
  await sleep(2 * PAUSE_MS);
  second = await ground.deploySettlement(first);
  await network.stop();
  await start(second);
  await chain.close();
  chain = await openOutside(second);
  for (const { accountId } of merchants) {
    await goLive({ accountId, livemode: false });
    await sleep(MOVE_EVERY_MS);
  }
  await until('all to have moved', async () => (await countLive(1)) === MERCHANTS);
  await sleep(2 * PAUSE_MS);
  selling = false;
  await failed;
  const { length } = merchants.flatMap(({ payments }) => payments);
  t.diagnostic(`${length} sales, ${unanswered} requests sent again while the service was replaced`);
  assert.ok(length > 4 * MERCHANTS);
});

test('every sale was settled once, at one of the two contracts', async (t) => {
  const rows = await db.query<{ contract_version: number; sales: bigint; intents: bigint }>(
    `select (c.merchant_number >> 32)::int as contract_version, count(*) as sales,
       count(distinct p.payment_intent_id) as intents
     from payments p join chain_payments c
       on c.livemode = p.livemode and c.number = p.settlement_number
     where p.account_id = any($1) group by 1 order by 1`,
    [merchants.map(({ accountId }) => accountId)],
  );
  const { length } = merchants.flatMap(({ payments }) => payments);
  assert.deepEqual(
    rows.map((row) => row.contract_version),
    [0, 1],
  );
  t.diagnostic(rows.map((row) => `version ${row.contract_version}: ${row.sales}`).join(', '));
  assert.equal(
    rows.reduce((sum, { sales }) => sum + Number(sales), 0),
    length,
  );
  assert.ok(rows.every(({ sales, intents }) => sales === intents));
});

test('each merchant refunds at both contracts: its oldest sale and its newest', async () => {
  const refundBoth = async (merchant: Merchant) => {
    for (const payment of [merchant.payments.at(0), merchant.payments.at(-1)]) {
      const refund = await apiOf(merchant).post('/refunds', { payment, amount: AMOUNT });
      assert.equal(refund.status, 201, JSON.stringify(refund.body));
    }
  };
  await Promise.all(merchants.map(refundBoth));
  await until('all refunds', async () => {
    const rows = await db.query(`select from refunds where status = 'pending' limit 1`);
    return rows.length === 0;
  });
  const rows = await db.query<{ status: string; count: bigint }>(
    'select status, count(*) from refunds group by 1',
  );
  assert.deepEqual(
    rows.map(({ status, count }) => [status, Number(count)]),
    [['succeeded', 2 * MERCHANTS]],
  );
});

test('the ledger agrees with both contracts to the atom, and there is no alarm', async () => {
  const deps = { chain, db, clock: { now: () => new Date() }, log: silentLog };
  await sleep(3_000);
  const { differences } = await reconcileOnce(deps, { graceMs: 0, everything: true });
  assert.deepEqual(differences, []);
  assert.deepEqual(
    await db.query('select kind, subject from chain_alarms where resolved_at is null'),
    [],
  );
  assert.deepEqual(await checkInvariants({ db }, { atRest: true }), []);
});
