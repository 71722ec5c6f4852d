import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { StartError } from '#core/start-error.ts';
import { silentLog } from '#observability/log.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { configureSenders, prepareSenders } from '#settlement/chain/fees/configure-senders.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import { heldAccount } from '#testkit/network/held-key.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';

describe('senders and chains at the start', () => {
  let network: TestNetwork;
  let database: TestDatabase;

  before(async () => {
    [network, database] = await Promise.all([
      startTestNetwork(() => ({ sponsorKey: generatePrivateKey() })),
      testDatabase(4),
    ]);
  });

  after(async () => {
    await network.stop();
    await database.close();
  });

  const chainWith = (changes: Partial<NetworkConfig>): Chain => ({
    ...network.chain,
    config: { ...network.config, ...changes },
  });
  const senders = () =>
    database.db.query<{ sender: number; address: string; role: string }>(
      'select sender, address, role from relayer_senders order by sender',
    );

  it('keep their numbers when keys are added, removed and reordered', async () => {
    await configureSenders({ chain: network.chain, db: database.db });
    const before = await senders();
    assert.equal(before.length, 6);
    const added = generatePrivateKey();
    const relayerKeys = [added, ...network.config.relayerKeys.slice(1).reverse()];
    await configureSenders({ chain: chainWith({ relayerKeys }), db: database.db });
    const now = await senders();
    assert.deepEqual(now.slice(0, 6), before);
    assert.equal(now[6]?.address, privateKeyToAccount(added).address);
  });

  it('refuse to start without the key of transactions that are not final', async () => {
    await database.db.query(
      `insert into chain_transactions
         (livemode, sender, nonce, kind, status, created, target, input, gas_limit)
       values (false, 0, 0, 'payment', 'signed', now(), '0x', '', 1)`,
    );
    const relayerKeys = network.config.relayerKeys.slice(1);
    const { address } = heldAccount(network.config.relayerKeys[0]);
    await assert.rejects(
      configureSenders({ chain: chainWith({ relayerKeys }), db: database.db }),
      (error) => error instanceof StartError && error.message.includes(address),
    );
    // Remove a sender too early: a reorganization can still undo its transaction, and only its key
    // can then send another.
    const set = (status: string) =>
      database.db.query(
        `update chain_transactions set status = $1, tx_hash = '0x1', block_number = 1,
           block_hash = '0x2'`,
        [status],
      );
    await set('mined');
    await assert.rejects(
      configureSenders({ chain: chainWith({ relayerKeys }), db: database.db }),
      /not final yet/,
    );
    await set('finalized');
    await configureSenders({ chain: chainWith({ relayerKeys }), db: database.db });
    await database.db.query('delete from chain_transactions');
  });

  it('refuse to lose the sponsor’s key of a transfer, unless operators run elsewhere', async () => {
    const { db } = database;
    const address = heldAccount(network.config.sponsorKey).address;
    await db.query(
      `insert into chain_transactions
         (livemode, sender, nonce, kind, status, created, target, input, gas_limit)
       select false, sender, 0, 'transfer', 'signed', now(), '0x', '', 1
         from relayer_senders where address = $1`,
      [address],
    );
    await assert.rejects(
      configureSenders({ chain: chainWith({ sponsorKey: null }), db }),
      (error) => error instanceof StartError && error.message.includes(address),
    );
    await configureSenders({ chain: chainWith({ sponsorKey: null, relayerKeys: [] }), db });
    await db.query('delete from chain_transactions');
    await configureSenders({ chain: chainWith({ sponsorKey: null }), db });
  });

  it('refuse a key without its role, and the same key twice', async () => {
    const deps = { db: database.db };
    const stranger = chainWith({ relayerKeys: [generatePrivateKey()] });
    await assert.rejects(prepareSenders({ ...deps, chain: stranger }), /has no OPERATOR_ROLE/);
    const [key = '0x'] = network.config.relayerKeys;
    const twice = chainWith({ relayerKeys: [key, key] });
    await assert.rejects(
      prepareSenders({ ...deps, chain: twice }),
      /two of the relayer, registrar and sponsor keys/,
    );
    await prepareSenders({ ...deps, chain: network.chain });
  });

  it('refuse another chain id and a missing contract, with one line', async () => {
    await assert.rejects(
      openChain({ ...network.config, chainId: 1 }, silentLog),
      (error) =>
        error instanceof StartError &&
        error.message === 'CHAIN_TESTNET_RPC_URL leads to chain 31400, but chain 1 is expected',
    );
    const nowhere = '0x00000000000000000000000000000000000000aa';
    await assert.rejects(
      openChain({ ...network.config, settlement: nowhere }, silentLog),
      /there is no contract at 0x0+aa on the chain of CHAIN_TESTNET_RPC_URL/,
    );
  });

  it('start although no node answers', async () => {
    const chain = await openChain(
      { ...network.config, rpcUrls: ['http://127.0.0.1:9'] },
      silentLog,
    );
    await prepareSenders({ chain, db: database.db });
    await chain.close();
  });
});
