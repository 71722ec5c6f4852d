import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createWalletClient, encodeFunctionData, http, publicActions } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { isRefusal } from '#core/answer.ts';
import { systemClock } from '#core/clock.ts';
import { localWakeups } from '#db/wakeups.ts';
import { changeWallet } from '#payouts/change-wallet.ts';
import { walletChangeConsent } from '#payouts/wallet-change-consent.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { peopleKey } from '#settings/config.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { readMerchantWallets, sameWallet } from '#settlement/chain/read/merchant-wallets.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { chainContext } from '#testkit/fixtures/payments/store.ts';
import { type ChaosProcess, PUBLIC_URL } from '#testkit/simulation/chaos/chaos-process.ts';
import {
  openRestoreGround,
  REST_MS,
  type RestoreGround,
} from '#testkit/simulation/restore-ground.ts';
import { addShop, shopOwner, shopWallet } from '#testkit/simulation/ways/shops.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';

/**
 * A settlement wallet is announced, takes effect or is canceled, while the database is restored
 * from an earlier backup, a reorganization removes the step, or the worker dies. Afterwards ledger
 * and dashboard must match the contract.
 */

const STEPS = ['announced', 'applied', 'canceled'] as const;
type Step = (typeof STEPS)[number];

const WALLET_DELAY_S = 3;
/** Lifetime of a worker between kills: enough for the leases of its predecessor to expire. */
const LIFE_MS = 9_000;
/** Reconciliation runs once a minute. */
const FOLLOWED_MS = 120_000;

interface Shop {
  readonly name: string;
  readonly account: string;
  readonly merchantNumber: bigint;
  /** The wallet that the contract should have. */
  wallet: string;
  /** The last announced wallet. */
  next: string;
}

let world: RestoreGround;
let shops: Readonly<Record<Step, Shop>>;
/** Any account may put an announced wallet into effect. */
let stranger: PrivateKeyAccount;

async function openOne(step: Step, fault: string): Promise<Shop> {
  const name = `${step}-${fault}`;
  const { account } = await addShop(world, name);
  const merchantNumber = await world.merchantNumber(account);
  const wallet = shopWallet(world.ground, account).address;
  return { name, account, merchantNumber, wallet, next: '' };
}

/** New shops for each fault, independent of earlier ones. */
async function openShops(fault: string): Promise<void> {
  const opened: [Step, Shop][] = [];
  for (const step of STEPS) opened.push([step, await openOne(step, fault)]);
  shops = Object.fromEntries(opened) as Record<Step, Shop>;
}

before(async () => {
  world = await openRestoreGround(1, {}, { walletDelay: WALLET_DELAY_S, payoutHold: 0 });
  stranger = privateKeyToAccount(generatePrivateKey());
  await client().request({
    method: 'anvil_setBalance' as never,
    params: [stranger.address, '0xde0b6b3a7640000'] as never,
  });
});
after(() => world?.close());

function client() {
  const transport = http(world.ground.testnet.config.rpcUrls[0]);
  return createWalletClient({ account: stranger, transport, pollingInterval: 50 }).extend(
    publicActions,
  );
}

function payouts(chain: Chain) {
  const { db, ground } = world;
  const people = { secretKey: peopleKey(ground.secret), webUrl: PUBLIC_URL };
  const parts = { db, wakeups: localWakeups(), clock: systemClock, people };
  return chainContext(parts, [chain]);
}

/** Returns the contract's state. */
function held({ merchantNumber }: Shop) {
  return world.onChain(async (chain) => {
    const [result] = await readMerchantWallets(chain, [merchantNumber]);
    assert.ok(result !== undefined);
    return { wallet: result.wallet, announced: result.announced?.wallet ?? null };
  });
}

/** Returns the database's state. */
async function inRows({ account }: Shop) {
  const [row] = await world.db.query<{ wallet: string; announced: string | null }>(
    `select m.settlement_wallet as wallet, w.wallet as announced from account_modes m
     left join wallet_changes w on w.account_id = m.account_id and w.livemode = m.livemode
       and w.status = 'announced'
     where m.account_id = $1 and not m.livemode`,
    [account],
  );
  assert.ok(row !== undefined);
  return row;
}

async function until(what: string, done: () => Promise<boolean>, ms = REST_MS): Promise<void> {
  const isDone = () => done().catch(() => false);
  assert.ok(await waitUntil(isDone, ms), `waited for ${what}`);
}

async function agrees(shop: Shop): Promise<boolean> {
  const [chain, rows] = await Promise.all([held(shop), inRows(shop)]);
  const isSame = (a: string | null, b: string | null) =>
    a === null || b === null ? a === b : sameWallet(a, b);
  return isSame(chain.wallet, rows.wallet) && isSame(chain.announced, rows.announced);
}

async function signIn({ name }: Shop): Promise<PersonClient> {
  const person = new PersonClient(`${world.nodes[0]?.url}/dashboard/v1`);
  const answer = await person.post('/session', shopOwner(name));
  assert.equal(answer.status, 200, answer.text);
  return person;
}

const path = ({ account }: Shop) => `/accounts/${account}/test/settlement_wallet`;

async function shown(shop: Shop) {
  const answer = await (await signIn(shop)).get(path(shop));
  assert.equal(answer.status, 200, answer.text);
  return answer.body as {
    readonly wallet: string;
    readonly change: { readonly wallet: string; readonly status: string } | null;
  };
}

async function cancel(shop: Shop): Promise<void> {
  const answer = await (await signIn(shop)).delete(path(shop));
  assert.equal(answer.status, 202, answer.text);
  await until('the cancellation', async () => (await held(shop)).announced === null, FOLLOWED_MS);
}

async function withdraw(shop: Shop): Promise<string> {
  return (await world.withdraw(`out ${Math.random()}`, 1n, shop.account)).said;
}

/** Requests the change as the dashboard does, after a second factor. */
async function ask(shop: Shop): Promise<void> {
  const account = privateKeyToAccount(generatePrivateKey());
  shop.next = account.address;
  const tenant = { accountId: shop.account, livemode: false };
  await world.onChain(async (chain) => {
    const deps = payouts(chain);
    const now = new Date();
    const wish = await walletChangeConsent(deps, { tenant, wallet: account.address, now });
    assert.ok(!isRefusal(wish));
    const signature = await account.signTypedData(wish.typedData as never);
    const { deadline } = wish;
    const actor = { type: 'system', name: 'tests' } as const;
    const consent = { wallet: account.address, deadline, signature };
    const deploy = () => assert.fail('a key needs no deployment');
    const reply = await changeWallet(deps, { tenant, actor, now }, { consent, deploy });
    assert.ok(!isRefusal(reply), isRefusal(reply) ? reply.message : '');
  });
}

const isAnnounced = async (shop: Shop) => {
  const { announced } = await held(shop);
  return announced !== null && sameWallet(announced, shop.next);
};

const isInForce = async (shop: Shop) => sameWallet((await held(shop)).wallet, shop.next);

async function announce(shop: Shop): Promise<void> {
  await ask(shop);
  await until('the announcement', () => isAnnounced(shop), FOLLOWED_MS);
}

/** Applies the change as a third party, once the delay has passed. */
async function apply(shop: Shop): Promise<void> {
  const args = [Number(shop.merchantNumber)] as const;
  const data = encodeFunctionData({ abi: settlementAbi, functionName: 'applyWallet', args });
  const to = world.ground.testnet.config.settlement;
  await until(
    'the wallet to be in force',
    async () => {
      if (await isInForce(shop)) return true;
      await client()
        .sendTransaction({ chain: null, to, data, gas: 200_000n })
        .catch(() => null);
      return isInForce(shop);
    },
    FOLLOWED_MS,
  );
  shop.wallet = shop.next;
}

/** Kills the worker now, and again each time it has been ready for `LIFE_MS`. */
async function keepKilling(worker: ChaosProcess, ends: AbortSignal): Promise<void> {
  while (!ends.aborted) {
    const starts = worker.starts();
    worker.kill();
    await waitUntil(() => ends.aborted || worker.starts() > starts, FOLLOWED_MS);
    await waitUntil(() => ends.aborted || worker.isReady(), FOLLOWED_MS);
    await sleep(LIFE_MS, undefined, { signal: ends }).catch(() => {});
  }
}

/**
 * Checks that the dashboard shows the announcement, that withdrawals are blocked, and that the
 * owner can cancel it.
 */
async function isCancelable(shop: Shop): Promise<void> {
  const { wallet, change } = await shown(shop);
  assert.ok(sameWallet(wallet, shop.wallet));
  assert.deepEqual([change?.wallet, change?.status], [shop.next, 'announced']);
  assert.match(await withdraw(shop), /409|unexpected_state/);
  await cancel(shop);
  assert.notEqual((await shown(shop)).change?.status, 'announced');
  assert.match(await withdraw(shop), /amount_too_large/);
}

/** The required state after each step, regardless of the fault. */
const IS_KEPT: Readonly<Record<Step, (shop: Shop) => Promise<void>>> = {
  announced: (shop) =>
    isCancelable(shop).catch(async (error) => {
      // If the fault outlasts the delay, the service may have put the wallet into effect.
      if (!(await isInForce(shop))) throw error;
      await until('the ledger', () => agrees(shop), FOLLOWED_MS);
      await IS_KEPT.applied(shop);
    }),
  applied: async (shop) => {
    const { wallet, change } = await shown(shop);
    assert.ok(sameWallet(wallet, shop.next), `${wallet} is shown, ${shop.next} is in force`);
    assert.notEqual(change?.status, 'announced');
    assert.match(await withdraw(shop), /amount_too_large/);
  },
  canceled: async (shop) => {
    const { wallet, change } = await shown(shop);
    assert.ok(sameWallet(wallet, shop.wallet));
    assert.notEqual(change?.status, 'announced');
    assert.match(await withdraw(shop), /amount_too_large/);
  },
};

async function play(): Promise<void> {
  await Promise.all([
    announce(shops.announced),
    announce(shops.applied).then(() => apply(shops.applied)),
    cancel(shops.canceled),
  ]);
}

/** Declares the tests that ledger, contract and dashboard agree again. */
function tableOf(): void {
  for (const step of STEPS) {
    it(`${step}: the ledger and the dashboard match the contract`, async () => {
      const shop = shops[step];
      await until('the ledger', () => agrees(shop), FOLLOWED_MS);
      await IS_KEPT[step](shop);
    });
  }
}

describe('the database is restored to before the step', () => {
  before(async () => {
    await openShops('loss');
    await announce(shops.canceled);
    await until('the row', () => agrees(shops.canceled));
    const restore = await world.backUp('before');
    await play();
    await restore();
  });

  tableOf();

  it('an announcement in the lost period raises an alarm and sends an email', async () => {
    for (const step of ['announced', 'applied'] as const) {
      const { merchantNumber, account } = shops[step];
      const alarm = `select count(*) from chain_alarms where kind = 'contract_changed'
        and resolved_at is null and details ->> 'event' = 'WalletProposed'
        and details ->> 'merchant' = $1`;
      const isRaised = async () => (await world.count(alarm, [`${merchantNumber}`])) > 0;
      await until('the alarm', isRaised, FOLLOWED_MS);
      const links = 'select count(*) from payout_hold_links where account_id = $1';
      assert.equal(await world.count(links, [account]), 1, step);
    }
  });
});

describe('the worker dies', () => {
  before(async () => {
    await openShops('kill');
    await announce(shops.canceled);
    const [, , worker] = world.nodes;
    assert.ok(worker !== undefined);
    const ends = new AbortController();
    const killing = keepKilling(worker, ends.signal);
    await play().finally(() => ends.abort());
    await killing;
    worker.kill();
  });

  tableOf();
});

describe('a reorganization removes the step', () => {
  before(async () => {
    await openShops('reorganization');
    await announce(shops.canceled);
    const first = await client().getBlockNumber();
    await play();
    const last = await client().getBlockNumber();
    await world.ground.testnet.reorganize(Number(last - first));
    const [waits, gone] = [shops.announced, shops.canceled];
    assert.deepEqual([await isAnnounced(waits), (await held(gone)).announced], [false, gone.next]);
    // The service resends only its own transactions. Without pending payments, it looks for
    // reorganized blocks once a minute.
    await until(
      'the announcements',
      async () =>
        (await isAnnounced(waits)) &&
        (await isAnnounced(shops.applied)) &&
        (await held(gone)).announced === null,
      FOLLOWED_MS,
    );
    await apply(shops.applied);
  });

  tableOf();
});
