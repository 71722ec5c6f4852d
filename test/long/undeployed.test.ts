import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { getCreate2Address, slice, type TypedDataDefinition } from 'viem';
import { present } from '#core/assert.ts';
import type { Failpoint } from '#core/failpoints.ts';
import { CREATE2_FACTORY } from '#ops/deploy-contract.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { type Caller, caller, type Reply } from '#testkit/apis/api-client.ts';
import { signInWallet } from '#testkit/apis/wallet-sign-in.ts';
import { startChaosProcess } from '#testkit/simulation/chaos/chaos-process.ts';
import { comeToRest } from '#testkit/simulation/invariants/invariants.ts';
import { persist, REST_MS } from '#testkit/simulation/restore-ground.ts';
import type { UndeployedWallet } from '#testkit/simulation/ways/outside-wallets.ts';
import { addPayers, type WayPayer } from '#testkit/simulation/ways/payers.ts';
import { type Attempt, WAYS } from '#testkit/simulation/ways/ways.ts';
import { openWaysWorld, type WaysWorld } from '#testkit/simulation/ways/world.ts';

/**
 * A wallet is deployed for its payment or approval (ERC-6492), and processes die or a
 * reorganization comes in between. It must pay once, with a bounded number of deployments.
 */

const WAY = present(
  WAYS.find(({ payer }) => payer === 'undeployed') ?? null,
  'way of undeployed wallets',
);
/**
 * A worker that dies here leaves a deployed wallet and an unsigned payment: the payment job is
 * created once the wallet is deployed.
 */
const BETWEEN = 'settlement.sender_taken';
/** Maximum number of deployments per link and hour. */
const MOST_DEPLOYMENTS = 3;

let ways: WaysWorld;
let payer: WayPayer;

before(async () => {
  ways = await openWaysWorld(1);
  const [added] = await addPayers(ways.payers, ['undeployed'], 'undeployed');
  payer = present(added ?? null, 'payer');
});
after(() => ways?.close());

interface Sale {
  readonly attempt: Attempt;
  readonly order: string;
  readonly wallet: Hex;
}

let orders = 0;

/** Begins a sale whose wallet has signed. */
async function begin(to?: UndeployedWallet): Promise<Sale> {
  const order = `U${++orders}`;
  const wallet = to ?? (await payer.undeployed());
  const attempt = await WAY.begin({
    url: ways.url,
    till: ways.till,
    payer: { ...payer, undeployed: async () => wallet },
    wish: { amount: 1_000_000 + orders, tip: null, order },
  });
  return { attempt, order, wallet: wallet.from };
}

const hasCode = (wallet: Hex) =>
  ways.world.onChain(
    async ({ rpc }) => (await rpc.call('eth_getCode', [wallet, 'latest'])) !== '0x',
  );

/** Counts the transactions in the chain's blocks that called the factory for this wallet. */
function deploymentsOf(wallet: Hex): Promise<number> {
  return ways.world.onChain(async ({ rpc }) => {
    const head = Number(await rpc.call('eth_blockNumber', []));
    let count = 0;
    for (let number = 0; number <= head; number++) {
      const block = await rpc.call('eth_getBlockByNumber', [`0x${number.toString(16)}`, true]);
      const { transactions } = block as { transactions: { input: Hex; to: Hex | null }[] };
      for (const { input, to } of transactions) {
        if (to?.toLowerCase() === CREATE2_FACTORY.toLowerCase() && madeBy(input) === wallet)
          count++;
      }
    }
    return count;
  });
}

/** Returns the address of the contract that a call of the factory creates. */
function madeBy(input: Hex): Hex {
  const [salt, bytecode] = [slice(input, 0, 32), slice(input, 32)];
  return getCreate2Address({ from: CREATE2_FACTORY, salt, bytecode });
}

/**
 * Counts the transactions that the service has signed for the wallet, from the rows that remain.
 */
async function signedFor(wallet: Hex): Promise<number> {
  const rows = await ways.world.db.query(
    `select from chain_transactions t join chain_requests r on r.transaction_id = t.id
     where t.kind = 'wallet_deployment' and lower(r.payload ->> 'wallet') = lower($1)`,
    [wallet],
  );
  return rows.length;
}

/**
 * Checks that the sale is paid once, by a wallet that was deployed no more often than allowed.
 * `again`: the answer to the repeated request.
 */
async function checkPaid(
  { attempt, order, wallet }: Sale,
  said: string,
  again = 'succeeded',
): Promise<void> {
  assert.equal(said, 'succeeded');
  assert.equal((await attempt.pay(1)).said, again, 'the same request again');
  assert.equal(await ways.world.settledOnChain(order), 1);
  assert.equal(await deploymentsOf(wallet), 1, 'a deployment on the chain');
  assert.ok((await signedFor(wallet)) <= MOST_DEPLOYMENTS);
  assert.deepEqual(await comeToRest(ways.ground(), ways.ground()), []);
}

interface Approving {
  readonly me: Caller;
  readonly wallet: Hex;
  /** Sends the request that the wallet signed. */
  readonly send: () => Promise<Reply>;
}

/** Signs in with a new wallet, which signs the requested approval. */
async function beginApproval(): Promise<Approving> {
  const { from: wallet, account } = await payer.undeployed();
  const { publicUrl, network } = ways.payers;
  const token = await signInWallet(publicUrl, account, { chainId: network.chainId });
  const me = caller(`${publicUrl}/api/payer/v1`, token);
  const { to_sign: request } = (await me.get('/approvals')).body as {
    to_sign: Record<'permit' | 'policy', { typed_data: TypedDataDefinition; body: object }>;
  };
  const signed = async ({ typed_data: typed, body }: (typeof request)['permit']) => ({
    ...body,
    signature: await account.signTypedData(typed),
  });
  const approval = { permit: await signed(request.permit), policy: await signed(request.policy) };
  return { me, wallet, send: () => persist(() => me.post('/approvals', approval)) };
}

/** Checks that the approval is on the chain, and repeats its request until it is. */
async function checkApproved({ me, wallet, send }: Approving): Promise<void> {
  const isApproved = async () => {
    const { policy, allowance } = (await persist(() => me.get('/approvals'))).body;
    if (policy !== null && Number(allowance) > 0) return true;
    await send();
    return false;
  };
  assert.ok(await waitUntil(isApproved, REST_MS), 'not approved');
  assert.equal(await deploymentsOf(wallet), 1, 'a deployment on the chain');
  assert.ok((await signedFor(wallet)) <= MOST_DEPLOYMENTS);
  assert.deepEqual(await comeToRest(ways.ground(), ways.ground()), []);
}

/**
 * Ends the workers, and starts one that dies at this point and is not restarted. Sends a request
 * meanwhile.
 * @returns a function that returns the answer to the request
 */
async function workUntil<T>(
  point: Failpoint,
  send: () => Promise<T>,
  then: Failpoint = BETWEEN,
): Promise<() => Promise<T>> {
  const { world } = ways;
  await world.stop(2);
  const firstEnv = { TAPLINE_FAILPOINT: point };
  // The supervisor uses this failpoint for every restart, until the worker is closed.
  const env = { ...ways.env, TAPLINE_FAILPOINT: then };
  const name = `dies at ${point} ${orders}`;
  const worker = await startChaosProcess(world.ground, { name, role: 'worker', firstEnv, env });
  const answer = send();
  assert.ok(await waitUntil(() => worker.starts() > 1, REST_MS), 'nothing died');
  await worker.close();
  return () => answer;
}

const startWorker = () => ways.world.start([{ name: `worker after ${orders}`, role: 'worker' }]);

describe('a wallet that is deployed for its payment pays once', () => {
  const POINTS = [
    'settlement.signed_committed',
    'settlement.broadcast_sent',
    'settlement.receipt_seen',
    'settlement.outcome_committed',
  ] as const;
  for (const point of POINTS) {
    test(`when the worker that deploys it dies at ${point}`, async () => {
      const sale = await begin();
      const paying = await workUntil(point, () => sale.attempt.pay(0));
      await startWorker();
      await checkPaid(sale, (await paying()).said);
    });
  }

  test('when the node that was asked dies after the deployment', async () => {
    const sale = await begin();
    const [api] = ways.world.nodes;
    const paying = sale.attempt.pay(0);
    assert.ok(await waitUntil(() => hasCode(sale.wallet), REST_MS), 'nothing was deployed');
    api?.kill();
    await checkPaid(sale, (await paying).said);
  });

  test('when a reorganization undoes the deployment before the settlement', async () => {
    const sale = await begin();
    const paying = await workUntil(BETWEEN, () => sale.attempt.pay(0));
    assert.equal(await hasCode(sale.wallet), true);
    assert.equal(await ways.world.settledOnChain(sale.order), 0);
    for (let blocks = 1; await hasCode(sale.wallet); blocks++) {
      await ways.world.ground.testnet.reorganize(blocks);
    }
    await startWorker();
    await checkPaid(sale, (await paying()).said);
  });
});

// Runs before the restores, because a recovery also ends sessions that begin while it runs.
describe('a wallet that is deployed for its approval approves', () => {
  test('when the worker that deploys it dies', async () => {
    const approving = await beginApproval();
    const sent = await workUntil('settlement.broadcast_sent', approving.send);
    await startWorker();
    await sent();
    await checkApproved(approving);
  });

  test('when a reorganization undoes the deployment before the approval', async () => {
    const approving = await beginApproval();
    // Then the worker dies whenever it has signed something, such as the approval.
    const [point, then] = ['settlement.outcome_committed', 'settlement.signed_committed'] as const;
    const sent = await workUntil(point, approving.send, then);
    assert.equal(await hasCode(approving.wallet), true);
    for (let blocks = 1; await hasCode(approving.wallet); blocks++) {
      await ways.world.ground.testnet.reorganize(blocks);
    }
    await startWorker();
    await sent();
    await checkApproved(approving);
  });
});

describe('a wallet that is deployed for its payment, when the database is restored', () => {
  /**
   * Pays until the wallet is deployed but nothing is settled, and no worker is left.
   * @returns a function that returns the answer to the payment.
   */
  const deployOnly = async ({ attempt, order, wallet }: Sale) => {
    const paying = await workUntil(BETWEEN, () => attempt.pay(0));
    assert.equal(await hasCode(wallet), true);
    assert.equal(await ways.world.settledOnChain(order), 0);
    return paying;
  };
  /** Copies the database. @returns a function that restores the copy and awaits the recovery. */
  const backUp = async ({ order }: Sale) => {
    const restore = await ways.world.backUp(order);
    const meanwhile = async () => {
      if (ways.world.nodes.length < 3) await startWorker();
    };
    return () => restore({ meanwhile });
  };
  const read = ({ attempt }: Sale) => ways.world.readIntent(attempt.intent);

  test('to before the deployment: is not charged, and pays later without another one', async () => {
    const wallet = await payer.undeployed();
    const sale = await begin(wallet);
    const restore = await backUp(sale);
    const paying = await deployOnly(sale);
    await restore();
    await paying();
    assert.notEqual((await sale.attempt.pay(1)).said, 'succeeded');
    const { status, cancellation_reason: reason } = await read(sale);
    assert.deepEqual([status, reason], ['canceled', 'recovered']);
    assert.equal(await ways.world.settledOnChain(sale.order), 0);
    assert.deepEqual(await comeToRest(ways.ground(), ways.ground()), []);
    const later = await begin(wallet);
    await checkPaid(later, (await later.attempt.pay(0)).said);
  });

  test('to before the deployment, after the settlement: its payment is rebuilt', async () => {
    const sale = await begin();
    const restore = await backUp(sale);
    const { said } = await sale.attempt.pay(0);
    await restore();
    const { status, recovered } = await read(sale);
    assert.deepEqual([status, recovered], ['succeeded', true]);
    // The restored database lacks the idempotency key and its response, but the sale is paid.
    await checkPaid(sale, said, 'payment_intent_unexpected_state');
  });

  test('to before the settlement, after it: is paid once, its request is answered', async () => {
    const sale = await begin();
    const paying = await deployOnly(sale);
    const restore = await backUp(sale);
    await startWorker();
    const said = (await paying()).said;
    await restore();
    await checkPaid(sale, said);
  });
});
