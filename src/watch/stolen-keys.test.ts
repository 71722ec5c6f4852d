import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createPublicClient, encodeFunctionData, http } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { exactUsdc } from '#core/sums.ts';

import { silentLog } from '#observability/log.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { settleCall, walletChangeCall } from '#settlement/contract/contract-calls.ts';
import { ROLES, roleId } from '#settlement/contract/contract-roles.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import {
  executeCall,
  NO_PREDECESSOR,
  scheduleCall,
  timelockOf,
} from '#settlement/contract/timelock-calls.ts';
import { signProposal } from '#testkit/fixtures/payers/wallet-consents.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';
import { watchTheft } from '#testkit/fixtures/settlement/theft.ts';
import { heldAccount } from '#testkit/network/held-key.ts';
import { settlementCall } from '#testkit/network/test-network.ts';
import { settlementLensAbi } from '../../contracts/artifacts/SettlementLens.ts';
import { timelockAbi } from '../../contracts/artifacts/Timelock.ts';

/**
 * Steals each key in turn: the thief acts in each block while a watchtower polls. SECURITY.md
 * contains the results as a table, which `WRITE_DRILL=1` updates.
 */

const SECURITY = path.join(import.meta.dirname, '../../SECURITY.md');
const BEGIN = '<!-- What the drill measured: src/watch/stolen-keys.test.ts -->\n';
const END = '<!-- End of what the drill measured -->';
/** Atoms charged to one payer in each block. */
const SALE = 1_000_000_000n;
const DEADLINE = 4_000_000_000n;
/** Far in the future, because the drill advances the chain's clock. */
const VALID_UNTIL = Number(DEADLINE);
/** The number of shops that a thief registers, one in each block. */
const SHOPS = 6;
/** The contract's maximum ceiling, used by the test network. */
const MOST_CEILING = 2 ** 24 - 1;
/** Number of wallets or operations that a thief proposes in a flood. */
const FLOOD = 40;
const SALT: Hex = `0x${'5a'.repeat(32)}`;
const IS_PENDING = { abi: timelockAbi, functionName: 'isOperationPending' } as const;
/** Number of blocks to watch: more than the watchtower needs for a pause. */
const ROUNDS = 10;

describe('each key is stolen in turn', () => {
  let world: RelayerWorld;
  let chains: readonly [Chain, Chain];
  let sale = 1n;
  let payer: Hex;
  const rows: string[] = [];
  const flooded: Hex[] = [];

  before(async () => {
    world = await startRelayerWorld(() => ({ sponsorKey: generatePrivateKey() }));
    const other = await openChain(world.network.config, silentLog);
    chains = [world.network.chain, other];
    payer = (await world.network.addPayer()).address;
  });

  after(async () => {
    await chains[1].close();
    await world.stop();
  });

  const settlement = () => world.network.config.settlement;
  const sender = () => heldAccount(world.network.config.relayerKeys[0]);
  const registrar = () => heldAccount(world.network.config.registrarKey);

  const govern = (from: PrivateKeyAccount, functionName: string, args: readonly unknown[] = []) =>
    world.network.callSettlement(from, functionName, args);

  async function view(functionName: string, args: readonly unknown[] = []): Promise<string> {
    const call = { to: settlement(), data: settlementCall(functionName, args) };
    return String(await world.network.rpc.call('eth_call', [call, 'latest']));
  }

  /** Returns the fees of the acquirer and of the protocol. */
  function bookedFees(): Promise<readonly [bigint, bigint]> {
    const transport = http(world.network.node.rpcUrl);
    const abi = settlementLensAbi;
    const address = lensOf(settlement());
    const reader = createPublicClient({ transport });
    return reader.readContract({ address, abi, functionName: 'bookedFees' });
  }

  /** Charges a payer who has never dealt with this shop. */
  async function settleAs(thief: PrivateKeyAccount): Promise<void> {
    const { merchantNumber } = world.merchant;
    const stolen = { payer, merchantNumber, amount: SALE, orderId: `S${sale}`, number: sale };
    sale++;
    await world.network.send(thief, settlement(), settleCall([stolen], VALID_UNTIL));
  }

  /**
   * Runs one drill.
   * @returns the number of blocks from the theft to the pause; `null` if the contract was never
   * paused.
   */
  async function drill(act: () => Promise<void>): Promise<number | null> {
    for (const part of ['Settling', 'Refunding']) {
      await govern(world.network.admin, `unpause${part}`);
    }
    const { watchKey } = world.network;
    return watchTheft({ world, chains, watchKey, pauseFrom: SALE, rounds: ROUNDS }, act);
  }

  function note(key: string, act: string, stopped: number | null, taken: bigint): void {
    const when = stopped === null ? 'nothing to stop' : `${stopped} blocks`;
    rows.push(`| ${key} | ${act} | ${when} | ${exactUsdc(taken)} USDC |`);
  }

  it('operator: settles without the payer', async () => {
    const before = await world.network.usdcOf(payer);
    const stopped = await drill(() => settleAs(sender()));
    const taken = before - (await world.network.usdcOf(payer));
    note('operator', 'settles 1,000 USDC of one payer in each block', stopped, taken);
    assert.ok(stopped !== null && stopped <= 4, `${stopped}`);
  });

  const proposalFor = async (merchantNumber: bigint) =>
    walletChangeCall(await signProposal(world.network.config, merchantNumber));

  it('registrar: proposes its own wallet', async () => {
    const { merchantNumber, wallet } = await world.network.addMerchant();
    const data = await proposalFor(merchantNumber);
    const stopped = await drill(() => world.network.send(registrar(), settlement(), data));
    await world.network.rpc.call('evm_increaseTime', [3_600]);
    await assert.rejects(govern(world.network.admin, 'applyWallet', [Number(merchantNumber)]));
    const account = await view('merchantAccount', [Number(merchantNumber)]);
    assert.ok(account.includes(wallet.address.slice(2).toLowerCase()), 'it keeps its wallet');
    note('registrar', 'proposes its own wallet for a merchant', stopped, 0n);
    assert.ok(stopped !== null && stopped <= 4, `${stopped}`);
  });

  it('registrar: registers shops, and proposes a wallet for one in each block', async () => {
    const { watcher } = world.network;
    const [before] = await chains[0].nonces([watcher.address]);
    let proposed = 0;
    const stopped = await drill(async () => {
      if (proposed++ >= SHOPS) return world.network.mine();
      const { merchantNumber } = await world.network.addMerchant();
      await world.network.send(registrar(), settlement(), await proposalFor(merchantNumber));
    });
    const [after] = await chains[0].nonces([watcher.address]);
    const sent = Number(present(after, 'nonce') - present(before, 'nonce'));
    assert.ok(sent <= 2 * SHOPS, `${sent} transactions`);
    assert.ok(stopped !== null, 'each of them is dropped');
    const act = `registers ${SHOPS} shops, and proposes a wallet for each`;
    note('registrar', act, stopped, 0n);
  });

  it('registrar and operator: a flood of proposals delays no pause', async () => {
    for (let n = 0; n < FLOOD; n++) {
      const { merchantNumber } = await world.network.addMerchant();
      flooded.push(await proposalFor(merchantNumber));
    }
    const before = await world.network.usdcOf(payer);
    const stopped = await drill(async () => {
      for (const data of flooded.splice(0)) {
        await world.network.send(registrar(), settlement(), data);
      }
      await settleAs(sender());
    });
    const taken = before - (await world.network.usdcOf(payer));
    assert.ok(stopped !== null, 'it is stopped');
    // Count from the first sale, because each earlier proposal took a block.
    const blocks = stopped - FLOOD;
    const act = `proposes ${FLOOD} wallets, and settles 1,000 USDC in each block`;
    note('registrar and operator', act, blocks, taken);
    assert.ok(blocks <= 4, `${blocks}`);
  });

  it('proposer: grants its own account the operator role, once the delay has passed', async () => {
    const { admin: proposer } = world.network;
    const thief = privateKeyToAccount(generatePrivateKey());
    await world.network.rpc.call('anvil_setBalance', [thief.address, '0xde0b6b3a7640000']);
    const data = settlementCall('grantRole', [roleId('operator'), thief.address]);
    const grant = { target: settlement(), data };
    const timelock = timelockOf(settlement());
    await world.network.send(proposer, timelock, scheduleCall(grant, SALT, 0n));
    const before = await world.network.usdcOf(payer);
    let granted = false;
    const stopped = await drill(async () => {
      if (granted) return settleAs(thief);
      granted = true;
      const options = { predecessor: NO_PREDECESSOR, salt: SALT };
      await world.network.send(thief, timelock, executeCall(grant, options));
    });
    const taken = before - (await world.network.usdcOf(payer));
    const act =
      'executes a grant that no guardian canceled, and settles 1,000 USDC in each block after it';
    note('proposer', act, stopped, taken);
    assert.ok(stopped !== null && stopped <= 4, `${stopped}`);
  });

  it('proposer: a flood of operations is canceled in one transaction', async () => {
    const { admin: proposer, guardian } = world.network;
    const timelock = timelockOf(settlement());
    const ids: Hex[] = [];
    const hash = { abi: timelockAbi, functionName: 'hashOperation' } as const;
    for (let n = 1; n <= FLOOD; n++) {
      const salt: Hex = `0x${n.toString(16).padStart(64, '0')}`;
      const call = { target: settlement(), data: '0x' } as const;
      await world.network.send(proposer, timelock, scheduleCall(call, salt, 1_000n));
      const args = [call.target, 0n, call.data, NO_PREDECESSOR, salt] as const;
      const reader = createPublicClient({ transport: http(world.network.node.rpcUrl) });
      ids.push(await reader.readContract({ address: timelock, ...hash, args }));
    }
    await govern(guardian, 'cancelOperations', [ids]);
    for (const id of ids) {
      const args = [id] as const;
      const data = encodeFunctionData({ ...IS_PENDING, args });
      const answer = await world.network.rpc.call('eth_call', [{ to: timelock, data }, 'latest']);
      assert.equal(BigInt(String(answer)), 0n);
    }
    note('proposer', `schedules ${FLOOD} operations`, null, 0n);
  });

  it('steward: stops sales by taking roles, and takes no money', async () => {
    const { admin: steward } = world.network;
    const before = await world.network.usdcOf(settlement());
    const spare = heldAccount(world.network.config.relayerKeys[3]);
    await govern(steward, 'revokeRole', [roleId('operator'), spare.address]);
    await assert.rejects(govern(steward, 'grantRole', [roleId('operator'), steward.address]));
    await assert.rejects(
      govern(steward, 'setRates', [{ acquirer: 300, protocol: 0, cashback: 0 }]),
    );
    const moved = (await world.network.usdcOf(settlement())) - before;
    note('steward', 'revokes an operator', null, -moved);
  });

  it('guardian and watcher: stop the contract, and take nothing', async () => {
    for (const [key, thief] of [
      ['guardian', world.network.guardian],
      ['watcher', world.network.watcher],
    ] as const) {
      const before = await world.network.usdcOf(settlement());
      await govern(thief, 'pauseSettling');
      await govern(thief, 'pauseRefunding');
      note(
        key,
        'pauses settling and refunds',
        null,
        before - (await world.network.usdcOf(settlement())),
      );
    }
  });

  it('treasurer: takes the booked fees, and no merchant’s money', async () => {
    const { admin: treasurer } = world.network;
    const thief = privateKeyToAccount(generatePrivateKey());
    const before = await world.network.usdcOf(settlement());
    const [acquirer, protocol] = await bookedFees();
    assert.ok(acquirer > 0n && protocol > 0n, 'the sales above booked fees');
    const more = [thief.address, acquirer + 1n, protocol];
    await assert.rejects(govern(treasurer, 'collectFees', more), 'no atom of a merchant');
    await govern(treasurer, 'collectFees', [thief.address, acquirer, protocol]);
    const taken = await world.network.usdcOf(thief.address);
    assert.equal(taken, acquirer + protocol);
    assert.equal(await world.network.usdcOf(settlement()), before - taken);
    note('treasurer', 'collects the fees that were booked', null, taken);
  });

  it('operator and steward: lift each pause, within the timelock’s last ceiling', async () => {
    const { admin: steward, guardian } = world.network;
    const before = await world.network.usdcOf(payer);
    const stopped = await drill(async () => {
      for (const part of ['Settling', 'Refunding']) await govern(steward, `unpause${part}`);
      await settleAs(sender());
    });
    const taken = before - (await world.network.usdcOf(payer));
    assert.ok(taken > 0n);
    assert.equal(stopped, null);
    const act = 'settles 1,000 USDC and lifts the pause in each block';
    const until = 'not before one of them is removed';
    rows.push(`| operator and steward | ${act} | ${until} | up to the ceiling of each hour |`);
    // The steward can undo a guardian's lower ceiling, but cannot exceed the last ceiling set by
    // the timelock.
    await govern(guardian, 'lowerCeiling', [1]);
    await govern(steward, 'restoreCeiling', [MOST_CEILING - 1]);
    await govern(steward, 'restoreCeiling', [MOST_CEILING]);
    await assert.rejects(govern(steward, 'restoreCeiling', [MOST_CEILING]));
  });

  it('sponsor: has no role, and can take only its own gas balance', async () => {
    const sponsor = heldAccount(world.network.config.sponsorKey);
    for (const role of ['admin', ...ROLES] as const) {
      assert.equal(BigInt(await view('hasRole', [roleId(role), sponsor.address])), 0n);
    }
    const before = await world.network.usdcOf(settlement());
    await assert.rejects(settleAs(sponsor));
    for (const step of ['pauseSettling', 'pauseRefunding', 'dropWalletChanges']) {
      await assert.rejects(govern(sponsor, step), step);
    }
    await assert.rejects(govern(sponsor, 'collectFees', [sponsor.address, 0n, 0n]));
    assert.equal(await world.network.usdcOf(settlement()), before);
    note('sponsor', 'tries to settle, to pause and to collect', null, 0n);
  });

  it('SECURITY.md has the measured results', async () => {
    const table =
      '| stolen key | its thief | stopped after | taken by then |\n|---|---|---|---|\n' +
      `${rows.join('\n')}\n`;
    const text = await readFile(SECURITY, 'utf8');
    const from = text.indexOf(BEGIN) + BEGIN.length;
    const to = text.indexOf(END);
    assert.ok(from >= BEGIN.length && to >= from, 'SECURITY.md has the place for the table');
    if (process.env.WRITE_DRILL === '1') {
      await writeFile(SECURITY, text.slice(0, from) + table + text.slice(to));
      return;
    }
    assert.equal(text.slice(from, to), table);
  });
});
