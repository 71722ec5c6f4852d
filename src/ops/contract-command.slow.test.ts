import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import {
  createTestClient,
  createWalletClient,
  encodeDeployData,
  encodeFunctionData,
  http,
  keccak256,
  parseEther,
  publicActions,
  toHex,
} from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { deployContract, newKey } from '#ops/deploy-contract.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import {
  registerMerchantCall,
  settleCall,
  walletChangeCall,
  withdrawCall,
} from '#settlement/contract/contract-calls.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import { merchantConsent, walletConsent } from '#settlement/contract/signed-messages.ts';
import { timelockOf } from '#settlement/contract/timelock-calls.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { startRemoteSigner } from '#testkit/network/remote-signer.ts';
import { startThrowawayChain, type ThrowawayChain } from '#testkit/network/throwaway-chain.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { settlementLensAbi } from '../../contracts/artifacts/SettlementLens.ts';
import { testUsdcAbi, testUsdcBytecode } from '../../contracts/artifacts/TestUSDC.ts';
import { timelockAbi } from '../../contracts/artifacts/Timelock.ts';

/**
 * The real command, with which the tests rehearse "A key was stolen: key by key" of
 * docs/operate.md.
 */

const COMMAND = path.join(import.meta.dirname, 'chain-command.ts');
const DAY_SECONDS = 86_400;
/** After 72 hours, each delay of the contract has passed. */
const AFTERWARDS_SECONDS = 3 * DAY_SECONDS;
const HELD = 100_000_000n;
const SALE = 10_000_000n;
const PAYING = newKey();
const PROPOSER = newKey();
const OTHER_PROPOSER = newKey();
const STEWARD = newKey();
const GUARDIAN = newKey();
const OTHER_GUARDIAN = newKey();
const TREASURER = newKey();
const REGISTRAR = newKey();
const WATCHER = newKey();
const STOLEN = newKey();
const SPARE = newKey();
const LATER = newKey();
const OPERATOR_ROLE = keccak256(toHex('OPERATOR_ROLE'));

interface Theft {
  readonly stolen: { readonly address: Hex; readonly key: Hex };
  /** The thief's actions before the theft is noticed. */
  readonly act?: () => Promise<void>;
  readonly ended?: () => Promise<void>;
}

interface Row {
  /** The key's role, as the commands name it. */
  readonly key: string;
  readonly steps: readonly { readonly who: string; readonly command: string }[];
}

/** Parses the runbook's table in docs/operate.md. */
async function runbook(): Promise<Row[]> {
  const text = await readFile(path.join(import.meta.dirname, '../../docs/operate.md'), 'utf8');
  const [, table = ''] = text.split('| stolen key | step 1 | step 2 | step 3 |\n');
  const lines = table.split('\n\n')[0]?.split('\n').slice(1) ?? [];
  return lines.map((line) => {
    const [name = '', ...cells] = line.slice(1, -1).split('|');
    const [key = ''] = name.trim().split(' ');
    const steps = cells.map((cell) => {
      const [, who = '', command = ''] = /^ (\w+): `([^`]+)` $/.exec(cell) ?? [];
      return { who, command };
    });
    return { key: key === 'watcher' ? 'watch' : key, steps };
  });
}

describe('npm run chain, on a running contract', () => {
  let chain: ThrowawayChain;
  let settlement: Hex;
  let usdc: Hex;
  const folder = testFolder();

  const client = () =>
    createTestClient({
      mode: 'anvil',
      transport: http(chain.rpcUrl),
      cacheTime: 0,
      pollingInterval: 100,
    }).extend(publicActions);

  before(async () => {
    chain = await startThrowawayChain({ chainId: 31_500, blockTime: 'automine' });
    const senders = [PAYING, PROPOSER, OTHER_PROPOSER, STEWARD, GUARDIAN, OTHER_GUARDIAN];
    for (const { address } of [...senders, TREASURER, REGISTRAR, WATCHER]) {
      await client().setBalance({ address, value: parseEther('10') });
    }
    const args = [PAYING.address] as const;
    const data = encodeDeployData({ abi: testUsdcAbi, bytecode: testUsdcBytecode, args });
    const account = privateKeyToAccount(PAYING.key);
    const wallet = createWalletClient({ account, transport: http(chain.rpcUrl) });
    const hash = await wallet.sendTransaction({ chain: null, data });
    const { contractAddress } = await client().waitForTransactionReceipt({ hash });
    usdc = contractAddress as Hex;
    const deployed = await deployContract(
      {
        rpcUrl: chain.rpcUrl,
        usdc,
        proposers: [PROPOSER.address, OTHER_PROPOSER.address],
        steward: STEWARD.address,
        operators: [STOLEN.address, SPARE.address],
        registrar: REGISTRAR.address,
        guardians: [GUARDIAN.address, OTHER_GUARDIAN.address],
        watchers: [WATCHER.address],
        treasurer: TREASURER.address,
        walletDelay: DAY_SECONDS,
        payoutHold: DAY_SECONDS,
        hourlyCeiling: 1_000,
        rates: { acquirer: 30, protocol: 20, cashback: 5 },
      },
      PAYING.key,
    );
    settlement = deployed.settlement;
  });

  after(() => chain?.stop());

  function run(args: readonly string[], key = ''): Promise<{ code: number; out: string }> {
    const options = ['--rpc-url', chain.rpcUrl, '--settlement', settlement];
    const [command = '', ...rest] = args;
    return new Promise((resolve) => {
      const all = [COMMAND, command, ...options, ...rest];
      const child = execFile(process.execPath, all, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : 1, out: stdout + stderr });
      });
      child.stdin?.end(key);
    });
  }

  async function done(args: readonly string[], key: string): Promise<string> {
    const { code, out } = await run([...args, '--yes'], key);
    assert.equal(code, 0, out);
    assert.match(out, /0x[0-9a-f]{64}/, 'it shows the transaction');
    return out;
  }

  const isSeen = (name: string) =>
    settlementLensAbi.some((item) => 'name' in item && item.name === name);
  const read = <T>(functionName: string, args: readonly unknown[] = []) =>
    client().readContract({
      address: isSeen(functionName) ? lensOf(settlement) : settlement,
      abi: [...settlementAbi, ...settlementLensAbi] as never,
      functionName,
      args,
    } as never) as Promise<T>;
  const isOperator = (address: Hex) => read<boolean>('hasRole', [OPERATOR_ROLE, address]);

  async function sendAs(key: Hex, to: Hex, data: Hex): Promise<void> {
    const account = privateKeyToAccount(key);
    const wallet = createWalletClient({ account, transport: http(chain.rpcUrl) });
    const hash = await wallet.sendTransaction({ chain: null, to, data });
    const { status } = await client().waitForTransactionReceipt({ hash });
    assert.equal(status, 'success');
  }

  const sendAsRegistrar = (data: Hex) => sendAs(REGISTRAR.key, settlement, data);

  const place = () => ({
    ...{ chainId: 31_500, settlement },
    ...{ deployedAtBlock: 0n, formerSettlements: [] },
  });
  const inADay = async () => (await client().getBlock()).timestamp + BigInt(DAY_SECONDS);

  /** Registers merchant 1 with the registrar's key. */
  async function register(accountId: string): Promise<void> {
    const merchant = privateKeyToAccount(newKey().key);
    const terms = { accountId, wallet: merchant.address, deadline: await inADay() };
    const signature = await merchant.signTypedData(merchantConsent(place(), terms));
    const deadline = `${terms.deadline}`;
    await sendAsRegistrar(registerMerchantCall({ ...terms, deadline, signature }));
  }

  /** Proposes a wallet for merchant 1 with the registrar's key. */
  async function propose(to: PrivateKeyAccount, nonce: bigint): Promise<void> {
    const terms = { wallet: to.address, deadline: await inADay() };
    const consent = walletConsent(place(), { ...terms, merchantNumber: 1n, nonce });
    const signature = await to.signTypedData(consent);
    const deadline = `${terms.deadline}`;
    const change = { step: 'propose', merchantNumber: '1', signature } as const;
    await sendAsRegistrar(walletChangeCall({ ...terms, deadline, ...change }));
  }

  it('states what it will do, and sends nothing unless confirmed', async () => {
    const { code, out } = await run(['pause'], GUARDIAN.key);
    assert.equal(code, 1);
    assert.match(out, /settling stops[\s\S]*refunding stops[\s\S]*nothing was sent/);
    assert.equal(await read('settlingPaused'), false);
  });

  it('rejects a wrong key before it spends gas', async () => {
    const { code, out } = await run(['pause', '--yes'], TREASURER.key);
    assert.equal(code, 1);
    assert.match(out, /AccessControlUnauthorizedAccount.*it may be sent by the guardian/);
    assert.equal(await read('settlingPaused'), false);
  });

  it('minute by minute: pause, revoke the stolen key, continue with a spare one', async () => {
    await done(['pause'], GUARDIAN.key);
    assert.equal(await read('settlingPaused'), true);
    assert.equal(await read('refundingPaused'), true);
    assert.match((await run(['status'])).out, /settling: paused\nrefunding: paused/);
    await done(['revoke', '--role', 'operator', '--account', STOLEN.address], STEWARD.key);
    assert.equal(await isOperator(STOLEN.address), false);
    assert.equal(await isOperator(SPARE.address), true);
    const keyFile = path.join(folder, 'steward');
    await writeFile(keyFile, `${STEWARD.key}\n`, { mode: 0o600 });
    await done(['unpause', '--key-file', keyFile], '');
    assert.equal(await read('settlingPaused'), false);
    assert.match((await run(['status'])).out, /settling: running\nrefunding: running/);
  });

  describe('docs/operate.md, key by key: each step as documented', () => {
    const successor = newKey();
    const holders: Readonly<Record<string, { readonly key: Hex }>> = {
      guardian: OTHER_GUARDIAN,
      steward: STEWARD,
      proposer: OTHER_PROPOSER,
      treasurer: TREASURER,
    };
    const roleOf = (name: string) => keccak256(toHex(`${name.toUpperCase()}_ROLE`));
    const pauseAs = async ({ key }: { readonly key: Hex }) => void (await done(['pause'], key));
    const operations = async () => (await run(['operations'])).out;
    /** True for roles that belong to the timelock or are revoked through it. */
    const isDelayed = (key: string) => key === 'proposer' || key === 'steward';

    /**
     * Per stolen key: the key, the thief's first action, and a check at the end that the thief
     * gained nothing.
     */
    const thefts: Readonly<Record<string, Theft>> = {
      operator: { stolen: STOLEN },
      registrar: {
        stolen: REGISTRAR,
        act: async () => {
          await propose(privateKeyToAccount(newKey().key), 0n);
          assert.match((await run(['wallet-changes'])).out, /^merchant 1: /);
        },
        ended: async () => {
          assert.match((await run(['wallet-changes'])).out, /^no wallet is announced/);
        },
      },
      guardian: {
        stolen: GUARDIAN,
        act: async () => {
          await pauseAs(GUARDIAN);
          await done(['ceiling', '--usdc-per-hour', '0'], GUARDIAN.key);
        },
        ended: async () => assert.deepEqual(await read('ceiling'), [1_000_000_000n, SALE]),
      },
      watch: { stolen: WATCHER, act: () => pauseAs(WATCHER) },
      treasurer: { stolen: TREASURER },
      steward: {
        stolen: STEWARD,
        act: async () => {
          await done(['revoke', '--role', 'operator', '--account', STOLEN.address], STEWARD.key);
          await done(['revoke', '--role', 'guardian', '--account', GUARDIAN.address], STEWARD.key);
        },
      },
      proposer: {
        stolen: PROPOSER,
        act: async () => {
          await done(['grant', '--role', 'operator', '--account', STOLEN.address], PROPOSER.key);
          await done(['rates', '--rates', '300,0,0'], PROPOSER.key);
          const [first = '', second = ''] = (await operations()).split('\n');
          assert.match(first, new RegExp(`^0x[0-9a-f]{64}: ${STOLEN.address} becomes operator`));
          assert.match(second, /: Rates become 300, 0 and 0 basis points\. From 20/);
        },
        ended: async () => {
          const left = await operations();
          assert.ok(!left.includes(STOLEN.address) && !left.includes('Rates become'), left);
        },
      },
    };

    let untouched: Hex;
    beforeEach(async () => {
      untouched = await client().snapshot();
      await register('acct_shop');
      await sell();
    });
    afterEach(() => client().revert({ id: untouched }));

    const PAYER = newKey();
    const balances = async () => {
      const held = (owner: Hex) => {
        const view = { address: usdc, abi: testUsdcAbi, functionName: 'balanceOf' } as const;
        return client().readContract({ ...view, args: [owner] });
      };
      const thief = await Promise.all(
        Object.values(thefts).map(({ stolen }) => held(stolen.address)),
      );
      const [, merchant] = await read<readonly [Hex, bigint]>('merchantAccount', [1]);
      return { merchant, payer: await held(PAYER.address), thief };
    };
    const payment = (number: bigint, until: bigint) =>
      settleCall(
        [{ number, payer: PAYER.address, merchantNumber: 1n, amount: SALE, orderId: 'A' }],
        Number(until),
      );

    /** Has a payer with 100 USDC pay merchant 1. */
    async function sell(): Promise<void> {
      for (const { address } of [PAYER, SPARE]) {
        await client().setBalance({ address, value: parseEther('1') });
      }
      const token = (functionName: 'mint' | 'approve', to: Hex) =>
        encodeFunctionData({ abi: testUsdcAbi, functionName, args: [to, HELD] });
      const policy = {
        ...{ perPayment: Number(HELD), perPeriod: Number(HELD), periodSeconds: DAY_SECONDS },
        ...{ expiresAt: 4_000_000_000, maxFeeRate: 100 },
      };
      await sendAs(PAYER.key, usdc, token('mint', PAYER.address));
      await sendAs(PAYER.key, usdc, token('approve', settlement));
      const args = [policy] as const;
      const agree = encodeFunctionData({ abi: settlementAbi, functionName: 'setPolicy', args });
      await sendAs(PAYER.key, settlement, agree);
      await sendAs(SPARE.key, settlement, payment(1n, await inADay()));
      sold = await balances();
      assert.equal(sold.merchant, SALE);
      assert.ok(sold.payer < HELD - SALE, 'and the fees');
    }

    let sold: Awaited<ReturnType<typeof balances>>;

    /** Tries every function that pays out, with the stolen key. */
    async function takesNothing(thief: Hex): Promise<void> {
      const paid = { merchantNumber: 1n, wallet: thief, amount: SALE / 2n, number: 9n };
      const tries = [
        payment(2n, await inADay()),
        withdrawCall(paid),
        encodeFunctionData({ abi: settlementAbi, functionName: 'applyWallet', args: [1] }),
        encodeFunctionData({
          abi: settlementAbi,
          functionName: 'collectFees',
          args: [thief, 1n, 1n],
        }),
        encodeFunctionData({
          ...{ abi: settlementAbi, functionName: 'grantRole' },
          args: [OPERATOR_ROLE, STOLEN.address],
        }),
      ];
      for (const data of tries) {
        await assert.rejects(client().call({ account: thief, to: settlement, data }), data);
      }
      assert.deepEqual(await balances(), sold);
    }

    it('has a row for each role', async () => {
      const rows = await runbook();
      assert.deepEqual(rows.map(({ key }) => key).sort(), Object.keys(thefts).sort());
      for (const { steps } of rows) assert.equal(steps.length, 3);
    });

    for (const [key, { stolen, act, ended }] of Object.entries(thefts)) {
      it(key, async () => {
        await act?.();
        const row = (await runbook()).find((one) => one.key === key);
        for (const { who, command } of row?.steps ?? []) {
          const typed = command
            .replace('<stolen>', stolen.address)
            .replace('<new>', successor.address)
            .replace('<new operator>', newKey().address);
          await done(typed.split(' '), holders[who]?.key ?? '');
          if (typed === 'pause') assert.equal(await read('settlingPaused'), true);
        }
        await ended?.();
        const hasRole = () =>
          key === 'proposer'
            ? client().readContract({
                ...{ address: timelockOf(settlement), abi: timelockAbi, functionName: 'hasRole' },
                args: [roleOf(key), stolen.address],
              })
            : read<boolean>('hasRole', [roleOf(key), stolen.address]);
        if (!isDelayed(key)) assert.equal(await hasRole(), false);
        const isReplaced =
          row?.steps.some(
            ({ command }) => command.startsWith('grant --role') && command.endsWith('<new>'),
          ) ?? false;
        assert.equal((await operations()).includes(`${successor.address} becomes`), isReplaced);
        assert.equal(await read('settlingPaused'), false);
        await client().increaseTime({ seconds: AFTERWARDS_SECONDS });
        await client().mine({ blocks: 1 });
        if (isDelayed(key)) {
          // Any account may execute an operation once its delay has passed.
          const again = ['revoke', '--role', key, '--account', stolen.address];
          await done(again, TREASURER.key);
          assert.equal(await hasRole(), false);
        }
        await takesNothing(stolen.address);
      });
    }
  });

  it('pauses with the key of a watcher, which cannot unpause', async () => {
    await done(['pause'], WATCHER.key);
    assert.equal(await read('settlingPaused'), true);
    assert.match(
      (await run(['unpause', '--yes'], WATCHER.key)).out,
      /it may be sent by the steward/,
    );
    await done(['unpause'], STEWARD.key);
    assert.equal(await read('settlingPaused'), false);
  });

  it('pauses with the key of a guardian behind a signer, and can do no more', async () => {
    const chainId = await client().getChainId();
    const functions = ['pauseSettling', 'pauseRefunding'];
    const keys = [GUARDIAN.key];
    const signer = await startRemoteSigner({ keys, chainId, settlement, functions });
    const { url, address, token } = signer.key;
    const at = ['--signer', `${url}/${address}`];
    try {
      assert.match((await run(['pause', '--yes', ...at], 'x'.repeat(40))).out, /token/);
      assert.equal(await read('settlingPaused'), false);
      await done(['pause', ...at], token);
      assert.equal(await read('settlingPaused'), true);
      const lower = ['ceiling', '--usdc-per-hour', '900', '--yes', ...at];
      assert.match((await run(lower, token)).out, /not a function that this key may call/);
      await done(['unpause'], STEWARD.key);
    } finally {
      await signer.stop();
    }
  });

  it('lowers the ceiling at once and raises it through the timelock only', async () => {
    await done(['ceiling', '--usdc-per-hour', '500'], GUARDIAN.key);
    assert.deepEqual(await read('ceiling'), [500_000_000n, 0n]);
    const refunds = /\nrefunds: 500 USDC per hour; 0 USDC in this hour\n/;
    assert.match((await run(['status'])).out, refunds);
    const out = await done(['ceiling', '--usdc-per-hour', '2000'], PROPOSER.key);
    assert.match(out, /schedules: the ceiling becomes 2000 USDC per hour \(now 500\)/);
    assert.deepEqual(await read('ceiling'), [500_000_000n, 0n]);
  });

  it('grants in two steps, and rates and the ceiling wait for as long', async () => {
    const grant = ['grant', '--role', 'operator', '--account', LATER.address];
    const rates = ['rates', '--rates', '40,20,5'];
    await done(grant, PROPOSER.key);
    await done(rates, PROPOSER.key);
    const { out } = await run(['status']);
    const life = 'From 20\\S+Z to 20\\S+Z\\.\n';
    const listed = 'scheduled operations: 0x[0-9a-f]{64}: ';
    assert.match(out, new RegExp(`${listed}Up to 2000 USDC may settle per hour\\. ${life}`));
    assert.match(out, new RegExp(`${listed}Rates become 40, 20 and 5 basis points\\. ${life}`));
    assert.match(out, new RegExp(`${listed}${LATER.address} becomes operator\\. ${life}`));
    const early = await run([...grant, '--yes'], PROPOSER.key);
    assert.match(early.out, /TimelockUnexpectedOperationState.*it may be sent by anyone, once/);
    await client().increaseTime({ seconds: 2 * DAY_SECONDS });
    await client().mine({ blocks: 1 });
    await done(grant, PROPOSER.key);
    assert.equal(await isOperator(LATER.address), true);
    await done(rates, TREASURER.key);
    await done(['ceiling', '--usdc-per-hour', '2000'], TREASURER.key);
    assert.match((await run(['status'])).out, /scheduled operations: none\n/);
    assert.deepEqual(await read('rates'), { acquirer: 40, protocol: 20, cashback: 5 });
    // A stranger who executes an operation must not raise a ceiling that a guardian has lowered.
    assert.deepEqual(await read('ceiling'), [500_000_000n, 0n]);
  });

  it('restores a ceiling that was lowered, at once and no further', async () => {
    const far = ['restore-ceiling', '--usdc-per-hour', '2001', '--yes'];
    assert.match((await run(far, STEWARD.key)).out, /restored to at most 2000: a higher/);
    const out = await done(['restore-ceiling'], STEWARD.key);
    assert.match(out, /up to 2000 USDC settle per hour again, at once \(now 500\)/);
    assert.deepEqual(await read('ceiling'), [2_000_000_000n, 0n]);
  });

  it('revokes a guardian at once, and never the last one', async () => {
    const before = await client().snapshot();
    const revoke = (one: Hex) => ['revoke', '--role', 'guardian', '--account', one];
    await done(revoke(OTHER_GUARDIAN.address), STEWARD.key);
    assert.match((await run(['status'])).out, /guardians: 1\n/);
    const last = await run([...revoke(GUARDIAN.address), '--yes'], STEWARD.key);
    assert.match(last.out, /LastGuardianStays/);
    await client().revert({ id: before });
  });

  it("cancels scheduled operations, by id or all of them, with a guardian's key only", async () => {
    const grant = (one: Hex) => ['grant', '--role', 'guardian', '--account', one];
    const accounts = Array.from({ length: 3 }, () => newKey().address);
    for (const one of accounts) await done(grant(one), PROPOSER.key);
    const [id = ''] = (await run(['operations'])).out.split(':');
    const cancel = ['cancel', '--operation', id];
    assert.match(
      (await run([...cancel, '--yes'], PROPOSER.key)).out,
      /it may be sent by the guardian/,
    );
    assert.match((await run(['cancel', '--yes'], GUARDIAN.key)).out, /--all is needed/);
    await done(cancel, GUARDIAN.key);
    const left = (await run(['operations'])).out;
    assert.ok(!left.includes(id) && left.trim().split('\n').length === 2, left);
    await done(['cancel', '--all'], GUARDIAN.key);
    assert.match((await run(['operations'])).out, /^no operation is scheduled/);
  });

  it('holds the payouts of a merchant that the service does not know', async () => {
    const { timestamp } = await client().getBlock();
    await register('acct_thief');
    const until = Number(timestamp) + 20 * DAY_SECONDS;
    const time = new Date(until * 1000).toISOString();
    const hold = ['hold', '--merchant', '1', '--until', time];
    assert.match(await done(hold, GUARDIAN.key), /merchant 1 withdraws nothing before/);
    const [, , heldUntil] = await read<[Hex, bigint, number]>('merchantAccount', [1]);
    assert.equal(heldUntil, until);
    const early = await run([...hold.slice(0, -1), new Date(0).toISOString()], GUARDIAN.key);
    assert.match(early.out, /HoldNotExtended/);
  });

  it('lists proposed wallets, cancels one and drops them all', async () => {
    const thief = privateKeyToAccount(newKey().key);
    assert.match((await run(['wallet-changes'])).out, /^no wallet is announced/);
    const cancel = ['cancel-wallet', '--merchant', '1'];
    assert.match((await run([...cancel, '--yes'], GUARDIAN.key)).out, /no wallet is announced for/);
    await propose(thief, 0n);
    assert.match(
      (await run(['status'])).out,
      /announced wallets: merchant 1: 0x\w{40} → 0x\w{40} from 20\S+Z, by 0x/,
    );
    const { out } = await run(['wallet-changes']);
    assert.match(out, /^merchant 1: 0x\w{40} → 0x\w{40} from 20\S+Z, by 0x\w{40}\n$/);
    assert.ok(out.includes(`→ ${thief.address}`) && out.includes(`by ${REGISTRAR.address}`), out);
    assert.match(await done(cancel, GUARDIAN.key), /merchant 1 keeps its wallet/);
    await propose(thief, 1n);
    assert.match(await done(cancel, WATCHER.key), /merchant 1 keeps its wallet/);
    await propose(thief, 2n);
    await done(['drop-wallet-changes', '--registrar', REGISTRAR.address], WATCHER.key);
    await propose(thief, 3n);
    const all = await run(['drop-wallet-changes', '--yes'], WATCHER.key);
    assert.match(all.out, /AccessControlUnauthorizedAccount.*it may be sent by the guardian/);
    await done(['drop-wallet-changes'], GUARDIAN.key);
    await done(['revoke', '--role', 'watch', '--account', WATCHER.address], STEWARD.key);
    const late = await run(['pause', '--yes'], WATCHER.key);
    assert.match(
      late.out,
      /AccessControlUnauthorizedAccount.*it may be sent by the guardian or watcher/,
    );
    assert.match((await run(['wallet-changes'])).out, /^no wallet is announced/);
    assert.match((await run(['status'])).out, /announced wallets: none/);
  });

  it('collects for the treasurer, and refuses a hold of merchant 0', async () => {
    await done(['collect', '--to', TREASURER.address], TREASURER.key);
    const hold = ['hold', '--merchant', '9', '--until', '2030-01-01T00:00:00Z', '--yes'];
    const { code, out } = await run(hold, GUARDIAN.key);
    assert.equal(code, 1);
    assert.match(out, /holdPayouts from .* would be refused/);
  });

  it('prints a transaction for another wallet and needs no key for it', async () => {
    const from = GUARDIAN.address;
    const { code, out } = await run(['pause', '--only', 'settling', '--unsigned', '--from', from]);
    assert.equal(code, 0, out);
    const line = out.split('\n').find((one) => one.startsWith('{')) ?? '';
    const { chainId, to, data } = JSON.parse(line);
    assert.deepEqual({ chainId, to }, { chainId: 31_500, to: settlement });
    assert.equal(await read('settlingPaused'), false);
    await client().impersonateAccount({ address: from });
    const wallet = createWalletClient({ transport: http(chain.rpcUrl) });
    const hash = await wallet.sendTransaction({ account: from, chain: null, to, data });
    await client().waitForTransactionReceipt({ hash });
    assert.equal(await read('settlingPaused'), true);
  });
});
