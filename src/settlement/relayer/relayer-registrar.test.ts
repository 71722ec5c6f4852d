import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { configureSenders } from '#settlement/chain/fees/configure-senders.ts';
import { signRegistration } from '#testkit/fixtures/payers/wallet-consents.ts';
import {
  assertSucceeded,
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';

describe("the registrar's key in a separate process", () => {
  let world: RelayerWorld;

  before(async () => {
    world = await startRelayerWorld();
    world.network.mineEvery(60);
  });

  after(() => world.stop());

  async function register(): Promise<string> {
    const accountId = `acct_${randomBytes(8).toString('hex')}`;
    const payload = await signRegistration(world.network.config, accountId);
    return world.ask({ kind: 'merchant_registration', payload });
  }

  const held = (role: string) =>
    world.count(
      `select count(*) from relayer_senders where role = '${role}' and lease_until > now()`,
    );

  it('registers the merchants that a worker leaves, and takes none of its senders', async () => {
    const payer = await world.network.addPayer();
    const operators = world.network.config.relayerKeys.length;
    world.startRelayer({ registrarKey: null });
    const waiting = await register();
    assertSucceeded(await world.outcomes([await world.pay({ payer })]));
    assert.equal(await world.outcome(waiting), null, 'registered without the key');
    assert.equal(await held('registrar'), 0);

    const registrar = world.startRelayer({ relayerKeys: [] });
    assertSucceeded(await world.outcomes([waiting]));
    assert.equal(await held('operator'), operators, 'the worker shares with one that has no key');
    assert.equal(
      await world.countRows('relayer_workers'),
      1,
      'who settles nothing counts as a worker',
    );

    await registrar.stop();
    assertSucceeded(await world.outcomes([await world.pay({ payer })]));
  });

  it('lets a worker without the key start while registrations are not final', async () => {
    world.startRelayer({ relayerKeys: [] });
    await world.outcomes([await register()]);
    const config = { ...world.network.config, registrarKey: null };
    const chain = { ...world.network.chain, config };
    await configureSenders({ chain, db: world.database.db });
  });
});
