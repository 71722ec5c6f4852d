import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  concat,
  createTestClient,
  createWalletClient,
  encodeDeployData,
  http,
  keccak256,
  numberToHex,
  parseEther,
  publicActions,
  toHex,
  zeroAddress,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { silentLog } from '#observability/log.ts';
import { CREATE2_FACTORY, newKey } from '#ops/deploy-contract.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { type RoleName, roleId } from '#settlement/contract/contract-roles.ts';
import { timelockOf } from '#settlement/contract/timelock-calls.ts';
import {
  gasOfContract,
  NETWORK_DEFAULTS,
  type NetworkSettings,
} from '#settlement/network-config.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import { spawnMain, temporaryDataDir } from '#testkit/network/spawn-network.ts';
import { startThrowawayChain, type ThrowawayChain } from '#testkit/network/throwaway-chain.ts';
import { settlementAbi, settlementBytecode } from '../../contracts/artifacts/Settlement.ts';
import { testUsdcAbi, testUsdcBytecode } from '../../contracts/artifacts/TestUSDC.ts';
import { timelockAbi } from '../../contracts/artifacts/Timelock.ts';
import {
  deployFiatToken,
  FIAT_TOKEN_MISSING,
  withoutBytesSignatures,
} from '../../contracts/test/fiat-token.ts';

/**
 * The real command, with which the tests check that faulty deployments are refused
 * (docs/operate.md, section 2).
 */

const COMMAND = path.join(import.meta.dirname, 'chain-command.ts');
const CHAIN_ID = 31_510;
const PAYING = newKey();
const PROXY_ADMIN = newKey();
const SPARE = [newKey().address, newKey().address].join(',');

describe('npm run chain -- deploy', () => {
  let chain: ThrowawayChain;
  let usdc: Hex;

  before(async () => {
    chain = await startThrowawayChain({ chainId: CHAIN_ID, blockTime: 'automine' });
    for (const { address } of [PAYING, PROXY_ADMIN]) {
      const params = [address, numberToHex(parseEther('10'))] as never;
      await walletOf(PAYING.key).request({ method: 'anvil_setBalance' as never, params });
    }
    const args = [PAYING.address] as const;
    usdc = await send(
      PAYING.key,
      null,
      encodeDeployData({ abi: testUsdcAbi, bytecode: testUsdcBytecode, args }),
    );
  });

  after(() => chain?.stop());

  function walletOf(key: Hex) {
    const account = privateKeyToAccount(key);
    const options = { account, transport: http(chain.rpcUrl), pollingInterval: 20 };
    return createWalletClient(options).extend(publicActions);
  }

  async function send(key: Hex, to: Hex | null, data: Hex): Promise<Hex> {
    const wallet = walletOf(key);
    const hash = await wallet.sendTransaction({ chain: null, to, data });
    const receipt = await wallet.waitForTransactionReceipt({ hash });
    assert.equal(receipt.status, 'success');
    return receipt.contractAddress ?? '0x';
  }

  /** Returns a correct deployment, except that its token is not Circle's. */
  function inOrder(): Record<string, string> {
    return {
      network: 'testnet',
      'rpc-url': chain.rpcUrl,
      usdc,
      proposers: `${newKey().address},${newKey().address}`,
      steward: newKey().address,
      guardians: `${newKey().address},${newKey().address}`,
      treasurer: newKey().address,
      registrar: newKey().address,
      operators: `${newKey().address},${SPARE}`,
      'hourly-ceiling': '1000',
    };
  }

  const NAMED = { 'usdc-name': 'Test USD Coin', 'usdc-version': '1' };

  const deploy = (options: Record<string, string>, ...switches: string[]) =>
    run('deploy', options, ...switches);

  function run(
    command: string,
    options: Record<string, string>,
    ...switches: string[]
  ): Promise<{ code: number; out: string }> {
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
    return new Promise((resolve) => {
      const all = [COMMAND, command, ...args, ...switches];
      const child = execFile(process.execPath, all, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : 1, out: stdout + stderr });
      });
      child.stdin?.end(PAYING.key);
    });
  }

  async function refusal(other: Record<string, string>, ...switches: string[]): Promise<string> {
    const before = await nonce();
    const { code, out } = await deploy({ ...inOrder(), ...other }, ...switches);
    assert.equal(code, 1, out);
    assert.equal(await nonce(), before, 'nothing was sent');
    return out;
  }

  const nonce = () => walletOf(PAYING.key).getTransactionCount({ address: PAYING.address });

  it('enforces the minimum delays and addresses of a network with real money', async () => {
    const one = newKey().address;
    const cases: readonly [Record<string, string>, RegExp][] = [
      [{ 'wallet-delay-hours': '23' }, /wallet-delay-hours must be at least 24/],
      [{ 'payout-hold-hours': '23' }, /payout-hold-hours must be at least 24/],
      [{ operators: SPARE }, /operators needs 3 addresses or more/],
      [{ 'governance-delay-hours': '47' }, /governance-delay-hours must be at least 48/],
      [{ guardians: one }, /guardians needs 2 addresses or more/],
      [
        { steward: one, guardians: `${SPARE},${one}` },
        /each role and each operator needs its own address/,
      ],
      [
        { registrar: one, operators: `${newKey().address},${newKey().address},${one}` },
        /each role and each operator needs its own address/,
      ],
      [{ proposers: one, watchers: one }, /each role and each operator needs its own address/],
      [{ watchers: '0x12' }, /--watchers must be a \(correctly checksummed\) EVM address/],
    ];
    for (const [other, complaint] of cases) {
      assert.match(await refusal({ ...NAMED, ...other }), complaint);
    }
  });

  it("compares the token's name and version with what is expected", async () => {
    assert.match(await refusal({}), /calls itself "Test USD Coin", not "USD Coin" or "USDC"/);
    const name = { 'usdc-name': 'Test USD Coin' };
    assert.match(await refusal(name), /has the version "1", not "2"/);
    const other = { 'usdc-name': 'USD Coin' };
    assert.match(await refusal(other, '--test-network'), /not "USD Coin": --usdc-name allows it/);
    assert.match(await refusal({ usdc: newKey().address }), /has no code/);
    const watchers = [newKey().address, newKey().address];
    const proposers = [newKey().address, newKey().address];
    const named = { watchers: watchers.join(','), proposers: proposers.join(',') };
    const { out } = await deploy({ ...inOrder(), ...NAMED, ...named });
    const settlement = /^CHAIN_TESTNET_SETTLEMENT=(0x.*)$/m.exec(out)?.[1] ?? out;
    for (const watcher of watchers) {
      const args = [keccak256(toHex('WATCH_ROLE')), watcher] as const;
      const call = { abi: settlementAbi, functionName: 'hasRole', args } as const;
      assert.ok(await walletOf(PAYING.key).readContract({ address: settlement as Hex, ...call }));
    }
    const timelock = timelockOf(settlement as Hex);
    const has = (role: RoleName, account: Hex) => {
      const args = [roleId(role), account] as const;
      const call = { address: timelock, abi: timelockAbi, functionName: 'hasRole', args } as const;
      return walletOf(PAYING.key).readContract(call);
    };
    for (const proposer of proposers) {
      assert.equal(await has('proposer', proposer), true);
      assert.equal(await has('canceller', proposer), false, 'guardians alone cancel');
    }
    assert.equal(await has('canceller', settlement as Hex), true);
    // This address has code but is not a token.
    assert.match(await refusal({ usdc: settlement }), /has no decimals, not 6/);
  });

  it('creates the contract at the address that was computed before', async () => {
    const { network, 'rpc-url': rpcUrl, ...options } = inOrder();
    const told = async (more: Record<string, string>) => {
      const { out } = await run('address', { ...options, ...more });
      return /^settlement=(0x[0-9a-fA-F]{40})$/m.exec(out)?.[1] ?? assert.fail(out);
    };
    const target = { ...options, ...NAMED, network: network ?? '', 'rpc-url': rpcUrl ?? '' };
    const deployed = async (more: Record<string, string>) => {
      const { out } = await deploy({ ...target, ...more });
      const settlement = /^CHAIN_TESTNET_SETTLEMENT=(0x.*)$/m.exec(out)?.[1];
      const block = /^CHAIN_TESTNET_DEPLOYED_AT_BLOCK=(\d+)$/m.exec(out)?.[1];
      return { settlement: settlement ?? assert.fail(out), block: Number(block) };
    };
    const expected = await told({});
    const first = await deployed({});
    assert.equal(first.settlement, expected);
    const steps = 3n;
    const newest = await walletOf(PAYING.key).getBlockNumber();
    assert.equal(BigInt(first.block), newest - steps + 1n, 'the block of the first step');
    const after = await nonce();
    assert.deepEqual(await deployed({}), first, 'a second call finds it, and the block it came in');
    assert.equal(await nonce(), after, 'and sends nothing');
    const salted = await told({ salt: '7' });
    const second = await deployed({ salt: '7' });
    assert.equal(second.settlement, salted);
    const others = [salted, await told({ 'hourly-ceiling': '1001' }), await told({ salt: '8' })];
    assert.equal(new Set([expected, ...others]).size, 4, 'salt and arguments are part of it');
    assert.match((await run('address', { ...options, salt: '0x07' })).out, /--salt=0x07 must be/);
  });

  it('continues a deployment that was interrupted, and no service starts before', async () => {
    const { network: _network, 'rpc-url': _rpcUrl, ...options } = inOrder();
    Object.assign(options, { salt: '77' });
    const { out: told } = await run('address', options);
    const line = (name: string) =>
      (new RegExp(`^${name}=(0x[0-9a-fA-F]+)$`, 'm').exec(told)?.[1] ?? assert.fail(told)) as Hex;
    const code = concat([settlementBytecode, line('constructor_arguments')]);
    await send(PAYING.key, CREATE2_FACTORY, concat([line('salt'), code]));
    const settings: NetworkSettings = {
      ...NETWORK_DEFAULTS,
      ...({ network: 'testnet', livemode: false, chainId: CHAIN_ID, usdc } as const),
      ...{ rpcUrls: [chain.rpcUrl], settlement: line('settlement') },
      ...{ relayerKeys: [], registrarKey: null },
    };
    await assert.rejects(openChain(settings, silentLog), /the deployment is incomplete, so repeat/);
    const sent = await nonce();
    const { code: exit, out } = await deploy({ ...inOrder(), ...NAMED, ...options });
    assert.equal(exit, 0, out);
    assert.ok(out.includes(`CHAIN_TESTNET_SETTLEMENT=${line('settlement')}`), out);
    assert.equal(await nonce(), sent + 2, 'the lens and the timelock');
    for (const part of ['lens', 'timelock']) {
      assert.ok(await walletOf(PAYING.key).getCode({ address: line(part) }), part);
    }
    const opened = await openChain(settings, silentLog);
    const { settlement } = settings;
    assert.deepEqual(gasOfContract(opened.config, settlement), {
      pull: 350_000n,
      signature: 500_000n,
    });
    await opened.close();
  });

  it('names the factory that the chain lacks', async () => {
    const node = createTestClient({ mode: 'anvil', transport: http(chain.rpcUrl) });
    const code = await walletOf(PAYING.key).getCode({ address: CREATE2_FACTORY });
    await node.setCode({ address: CREATE2_FACTORY, bytecode: '0x' });
    try {
      assert.match(
        await refusal(NAMED),
        /no factory at 0x4e59b44847b379578588920cA78FbF26c0B4956C/,
      );
    } finally {
      await node.setCode({ address: CREATE2_FACTORY, bytecode: code ?? '0x' });
    }
  });

  it('accepts Circle’s token as it is, and rejects V2_1', {
    skip: FIAT_TOKEN_MISSING,
  }, async () => {
    const { address } = PAYING;
    const roles = { owner: address, minter: address, pauser: address, blacklister: address };
    const sending = {
      deploy: (data: Hex) => send(PROXY_ADMIN.key, null, data),
      call: (to: Hex, data: Hex) => send(PAYING.key, to, data),
    };
    const real = await deployFiatToken(sending, roles);
    const { code, out } = await deploy({ ...inOrder(), usdc: real });
    assert.equal(code, 0, out);
    assert.match(out, /settles in "USD Coin", version 2, of 6 decimals/);
    const former = await deployFiatToken(sending, roles, withoutBytesSignatures);
    const complaint = /no permit that takes a signature as bytes.*V2_2 has one, V2_1 does not/;
    assert.match(await refusal({ usdc: former }), complaint);
    // A test network accepts any token name, but still refuses a token that the contract cannot
    // use.
    assert.match(await refusal({ usdc: former }, '--test-network'), complaint);
  });

  it('rejects the zero address as the holder of a role', async () => {
    for (const role of ['steward', 'treasurer', 'registrar']) {
      await refusal({ ...NAMED, [role]: zeroAddress });
    }
    await refusal({ ...NAMED, operators: `${zeroAddress},${SPARE}` });
    await refusal({ ...NAMED, guardians: `${zeroAddress},${newKey().address}` });
  });

  it('lifts the minimums for a test network; production refuses such a contract', async () => {
    const lax = { 'wallet-delay-hours': '1', 'payout-hold-hours': '0' };
    const { code, out } = await deploy({ ...inOrder(), ...lax }, '--test-network');
    assert.equal(code, 0, out);
    const settlement = /^CHAIN_TESTNET_SETTLEMENT=(0x.*)$/m.exec(out)?.[1] ?? '';
    const folder = await temporaryDataDir();
    const database = await testDatabase(2);
    const ofChain = (prefix: string) => ({
      [`${prefix}RPC_URL`]: chain.rpcUrl,
      [`${prefix}CHAIN_ID`]: String(CHAIN_ID),
      [`${prefix}USDC`]: usdc,
      [`${prefix}SETTLEMENT`]: settlement,
      [`${prefix}RELAYER_KEYS`]: newKey().key,
      [`${prefix}REGISTRAR_KEY`]: newKey().key,
    });
    const { child, logs } = spawnMain({
      dataDir: folder.path,
      env: {
        NODE_ENV: 'production',
        DATABASE_URL: database.url,
        DATABASE_DURABILITY: 'single',
        TAPLINE_SECRET: randomBytes(32).toString('hex'),
        TAPLINE_PUBLIC_URL: 'https://pay.tapline.test',
        SMTP_URL: 'smtp://127.0.0.1:1',
        ...ofChain('CHAIN_TESTNET_'),
        ...ofChain('CHAIN_MAINNET_'),
      },
    });
    const [exit] = (await once(child, 'close')) as [number | null];
    await Promise.all([database.close(), folder.remove()]);
    assert.equal(exit, 1, logs());
    const target =
      /WALLET_DELAY of the settlement contract of \w+ is 3600 s; production needs 86400 s/;
    assert.match(logs(), target);
  });
});
