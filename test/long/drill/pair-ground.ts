import { randomBytes } from 'node:crypto';
import { createPublicClient, encodeFunctionData, http, numberToHex, parseEther } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { silentLog } from '#observability/log.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { settleCall, walletChangeCall, withdrawCall } from '#settlement/contract/contract-calls.ts';
import { type RoleName, roleId } from '#settlement/contract/contract-roles.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import { walletConsent } from '#settlement/contract/signed-messages.ts';
import {
  executeCall,
  NO_PREDECESSOR,
  type OperationCall,
  scheduleCall,
  timelockOf,
} from '#settlement/contract/timelock-calls.ts';
import type { TestDatabase } from '#testkit/fixtures/db/database.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';
import { watchTheft } from '#testkit/fixtures/settlement/theft.ts';
import { heldAccount } from '#testkit/network/held-key.ts';
import { TEST_CHAIN_ID, type TestMerchant } from '#testkit/network/test-network.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';
import { settlementLensAbi } from '../../../contracts/artifacts/SettlementLens.ts';
import { timelockAbi } from '../../../contracts/artifacts/Timelock.ts';

export type StolenKey =
  | 'operator'
  | 'registrar'
  | 'guardian'
  | 'watcher'
  | 'treasurer'
  | 'steward'
  | 'proposer';

/** One scheduled operation of the timelock. */
interface Operation {
  readonly id: Hex;
  readonly call: OperationCall;
  readonly salt: Hex;
}

interface Robbed {
  /** Blocks from the first theft until the watchtower stopped it, or `null` if it did not. */
  readonly stopped: number | null;
  /** Atoms of USDC that left the payer or that the treasurer's thief collected. */
  readonly taken: bigint;
}

/** Amount of the sale in each block, all from one payer, in atoms. */
const SALE = 1_000_000_000n;
const DEADLINE = 4_000_000_000n;
const DAY_S = 86_400;
const DELAY_S = 2 * DAY_S;
/** The number of wallets or operations that a thief announces per block. */
const FLOOD = 8;
/** More blocks than the watchtower needs to pause the contract. */
export const ROUNDS = 6;
const GAS = 1_000_000n;
const GAS_PRICE = 10_000_000_000n;
const COIN = numberToHex(parseEther('1000'));

interface Call {
  readonly from: PrivateKeyAccount;
  readonly to: Hex;
  readonly data: Hex;
  readonly value?: bigint;
}

const call = (functionName: string, args: readonly unknown[] = []): Hex =>
  encodeFunctionData({ abi: settlementAbi, functionName, args } as never);
const onTimelock = (functionName: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: timelockAbi, functionName, args } as never);
const newKey = () => privateKeyToAccount(generatePrivateKey());
const isRefused = (sent: Promise<void>) =>
  sent.then(
    () => false,
    () => true,
  );

/**
 * Opens a contract with delays of 48 hours. The owner holds one proposer key and one steward key,
 * and there are two honest guardians. Each key that can be stolen is a different one.
 */
export async function openPairGround(database: TestDatabase): Promise<PairGround> {
  const terms = { payoutHold: DELAY_S };
  const world = await startRelayerWorld(undefined, database, undefined, terms);
  const other = await openChain(world.network.config, silentLog);
  const payer = present((await world.network.addPayers(1))[0], 'payer').address;
  const ground = new PairGround(world, [world.network.chain, other], payer);
  await ground.prepare();
  return ground;
}

export class PairGround {
  private readonly world: RelayerWorld;
  private readonly chains: readonly [Chain, Chain];
  private readonly payer: Hex;
  private readonly thieves: Readonly<Record<StolenKey, PrivateKeyAccount>>;
  private readonly secondGuardian = newKey();
  private readonly settlement: Hex;
  private readonly timelock: Hex;
  private readonly reader;
  /** Merchants whose wallets the registrar's thief wants to replace. */
  private readonly merchants: TestMerchant[] = [];
  private readonly thiefsOperations: Operation[] = [];
  private thiefsShop: TestMerchant | null = null;
  private ownersGrant: Operation | null = null;
  private sale = 1n;
  private withdrawal = 1n;

  constructor(world: RelayerWorld, chains: readonly [Chain, Chain], payer: Hex) {
    const { config, watcher, node } = world.network;
    this.world = world;
    this.chains = chains;
    this.payer = payer;
    this.settlement = config.settlement;
    this.timelock = timelockOf(config.settlement);
    this.reader = createPublicClient({ transport: http(node.rpcUrl) });
    this.thieves = {
      operator: heldAccount(config.relayerKeys[0]),
      registrar: heldAccount(config.registrarKey),
      guardian: newKey(),
      watcher,
      treasurer: newKey(),
      steward: newKey(),
      proposer: newKey(),
    };
  }

  /** Returns a merchant with sales: its number and its wallet. */
  get merchant(): TestMerchant {
    return this.world.merchant;
  }

  private get owner(): PrivateKeyAccount {
    return this.world.network.admin;
  }

  private get shop(): TestMerchant {
    return present(this.thiefsShop, 'the shop of the thief');
  }

  /** Assigns the keys, sets the delay of 48 hours, and makes a sale before the theft. */
  async prepare(): Promise<void> {
    const { network } = this.world;
    for (const { address } of [...Object.values(this.thieves), this.secondGuardian]) {
      await this.fund(address);
    }
    for (const key of ['guardian', 'treasurer', 'steward'] as const) {
      await network.govern(call('grantRole', [roleId(key), this.thieves[key].address]));
    }
    await network.govern(call('grantRole', [roleId('guardian'), this.secondGuardian.address]));
    for (const data of [
      onTimelock('grantRole', [roleId('proposer'), this.thieves.proposer.address]),
      onTimelock('updateDelay', [BigInt(DELAY_S)]),
    ]) {
      const operation = await this.operationOf(this.timelock, data);
      const scheduled = scheduleCall(operation.call, operation.salt, 0n);
      await network.send(this.owner, this.timelock, scheduled);
      await this.execute(operation);
    }
    await this.sendInOneBlock([this.settle(this.merchant.merchantNumber)]);
    for (let n = 0; n < FLOOD; n++) this.merchants.push(await network.addMerchant());
    this.thiefsShop = await network.addMerchant();
    const grant = call('grantRole', [roleId('operator'), newKey().address]);
    this.ownersGrant = await this.operationOf(this.settlement, grant);
    await this.sendInOneBlock([this.schedule(this.owner, this.ownersGrant)]);
  }

  /** Lets the thieves act in each block, and the watchtower read each block. */
  async rob(stolen: readonly StolenKey[], watchKey = this.world.network.watchKey): Promise<Robbed> {
    const { world, chains } = this;
    const before = await world.network.usdcOf(this.payer);
    let isFirst = true;
    const theft = { world, chains, watchKey, pauseFrom: SALE, rounds: ROUNDS };
    const stopped = await watchTheft(theft, async () => {
      const first = isFirst;
      isFirst = false;
      await this.actTogether(stolen, first);
    });
    const ofPayer = before - (await world.network.usdcOf(this.payer));
    const ofFees = await world.network.usdcOf(this.thieves.treasurer.address);
    return { stopped, taken: ofPayer + ofFees };
  }

  /**
   * Follows docs/operate.md, key by key.
   * @returns true if no thief can do anything afterwards.
   */
  async answer(stolen: readonly StolenKey[]): Promise<boolean> {
    const { owner, thieves, thiefsOperations } = this;
    const guardian = await this.honestGuardian();
    if (guardian !== null) {
      const ids = thiefsOperations.map(({ id }) => id);
      if (ids.length > 0) await this.send(guardian, call('cancelOperations', [ids]));
      await this.send(guardian, call('dropWalletChangesOf', [thieves.registrar.address]));
    }
    for (const key of stolen) {
      if (key === 'steward' || key === 'proposer') continue;
      const role = key === 'watcher' ? 'watch' : key;
      // Reverts for the last guardian.
      const revocation = call('revokeRole', [roleId(role), thieves[key].address]);
      await this.send(owner, revocation).catch(() => undefined);
    }
    const removals: Operation[] = [];
    for (const key of ['steward', 'proposer'] as const) {
      if (stolen.includes(key)) removals.push(await this.scheduleRemoval(key));
    }
    if (stolen.includes('guardian') && removals.length > 0) {
      // Reverts if the guardian's key was revoked above.
      const cancel = call('cancelOperations', [removals.map(({ id }) => id)]);
      await this.send(thieves.guardian, cancel).catch(() => undefined);
    }
    await this.passDelay();
    for (const removal of removals) await this.execute(removal).catch(() => undefined);
    for (const operation of thiefsOperations) await requireRefusal(this.execute(operation));
    for (const { merchantNumber } of this.merchants) {
      await requireRefusal(this.applyWallet(merchantNumber));
    }
    // The contract accepts sales again, so from here on only the roles stop the thieves.
    await this.send(owner, call('unpauseSettling'));
    return this.isOver(stolen);
  }

  async passDelay(): Promise<void> {
    await this.world.network.rpc.call('evm_increaseTime', [DELAY_S + 60]);
    await this.world.network.mine();
  }

  execute({ call: { target, data }, salt }: Operation): Promise<void> {
    const operation = { predecessor: NO_PREDECESSOR, salt };
    const execution = executeCall({ target, data }, operation);
    return this.world.network.send(this.owner, this.timelock, execution);
  }

  async scheduleRemoval(key: 'steward' | 'proposer'): Promise<Operation> {
    const data = call('revokeRole', [roleId(key), this.thieves[key].address]);
    const removal = await this.operationOf(
      key === 'proposer' ? this.timelock : this.settlement,
      data,
    );
    await this.sendInOneBlock([this.schedule(this.owner, removal)]);
    return removal;
  }

  applyWallet(merchantNumber: bigint): Promise<void> {
    return this.send(this.owner, call('applyWallet', [Number(merchantNumber)]));
  }

  usdcOf(address: Hex): Promise<bigint> {
    return this.world.network.usdcOf(address);
  }

  merchantBalance(merchantNumber: bigint): Promise<bigint> {
    return this.world.network.merchantBalance(merchantNumber);
  }

  /**
   * Creates a watchtower on another machine.
   * @returns its key.
   */
  async addWatcher(): Promise<Hex> {
    const watchKey = generatePrivateKey();
    const { address } = privateKeyToAccount(watchKey);
    await this.fund(address);
    const grant = call('grantRole', [roleId('watch'), address]);
    const operation = await this.operationOf(this.settlement, grant);
    await this.sendInOneBlock([this.schedule(this.owner, operation)]);
    await this.passDelay();
    await this.execute(operation);
    return watchKey;
  }

  /** Announces a wallet, as the thief of the registrar key. @returns the thief's wallet. */
  async announceWallet(merchantNumber: bigint): Promise<Hex> {
    const [wallet, proposal] = await this.proposalFor(merchantNumber);
    await this.sendInOneBlock([proposal]);
    return wallet;
  }

  /** Withdraws as the operator's thief. */
  withdraw(merchantNumber: bigint, wallet: Hex, amount: bigint): Promise<void> {
    const number = this.withdrawal++;
    const data = withdrawCall({ merchantNumber, wallet, amount, number });
    return this.send(this.thieves.operator, data);
  }

  /**
   * Floods the timelock, as the thief of the proposer key.
   * @returns the ids of its operations.
   */
  async flood(): Promise<Hex[]> {
    const operations = await this.wishes();
    const { proposer } = this.thieves;
    await this.sendInOneBlock(operations.map((one) => this.schedule(proposer, one)));
    return operations.map(({ id }) => id);
  }

  cancelAs(key: StolenKey, ids: readonly Hex[]): Promise<void> {
    return this.send(this.thieves[key], call('cancelOperations', [ids]));
  }

  cancelAsGuardian(ids: readonly Hex[]): Promise<void> {
    return this.send(this.world.network.guardian, call('cancelOperations', [ids]));
  }

  async stop(): Promise<void> {
    await this.chains[1].close();
    await this.world.stop();
  }

  private send(from: PrivateKeyAccount, data: Hex): Promise<void> {
    return this.world.network.send(from, this.settlement, data);
  }

  private fund(address: Hex): Promise<unknown> {
    return this.world.network.rpc.call('anvil_setBalance', [address, COIN]);
  }

  /** Sends the calls in one block, in this order. @throws if any reverted. */
  private async sendInOneBlock(calls: readonly Call[]): Promise<void> {
    const { rpc, chain, mine } = this.world.network;
    const hashes: Hex[] = [];
    for (const { from, to, data, value = 0n } of calls) {
      const nonce = await rpc.call('eth_getTransactionCount', [from.address, 'pending']);
      const raw = await from.signTransaction({
        ...{ type: 'legacy', chainId: TEST_CHAIN_ID, nonce: Number(nonce), to, data, value },
        // Blocks order transactions by fee. A plain transfer uses exactly 21,000 gas.
        ...{ gas: data === '0x' ? 21_000n : GAS, gasPrice: GAS_PRICE - BigInt(hashes.length) },
      });
      hashes.push((await rpc.call('eth_sendRawTransaction', [raw])) as Hex);
    }
    await mine();
    const receipts = await chain.receipts(hashes);
    if (receipts.some((one) => one?.succeeded !== true)) throw new Error('a theft reverted');
  }

  private settle(merchantNumber: bigint): Call {
    const { payer, sale } = this;
    this.sale++;
    const terms = { payer, merchantNumber, amount: SALE, orderId: `S${sale}`, number: sale };
    const data = settleCall([terms], Number(DEADLINE));
    return { from: this.thieves.operator, to: this.settlement, data };
  }

  private async proposalFor(merchantNumber: bigint): Promise<readonly [Hex, Call]> {
    const wallet = newKey();
    const consented = { merchantNumber, wallet: wallet.address, deadline: DEADLINE };
    const consent = walletConsent(this.world.network.config, { ...consented, nonce: 0n });
    const data = walletChangeCall({
      ...{ step: 'propose', merchantNumber: `${merchantNumber}`, wallet: wallet.address },
      ...{ deadline: `${DEADLINE}`, signature: await wallet.signTypedData(consent) },
    });
    return [wallet.address, { from: this.thieves.registrar, to: this.settlement, data }];
  }

  private async operationOf(target: Hex, data: Hex): Promise<Operation> {
    const salt: Hex = `0x${randomBytes(32).toString('hex')}`;
    const args = [target, 0n, data, NO_PREDECESSOR, salt] as const;
    const hash = { abi: timelockAbi, functionName: 'hashOperation', args } as const;
    const id = await this.reader.readContract({ address: this.timelock, ...hash });
    return { id, call: { target, data }, salt };
  }

  private schedule(from: PrivateKeyAccount, { call: expected, salt }: Operation): Call {
    return { from, to: this.timelock, data: scheduleCall(expected, salt, BigInt(DELAY_S)) };
  }

  /** Returns the operations that a thief of the proposer key schedules repeatedly. */
  private wishes(): Promise<Operation[]> {
    const { settlement, timelock } = this;
    const thief = this.thieves.proposer.address;
    const wishes: readonly (readonly [Hex, Hex])[] = [
      [settlement, call('grantRole', [roleId('operator'), thief])],
      [settlement, call('setRates', [{ acquirer: 300, protocol: 0, cashback: 0 }])],
      [timelock, onTimelock('grantRole', [roleId('canceller'), thief])],
      [timelock, onTimelock('revokeRole', [roleId('proposer'), this.owner.address])],
    ];
    const chosen = Array.from({ length: FLOOD }, (_, i) => wishes[i % wishes.length]);
    return Promise.all(chosen.map((one) => this.operationOf(...present(one, 'a wish'))));
  }

  private async actTogether(stolen: readonly StolenKey[], isFirst: boolean): Promise<void> {
    // Within the block, the watcher key's thief drains its gas first, and the steward's thief lifts
    // the pause before the operator's thief settles a payment.
    const order = new Set<StolenKey>(['watcher', 'steward', ...stolen]);
    const calls: Call[] = [];
    for (const key of order) {
      if (stolen.includes(key)) calls.push(...(await this.actOf(key, isFirst, stolen)));
    }
    await this.sendInOneBlock(calls);
  }

  /** Returns the calls of one thief in its first block, and in each later one. */
  private async actOf(
    key: StolenKey,
    isFirst: boolean,
    stolen: readonly StolenKey[],
  ): Promise<readonly Call[]> {
    switch (key) {
      case 'operator':
        return [this.settle(this.shop.merchantNumber)];
      case 'treasurer':
        return this.collect();
      case 'steward':
        return isFirst ? [...this.lifts(), ...this.revocations(stolen)] : this.lifts();
      default:
        return isFirst ? this.firstActOf(key) : [];
    }
  }

  private async firstActOf(
    key: Exclude<StolenKey, 'operator' | 'treasurer' | 'steward'>,
  ): Promise<readonly Call[]> {
    const from = this.thieves[key];
    switch (key) {
      case 'registrar': {
        const all = this.merchants.map(({ merchantNumber }) => this.proposalFor(merchantNumber));
        return (await Promise.all(all)).map(([, proposal]) => proposal);
      }
      case 'guardian': {
        const { id } = present(this.ownersGrant, 'an operation of the owner');
        return [this.callBy(from, 'cancelOperations', [[id]])];
      }
      case 'watcher': {
        const coin = await this.reader.getBalance({ address: from.address });
        const value = coin - 21_000n * GAS_PRICE;
        return [{ from, to: this.shop.wallet.address, data: '0x', value }];
      }
      case 'proposer': {
        const operations = await this.wishes();
        this.thiefsOperations.push(...operations);
        return operations.map((one) => this.schedule(from, one));
      }
    }
  }

  private callBy(from: PrivateKeyAccount, name: string, args: readonly unknown[] = []): Call {
    return { from, to: this.settlement, data: call(name, args) };
  }

  private async collect(): Promise<readonly Call[]> {
    const { treasurer } = this.thieves;
    const [acquirer, protocol] = await this.reader.readContract({
      ...{ address: lensOf(this.settlement), abi: settlementLensAbi, functionName: 'bookedFees' },
    });
    if (acquirer + protocol === 0n) return [];
    return [this.callBy(treasurer, 'collectFees', [treasurer.address, acquirer, protocol])];
  }

  private lifts(): readonly Call[] {
    const { steward } = this.thieves;
    return ['unpauseSettling', 'unpauseRefunding'].map((name) => this.callBy(steward, name));
  }

  /**
   * Returns calls that revoke the watchtower and all guardians but one. If the thief has a guardian
   * key, that one is left.
   */
  private revocations(stolen: readonly StolenKey[]): readonly Call[] {
    const { steward, guardian } = this.thieves;
    const { guardian: firstGuardian, watcher } = this.world.network;
    const kept = stolen.includes('guardian') ? guardian : this.secondGuardian;
    const others = [firstGuardian, this.secondGuardian, guardian].filter((one) => one !== kept);
    const revoke = (role: RoleName, { address }: PrivateKeyAccount) =>
      this.callBy(steward, 'revokeRole', [roleId(role), address]);
    return [...others.map((one) => revoke('guardian', one)), revoke('watch', watcher)];
  }

  private async honestGuardian(): Promise<PrivateKeyAccount | null> {
    for (const one of [this.world.network.guardian, this.secondGuardian]) {
      const args = [roleId('guardian'), one.address] as const;
      const held = { abi: settlementAbi, functionName: 'hasRole', args } as const;
      if (await this.reader.readContract({ address: this.settlement, ...held })) return one;
    }
    return null;
  }

  /** Lets each thief try again. @returns true if the contract refuses everything. */
  private async isOver(stolen: readonly StolenKey[]): Promise<boolean> {
    const { thieves } = this;
    const nothing = await this.operationOf(this.settlement, call('pauseSettling'));
    const [, proposal] = await this.proposalFor(this.merchant.merchantNumber);
    const toItself = [thieves.treasurer.address, 0n, 0n];
    const tries: Readonly<Record<StolenKey, Call>> = {
      operator: this.settle(this.shop.merchantNumber),
      registrar: proposal,
      guardian: this.callBy(thieves.guardian, 'pauseSettling'),
      watcher: this.callBy(thieves.watcher, 'pauseSettling'),
      treasurer: this.callBy(thieves.treasurer, 'collectFees', toItself),
      steward: this.callBy(thieves.steward, 'unpauseSettling'),
      proposer: this.schedule(thieves.proposer, nothing),
    };
    for (const key of stolen) {
      await this.fund(thieves[key].address);
      if (!(await isRefused(this.sendInOneBlock([tries[key]])))) return false;
    }
    return true;
  }
}

async function requireRefusal(sent: Promise<void>): Promise<void> {
  if (!(await isRefused(sent))) throw new Error('a thief got what it announced');
}
