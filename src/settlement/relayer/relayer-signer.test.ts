import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { zeroAddress } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import type { Failpoint } from '#core/failpoints.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { signerOf } from '#settlement/remote-signer.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import { signRegistration } from '#testkit/fixtures/payers/wallet-consents.ts';
import {
  askRefund,
  assertSettledOnce,
  settledNumbers,
  settleSale,
} from '#testkit/fixtures/settlement/relayer-scene.ts';
import {
  assertSucceeded,
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';
import { heldAccount } from '#testkit/network/held-key.ts';
import { type RemoteSigner, startRemoteSigner } from '#testkit/network/remote-signer.ts';

const GWEI = 10n ** 9n;
const EXAMPLE = path.join(import.meta.dirname, '../../../deploy/signer/signer.json');
const POINTS: readonly Failpoint[] = [
  'settlement.signed_committed',
  'settlement.signature_given',
  'settlement.broadcast_sent',
];
/** A transaction that the relayer did not request. */
const OTHER = {
  ...({ type: 'eip1559', chainId: 1, nonce: 9, to: zeroAddress, gas: 21_000n } as const),
  ...{ maxFeePerGas: GWEI, maxPriorityFeePerGas: 1n },
};
/** The factory's address. A call to an address without code succeeds, so any address works. */
const FACTORY = '0x00000000000000000000000000000000fac70001';
const DEPLOYMENT = { wallet: zeroAddress, factory: FACTORY, data: '0x00' } as const;
/** The signer hangs for this long, which is less than the time limit of a request to it. */
const HUNG_MS = 4_000;
/** Long enough for several polls of the relayer. */
const A_WHILE_MS = 1_500;

/** The calls that the operators' example settings allow for the senders' keys. */
interface Example {
  readonly accounts: readonly { readonly key_file?: string; readonly functions: string[] }[];
}

describe('a relayer whose keys are in a remote signer', () => {
  let world: RelayerWorld;
  let signer: RemoteSigner;
  let payers: PrivateKeyAccount[];
  let stopMining: () => Promise<void>;

  let functions: string[];

  const database = openForTests(
    () => testDatabase(12),
    async () => {
      const { accounts } = JSON.parse(await readFile(EXAMPLE, 'utf8')) as Example;
      const senders = accounts.filter((one) => /^(relayer|registrar)/.test(one.key_file ?? ''));
      functions = senders.flatMap((one) => one.functions);
    },
  );

  beforeEach(async () => {
    world = await startRelayerWorld(undefined, database);
    payers = await world.network.addPayers(3);
    signer = await startSigner(functions);
    stopMining = world.network.mineEvery(100);
  });

  afterEach(async () => {
    await world.stop();
    await signer.stop();
  });

  function startSigner(allowed: readonly string[]): Promise<RemoteSigner> {
    const { relayerKeys, registrarKey, chainId, settlement } = world.network.config;
    const keys = [...relayerKeys, registrarKey].filter((key) => typeof key === 'string');
    return startRemoteSigner({ keys, chainId, settlement, functions: allowed });
  }

  const keysAt = ({ keys }: RemoteSigner) => {
    return { relayerKeys: keys.slice(0, -1), registrarKey: present(keys.at(-1), 'registrar') };
  };
  const start = () => world.startRelayer(keysAt(signer));
  const payAll = () => world.payMany(payers.map((payer) => ({ payer })));
  const unsigned = () => world.countRows('chain_unsigned');
  const open = () => world.countRows(`chain_transactions where status = 'signed'`);
  const deployments = () => world.countRows(`chain_transactions where kind = 'wallet_deployment'`);
  const cancellations = () => world.countRows('chain_attempts where cancels');
  const alarms = () =>
    database.db.query<{ kind: string }>('select kind from chain_alarms order by id');

  async function settledOnce(ids: readonly string[]): Promise<void> {
    await assertSettledOnce(world, ids);
    assert.equal(await unsigned(), 0);
  }

  it('settles, refunds and registers, and has stored all bytes that it has sent', async () => {
    start();
    const [payer] = payers as [PrivateKeyAccount];
    const paymentId = await settleSale(world, { payer, amount: 5_000_000n });
    const payload = await signRegistration(world.network.config, 'acct_new');
    const registration = await world.ask({ kind: 'merchant_registration', payload });
    const refund = await askRefund(world, paymentId, 2_000_000n);
    assertSucceeded(await world.outcomes([refund, registration]));
    const hashes = await database.db.query<{ tx_hash: Hex }>('select tx_hash from chain_attempts');
    assert.equal(hashes.length, 3);
    assert.deepEqual(await alarms(), []);
  });

  for (const point of POINTS) {
    it(`settles each payment once if it died at ${point}`, async () => {
      const child = world.spawnRelayer(point, keysAt(signer));
      const ids = await payAll();
      await child.ended;
      start();
      await settledOnce(ids);
      assert.deepEqual(await alarms(), []);
    });
  }

  it('waits for a signer that is down, and then sends the same nonces', async () => {
    await signer.down();
    start();
    const ids = await payAll();
    while ((await unsigned()) === 0) await sleep(20);
    await sleep(A_WHILE_MS);
    assert.equal(await world.countRows('chain_attempts'), 0);
    assert.deepEqual(await Promise.all(ids.map((id) => world.outcome(id))), [null, null, null]);
    const nonces = () =>
      database.db.query('select sender, nonce from chain_transactions order by id');
    const given = await nonces();
    await signer.up();
    await settledOnce(ids);
    assert.deepEqual(await nonces(), given);
  });

  it('alerts operators to a signer that refuses, and continues with another', async () => {
    await signer.stop();
    signer = await startSigner(['pauseSettling']);
    const relayer = start();
    const ids = await payAll();
    while ((await alarms()).length === 0) await sleep(20);
    assert.equal((await alarms())[0]?.kind, 'signer_refused');
    assert.deepEqual(await Promise.all(ids.map((id) => world.outcome(id))), [null, null, null]);
    await relayer.stop();
    await signer.stop();
    signer = await startSigner(functions);
    start();
    await settledOnce(ids);
  });

  it('sends no wallet deployment, which the signer would refuse, and continues', async () => {
    start();
    const [deployed] = await world.outcomes([
      await world.ask({ kind: 'wallet_deployment', payload: DEPLOYMENT }),
    ]);
    assert.equal(deployed?.succeeded, false);
    assert.equal(await world.countRows('chain_transactions'), 0);
    await settledOnce(await payAll());
    assert.deepEqual(await alarms(), []);
  });

  /**
   * Broadcasts a deployment with a local key, then moves the key behind a signer, which cancels the
   * deployment.
   */
  async function moveDeployment(): Promise<string> {
    await stopMining();
    const { relayerKeys: own } = world.network.config;
    const before = world.startRelayer({ relayerKeys: own.slice(0, 1) });
    const subject = await world.ask({ kind: 'wallet_deployment', payload: DEPLOYMENT });
    while ((await open()) === 0) await sleep(20);
    await before.stop();
    // Store the row that a relayer writes when its bytes offer too little: a request to sign a
    // higher offer.
    await database.db.query(
      `insert into chain_unsigned
         (transaction_id, cancels, max_fee_per_gas, max_priority_fee_per_gas, created)
       select transaction_id, false, 2 * max_fee_per_gas, 2 * max_priority_fee_per_gas, now()
       from chain_attempts`,
    );
    const { relayerKeys, registrarKey } = keysAt(signer);
    world.startRelayer({ relayerKeys: relayerKeys.slice(0, 1), registrarKey });
    // At the next block, the signer is asked to sign the cancellation.
    const cancellations = 'select count(*) from chain_unsigned where cancels';
    while ((await world.count(cancellations)) === 0) await sleep(20);
    return subject;
  }

  it('cancels a deployment whose key moved behind the signer, and frees its nonce', async () => {
    const subject = await moveDeployment();
    await world.network.rpc.call('anvil_dropAllTransactions', []);
    stopMining = world.network.mineEvery(100);
    assert.equal((await world.outcomes([subject]))[0]?.succeeded, false);
    await settledOnce(await payAll());
    assert.equal(await cancellations(), 1);
    assert.deepEqual(await alarms(), []);
  });

  it('books a deployment that is mined although it was to be canceled', async () => {
    const subject = await moveDeployment();
    stopMining = world.network.mineEvery(100);
    assertSucceeded(await world.outcomes([subject]));
    assertSucceeded(await world.outcomes(await payAll()));
    assert.equal(await deployments(), 1);
    assert.deepEqual(await alarms(), []);
  });

  it('sends a deployment with its own key while another sender is behind a signer', async () => {
    const { config } = world.network;
    const relayerKeys = [
      ...keysAt(signer).relayerKeys.slice(0, 1),
      ...config.relayerKeys.slice(1, 2),
    ];
    world.startRelayer({ relayerKeys, registrarKey: null });
    const subject = await world.ask({ kind: 'wallet_deployment', payload: DEPLOYMENT });
    assertSucceeded(await world.outcomes([subject]));
  });

  it('leaves a deployment to a worker with a key, and fails it if there is none', async () => {
    const { config } = world.network;
    const { relayerKeys } = keysAt(signer);
    const behind = { relayerKeys: relayerKeys.slice(0, 2), registrarKey: null };
    const own = { relayerKeys: config.relayerKeys.slice(0, 2), registrarKey: null };
    const alive = `select count(*) from relayer_workers where deploys_wallets`;
    const first = world.startRelayer(own);
    while ((await world.count(alive)) === 0) await sleep(20);
    // The stopped worker still counts as alive for some seconds.
    await first.stop();
    world.startRelayer(behind);
    const ask = () => world.ask({ kind: 'wallet_deployment', payload: DEPLOYMENT });
    const left = await ask();
    await settledOnce(await payAll());
    assert.equal(await world.outcome(left), null);
    const again = world.startRelayer(own);
    assertSucceeded(await world.outcomes([left]));
    await again.stop();
    await database.db.query(
      `update relayer_workers set seen_at = now() - interval '1 minute' where deploys_wallets`,
    );
    assert.equal((await world.outcomes([await ask()]))[0]?.succeeded, false);
    assert.equal(await deployments(), 1);
  });

  it('continues with its other senders while one signer hangs, and then lies', async () => {
    let answer: string | null = null;
    const odd = createServer((_, response) => {
      if (answer !== null) response.end(answer);
    });
    await once(odd.listen(0, '127.0.0.1'), 'listening');
    const { port } = odd.address() as AddressInfo;
    const [own, ...others] = world.network.config.relayerKeys;
    const { address } = heldAccount(own);
    const hangs = { url: `http://127.0.0.1:${port}`, address, token: 'x' };
    try {
      const keys = { relayerKeys: [hangs, ...others] };
      const relayer = world.startRelayer(keys);
      const first = await payAll();
      while ((await unsigned()) === 0) await sleep(20);
      await relayer.stop();
      world.startRelayer(keys);
      // The signer takes longer than the payment has left, so a loop that waits for it would be too
      // late.
      assertSucceeded(await world.outcomes(await payAll(), HUNG_MS));
      assert.deepEqual(await alarms(), []);
      answer = JSON.stringify({ signed: await heldAccount(own).signTransaction(OTHER) });
      odd.closeAllConnections();
      while ((await alarms()).length === 0) await sleep(20);
      assert.equal((await alarms())[0]?.kind, 'signer_refused');
      for (const id of first) assert.notEqual((await world.outcome(id))?.succeeded, false);
    } finally {
      odd.closeAllConnections();
      odd.close();
    }
  });

  it("signs missing bytes itself when a signer's key returns to the process", async () => {
    await signer.down();
    const relayer = start();
    const ids = await payAll();
    while ((await unsigned()) === 0) await sleep(20);
    await relayer.stop();
    world.startRelayer();
    await settledOnce(ids);
  });

  it('outbids bytes that its signer knows and a restored database lacks', async () => {
    const { chainId } = world.network.config;
    for (const key of signer.keys.slice(0, -1)) {
      await signerOf(key).signTransaction({
        ...{ type: 'eip1559', chainId, nonce: 0, to: key.address, data: '0x', gas: 21_000n },
        ...{ maxFeePerGas: 3n * GWEI, maxPriorityFeePerGas: GWEI },
      });
    }
    start();
    await settledOnce(await payAll());
    assert.deepEqual(await alarms(), []);
  });

  it('sends no old bytes while it requests a cancellation that replaces them', async () => {
    await stopMining();
    start();
    const [payer] = payers as [PrivateKeyAccount];
    const late = await world.pay({ payer });
    const attempts = () =>
      database.db.query<{ tx_hash: Hex; cancels: boolean }>(
        'select tx_hash, cancels from chain_attempts',
      );
    while ((await attempts()).length === 0) await sleep(20);
    await world.network.pending();
    await signer.down();
    const { rpc } = world.network;
    const [old] = await attempts();
    await rpc.call('anvil_dropTransaction', [old?.tx_hash]);
    await database.db.query(`update chain_requests set deadline = now() - interval '1 minute'`);
    await rpc.call('evm_increaseTime', [600]);
    stopMining = world.network.mineEvery(100);
    assert.equal((await world.outcomes([late]))[0]?.succeeded, false);
    await sleep(A_WHILE_MS);
    assert.equal(await rpc.call('eth_getTransactionByHash', [old?.tx_hash]), null);
    assert.equal(await unsigned(), 1);
    await signer.up();
    while ((await open()) > 0) await sleep(20);
    assert.deepEqual(
      (await attempts()).map(({ cancels }) => cancels),
      [false, true],
    );
  });

  it('fills a nonce whose payments expired while the signer was down', async () => {
    await signer.down();
    start();
    const [payer] = payers as [PrivateKeyAccount];
    const late = await world.pay({ payer });
    while ((await unsigned()) === 0) await sleep(20);
    await database.db.query(`update chain_requests set deadline = now() - interval '1 minute'`);
    await world.network.rpc.call('evm_increaseTime', [600]);
    const [outcome] = await world.outcomes([late]);
    assert.equal(outcome?.succeeded, false);
    await signer.up();
    while ((await open()) > 0) await sleep(20);
    assert.equal(await cancellations(), 1);
    assert.deepEqual(await settledNumbers(world.network), []);
  });
});
