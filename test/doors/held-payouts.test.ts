import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { decodeErrorResult, encodeFunctionData } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { silentLog } from '#observability/log.ts';
import { applyWithdrawalOutcomes } from '#payouts/apply-withdrawals.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { type Caller, caller } from '#testkit/apis/api-client.ts';
import {
  CHAIN_WAIT_MS,
  type DashboardOnChain,
  openDashboardOnChain,
  sellOnChain,
  signConsent,
  untilLive,
} from '#testkit/apis/dashboard-on-chain.ts';
import type { DashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addOwner, addTotp, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import { heldAccount } from '#testkit/network/held-key.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';

/**
 * The flaw: a thief registers a merchant, sells to stolen passes, and withdraws before anyone
 * notices.
 */

const OWNER = 'owner@held.test';
const SALE = 5_000_000;
const DAY_S = 86_400;
const MAX_HOLD_S = 30 * DAY_S;

let ground: DashboardOnChain;
let network: TestNetwork;
let server: DashboardServer;
let account = '';
let owner: PersonClient;
let api: Caller;
let merchantNumber = 0;
let registeredAt = 0;
const wallet: PrivateKeyAccount = privateKeyToAccount(generatePrivateKey());

before(async () => {
  network = await startTestNetwork(undefined, undefined, { payoutHold: DAY_S });
  ground = await openDashboardOnChain(network);
  ({ server } = ground);
  ground.startRelayer();
  account = (await addOwner(server, OWNER)).accountId;
  owner = await signInAs(server, OWNER);
  await addTotp(server, owner);
  const key = { name: 'Server', scopes: ['balance:read'] };
  const made = await owner.post(path('api_keys'), key);
  api = caller(server.merchantApi, String(made.body.secret));
});

after(() => ground.close());

const path = (rest: string) => `/accounts/${account}/test/${rest}`;

async function goLive(): Promise<void> {
  const sent = await owner.post(path('go_live'), await signConsent(owner, path('go_live'), wallet));
  assert.equal(sent.status, 202, sent.text);
  await untilLive(server, owner, path('go_live'));
}

/**
 * Returns the end of the hold in Unix seconds. GET /v1/balance and the dashboard must agree on it.
 */
async function heldUntil(): Promise<number | null> {
  const { held_until: shown } = (await api.get('/balance')).body;
  const onDashboard = await owner.get(path('balance'));
  assert.equal(onDashboard.body.held_until, shown, onDashboard.text);
  return shown === null ? null : Date.parse(String(shown)) / 1000;
}

type Call = 'withdraw' | 'withdrawOwn' | 'holdPayouts' | 'pauseSettling' | 'pauseRefunding';

const dataOf = (functionName: Call, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: settlementAbi, functionName, args } as never);

/** Returns the contract's error if `from` calls it now, or `null` if the call would succeed. */
async function refusal(from: Hex, functionName: Call, args: readonly unknown[]) {
  const to = network.config.settlement;
  try {
    await network.rpc.call('eth_call', [{ from, to, data: dataOf(functionName, args) }, 'latest']);
    return null;
  } catch (error) {
    const { data } = error as { data?: Hex };
    return decodeErrorResult({ abi: settlementAbi, data: data ?? '0x' }).errorName;
  }
}

const operator = () => heldAccount(network.config.relayerKeys[0]).address;
const withdraw = (key: string) =>
  owner.post(path('withdrawals'), { amount: 1_000_000 }, { 'Idempotency-Key': key });

test('a new merchant sees how long payouts are held, and gets none before', async () => {
  await goLive();
  merchantNumber = Number(await sellOnChain(ground, account, SALE));
  const until = await heldUntil();
  assert.ok(until !== null);
  registeredAt = until - DAY_S;
  assert.ok(Math.abs(registeredAt - Date.now() / 1000) < 600, 'a day from the registration on');
  const refused = await withdraw('early');
  assert.equal(refused.status, 400, refused.text);
  const time = new Date(until * 1000).toISOString();
  assert.equal(refused.body.error?.message, `Nothing can be withdrawn before ${time}.`);
});

test('the contract holds payouts, too, against operators and the wallet itself', async () => {
  const { address } = wallet;
  const byOperator = await refusal(operator(), 'withdraw', [merchantNumber, address, 1n, 1n]);
  assert.equal(byOperator, 'PayoutsAreHeld');
  assert.equal(await refusal(address, 'withdrawOwn', [merchantNumber, 1n]), 'PayoutsAreHeld');
});

test('the guardian extends the hold to thirty days after the registration at most', async () => {
  const { guardian, config } = network;
  const last = registeredAt + MAX_HOLD_S;
  const tooLong = await refusal(guardian.address, 'holdPayouts', [merchantNumber, last + 1]);
  assert.equal(tooLong, 'HoldTooLong');
  await network.send(guardian, config.settlement, dataOf('holdPayouts', [merchantNumber, last]));
  assert.equal(await heldUntil(), last);
  const again = await refusal(guardian.address, 'holdPayouts', [merchantNumber, last + 1]);
  assert.equal(again, 'HoldTooLong');
});

test("afterwards no role can hold, pause or refuse the wallet's withdrawals", async () => {
  const { guardian, config, rpc } = network;
  await rpc.call('evm_increaseTime', [MAX_HOLD_S]);
  await network.mine();
  assert.equal(await heldUntil(), null);
  const held = [merchantNumber, registeredAt + 2 * MAX_HOLD_S];
  assert.equal(await refusal(guardian.address, 'holdPayouts', held), 'HoldHasEnded');
  await network.send(guardian, config.settlement, dataOf('pauseSettling', []));
  await network.send(guardian, config.settlement, dataOf('pauseRefunding', []));
  await rpc.call('anvil_setBalance', [wallet.address, '0xde0b6b3a7640000']);
  await network.send(wallet, config.settlement, dataOf('withdrawOwn', [merchantNumber, 1n]));
  assert.equal(await network.usdcOf(wallet.address), 1n);
  const reply = await withdraw('after');
  assert.equal(reply.status, 201, reply.text);
  const isPaid = async () => {
    await applyWithdrawalOutcomes({ ...server, log: silentLog });
    const [row] = await owner.list<{ status: string }>(path('withdrawals'));
    return row?.status === 'succeeded';
  };
  await eventually('the withdrawal', isPaid, CHAIN_WAIT_MS);
  assert.equal(await network.usdcOf(wallet.address), 1_000_001n);
});
