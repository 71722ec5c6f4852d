import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { configureSenders } from '#settlement/chain/configure-senders.ts';
import { merchantConsent } from '#settlement/contract/signed-messages.ts';
import { type RelayerWorld, startRelayerWorld } from '#testing/relayer-world.ts';

const DEADLINE = 4_000_000_000n;

describe("the registrar's key in a separate process", () => {
  let world: RelayerWorld;
  let stopMining: () => Promise<void>;

  before(async () => {
    world = await startRelayerWorld();
    stopMining = world.network.mineEvery(60);
  });

  after(async () => {
    await stopMining();
    await world.stop();
  });

  async function register(): Promise<string> {
    const account = privateKeyToAccount(generatePrivateKey());
    const accountId = `acct_${account.address}`;
    const consent = { accountId, wallet: account.address, deadline: DEADLINE };
    const typed = merchantConsent(world.network.config, consent);
    const signature = await account.signTypedData(typed);
    const payload = { ...consent, deadline: DEADLINE.toString(), signature };
    return world.ask({ kind: 'merchant_registration', payload });
  }

  const held = (role: string) =>
    world.count(
      `select count(*) from relayer_senders where role = '${role}' and lease_until > now()`,
    );

  it('registers the merchants that a worker leaves, and takes none of its senders', async () => {
    const [payer] = await world.network.addPayers(1);
    assert(payer !== undefined);
    const operators = world.network.config.relayerKeys.length;
    world.startRelayer({ registrarKey: null });
    const waiting = await register();
    const [paid] = await world.outcomes([await world.pay({ payer })]);
    assert.equal(paid?.succeeded, true);
    assert.equal(await world.outcome(waiting), null, 'registered without the key');
    assert.equal(await held('registrar'), 0);

    const registrar = world.startRelayer({ relayerKeys: [] });
    const [registered] = await world.outcomes([waiting]);
    assert.equal(registered?.succeeded, true);
    assert.equal(await held('operator'), operators, 'the worker shares with one that has no key');
    const workers = 'select count(*) from relayer_workers';
    assert.equal(await world.count(workers), 1, 'who settles nothing counts as a worker');

    await registrar.stop();
    const [again] = await world.outcomes([await world.pay({ payer })]);
    assert.equal(again?.succeeded, true);
  });

  it('lets a worker without the key start while registrations are not final', async () => {
    world.startRelayer({ relayerKeys: [] });
    await world.outcomes([await register()]);
    const config = { ...world.network.config, registrarKey: null };
    const chain = { ...world.network.chain, config };
    await configureSenders({ chain, db: world.database.db });
  });
});
