import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import {
  type Abi,
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  formatUnits,
  http,
} from 'viem';
import { StartError } from '#core/start-error.ts';
import {
  CONTRACT_ACTIONS,
  type ContractCall,
  type ContractView,
  type Options,
} from '#ops/contract-actions.ts';
import { readAddress } from '#ops/deploy-contract.ts';
import {
  describeOperations,
  describePending,
  describeWalletChanges,
  readOperations,
} from '#ops/pending-contract-operations.ts';
import { readSecret } from '#ops/read-secret.ts';
import { plainFetch } from '#outgoing/plain-fetch.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import { timelockOf } from '#settlement/contract/timelock-calls.ts';
import { readRemoteKey, type SigningKey, signerOf } from '#settlement/remote-signer.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { settlementLensAbi } from '../../contracts/artifacts/SettlementLens.ts';
import { timelockAbi } from '../../contracts/artifacts/Timelock.ts';

/**
 * Help text of the commands for a deployed contract. They exist because an emergency leaves no time
 * to read an ABI.
 */
export const CONTRACT_USAGE = `  status|operations|wallet-changes|pause|unpause|grant|revoke|rates|
  ceiling|restore-ceiling|cancel|cancel-wallet|drop-wallet-changes|collect|hold
    --rpc-url <url> --settlement <address>, or --network testnet|mainnet, from the settings
    pause, unpause          --only settling|refunding, default both
    grant, revoke           --role operator|registrar|guardian|watch|steward|treasurer|proposer
                            --account <address> (revoke: at once, by the steward; grant, and
                            revoke of a steward or proposer, wait in the timelock)
    rates                   --rates <acquirer>,<protocol>,<cashback>: waits in the timelock
    ceiling                 --usdc-per-hour <USDC>: lower at once, higher waits in the timelock
                            (for those that wait: run the command to schedule, and again to execute)
    restore-ceiling         --usdc-per-hour <USDC>, default the last one approved: at once
    operations              shows the operations of the timelock, by id
    cancel                  --operation <id>,<id>,… or --all: cancels operations
    wallet-changes          shows every settlement wallet that is announced
    cancel-wallet           --merchant <number>: drops the announced one
    drop-wallet-changes     drops all that are announced now; --registrar <address>: its own
    collect                 --to <address>: all booked fees
    hold                    --merchant <number> --until <time>
    --key-file <path>       the private key; default: asked for, or read from a pipe
    --signer https://<signer>/<address>   the signer that keeps the key; asks for its token
    --unsigned --from <address>   prints the transaction for another wallet and sends nothing
    --yes                   sends without asking`;

const TEXTS = [
  ...['network', 'rpc-url', 'settlement', 'only', 'role', 'account', 'rates', 'usdc-per-hour'],
  ...['to', 'merchant', 'until', 'key-file', 'signer', 'from', 'operation', 'registrar'],
];
const SWITCHES = ['yes', 'unsigned', 'all'];
const HEX_KEY = /^0x[0-9a-f]{64}$/i;
/** Time limit for a receipt: on a busy public chain, a transaction may take this long. */
const RECEIPT_TIMEOUT_MS = 180_000;
const POLL_MS = 500;
const ANYONE_LATER = 'anyone, once the delay has passed';
/** Atoms of one USDC. */
const ATOMS = 1_000_000n;

type Reader = ReturnType<typeof createPublicClient>;
type Action = keyof typeof CONTRACT_ACTIONS;

function isAction(name: string): name is Action {
  return Object.hasOwn(CONTRACT_ACTIONS, name);
}

/** Commands that only read. */
const LOOKS = {
  status: printStatus,
  operations: async (deployment: Deployment) =>
    printLines(await describeOperations(deployment), 'no operation is scheduled'),
  'wallet-changes': async (deployment: Deployment) =>
    printLines(await describeWalletChanges(deployment), 'no wallet is announced'),
} as const;

function isLook(name: string): name is keyof typeof LOOKS {
  return Object.hasOwn(LOOKS, name);
}

export function isContractCommand(name: string | undefined): name is string {
  return name !== undefined && (isLook(name) || isAction(name));
}

/** @throws StartError with the problem, before anything is sent. */
export async function runContractCommand(name: string, args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  const setting = (option: string, unset: string) => {
    const value = options[option] ?? process.env[`CHAIN_${networkOf(options)}_${unset}`];
    return typeof value === 'string' ? value : undefined;
  };
  const rpcUrl = setting('rpc-url', 'RPC_URL')?.split(',')[0];
  if (rpcUrl === undefined) throw new StartError('--rpc-url or --network is required');
  const settlement = readAddress(setting('settlement', 'SETTLEMENT'), 'settlement');
  const reader = createPublicClient({
    transport: http(rpcUrl, { fetchFn: plainFetch }),
    pollingInterval: POLL_MS,
  });
  const deployment = { reader, settlement, rpcUrl };
  if (isLook(name)) return LOOKS[name](deployment);
  if (!isAction(name)) throw new StartError(`unknown command: ${name}`);
  const calls = await CONTRACT_ACTIONS[name](options, await readView(deployment));
  if (options.unsigned === true) return printUnsigned(deployment, calls, options);
  return sendAll(deployment, calls, options);
}

interface Deployment {
  readonly reader: Reader;
  readonly settlement: Hex;
  readonly rpcUrl: string;
}

function readOptions(args: readonly string[]): Options {
  const typed = (names: readonly string[], type: 'string' | 'boolean') =>
    names.map((one) => [one, { type }] as const);
  const options = Object.fromEntries([...typed(TEXTS, 'string'), ...typed(SWITCHES, 'boolean')]);
  try {
    return parseArgs({ args: [...args], options }).values as Options;
  } catch (cause) {
    throw new StartError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function networkOf(options: Options): string {
  const { network } = options;
  if (network === undefined) return '';
  if (network === 'testnet' || network === 'mainnet') return network.toUpperCase();
  throw new StartError('--network must be testnet or mainnet');
}

async function readView({ reader, settlement }: Deployment): Promise<ContractView> {
  const contract = { address: settlement, abi: settlementAbi } as const;
  const lens = { address: lensOf(settlement), abi: settlementLensAbi } as const;
  const [ceiling] = await reader.readContract({ ...lens, functionName: 'ceiling' });
  const [acquirer, protocol] = await reader.readContract({ ...lens, functionName: 'bookedFees' });
  return {
    ceiling: Number(ceiling / ATOMS),
    bookedFees: { acquirer, protocol },
    settlement,
    timelock: timelockOf(settlement),
    delay: () =>
      reader.readContract({
        ...{ address: timelockOf(settlement), abi: timelockAbi, functionName: 'getMinDelay' },
      }),
    operations: async () => {
      const { operations, complete } = await readOperations({ reader, settlement });
      if (!complete) console.error('the node did not list all scheduled operations');
      return operations;
    },
    encode: (on, functionName, args) => {
      const { to: target, data } = requestOf(settlement, { on, functionName, args });
      return { target, data };
    },
    approvedCeiling: () => reader.readContract({ ...contract, functionName: 'approvedCeiling' }),
    walletChange: async (merchant) => {
      const call = { ...contract, functionName: 'walletChange', args: [merchant] } as const;
      const [to, applicableAt, proposer] = await reader.readContract(call);
      return applicableAt === 0 ? null : { to, applicableAt, proposer };
    },
  };
}

function printLines(lines: readonly string[], none: string): void {
  for (const line of lines.length === 0 ? [none] : lines) console.log(line);
}

async function printStatus(deployment: Deployment): Promise<void> {
  const { reader, settlement } = deployment;
  const lens = { address: lensOf(settlement), abi: settlementLensAbi } as const;
  const read = <T>(functionName: string) =>
    reader.readContract({ address: settlement, abi: settlementAbi as Abi, functionName }) as T;
  const see = <T>(functionName: string) =>
    reader.readContract({ ...lens, abi: settlementLensAbi as Abi, functionName }) as T;
  const [perHour, settled] = await reader.readContract({ ...lens, functionName: 'ceiling' });
  const [leaves, paid] = await reader.readContract({ ...lens, functionName: 'outflow' });
  const rates = await reader.readContract({ ...lens, functionName: 'rates' });
  const [acquirer, protocol] = await reader.readContract({ ...lens, functionName: 'bookedFees' });
  const stopped = (paused: boolean) => (paused ? 'paused' : 'running');
  const inUsdc = (atoms: bigint) => `${formatUnits(atoms, 6)} USDC`;
  const lines = {
    contract: settlement,
    token: await read<Hex>('TOKEN'),
    settling: stopped(await see<boolean>('settlingPaused')),
    refunding: stopped(await see<boolean>('refundingPaused')),
    ceiling: `${inUsdc(perHour)} per hour; ${inUsdc(settled)} in this hour`,
    refunds: `${inUsdc(leaves)} per hour; ${inUsdc(paid)} in this hour`,
    'restorable ceiling': `${await read<number>('approvedCeiling')} USDC per hour`,
    rates: `${rates.acquirer}, ${rates.protocol}, ${rates.cashback} basis points`,
    'booked fees': `${inUsdc(acquirer)} acquirer, ${inUsdc(protocol)} protocol`,
    timelock: await read<Hex>('timelock'),
    merchants: await read<number>('merchantCount'),
    batches: await see<number>('batchCount'),
  };
  const all = [...Object.entries(lines), ...(await describePending(deployment))];
  for (const [name, value] of all) console.log(`${name}: ${value}`);
}

function placeOf(settlement: Hex, on: ContractCall['on']): { readonly to: Hex; readonly abi: Abi } {
  return on === 'settlement'
    ? { to: settlement, abi: settlementAbi }
    : { to: timelockOf(settlement), abi: timelockAbi };
}

function requestOf(
  settlement: Hex,
  { on, functionName, args }: Pick<ContractCall, 'on' | 'functionName' | 'args'>,
) {
  const { to, abi } = placeOf(settlement, on);
  return { to, data: encodeFunctionData({ abi, functionName, args }) };
}

/** Simulates the call. @throws StartError if the contract would refuse it. */
async function requireAllowed(
  deployment: Deployment,
  call: ContractCall,
  from: Hex,
): Promise<void> {
  const { reader, settlement } = deployment;
  const { functionName, args } = call;
  const { to: address, abi } = placeOf(settlement, call.on);
  try {
    await reader.simulateContract({ address, abi, functionName, args, account: from });
  } catch (cause) {
    if (!(cause instanceof BaseError)) throw cause;
    const reverted = cause.walk((one) => one instanceof ContractFunctionRevertedError);
    const why =
      reverted instanceof ContractFunctionRevertedError
        ? (reverted.data?.errorName ?? reverted.shortMessage)
        : cause.shortMessage;
    throw new StartError(
      `nothing was sent: ${functionName} from ${from} would be refused (${why}); ` +
        `it may be sent by ${call.by === 'anyone' ? ANYONE_LATER : `the ${call.by}`}`,
      { cause },
    );
  }
}

async function printUnsigned(
  deployment: Deployment,
  calls: readonly ContractCall[],
  options: Options,
): Promise<void> {
  const chainId = await deployment.reader.getChainId();
  const { from } = options;
  for (const call of calls) {
    if (typeof from === 'string') await requireAllowed(deployment, call, readAddress(from, 'from'));
    console.error(`${call.says} (to be sent by the ${call.by})`);
    const { to, data } = requestOf(deployment.settlement, call);
    console.log(JSON.stringify({ chainId, to, value: '0', data }));
  }
}

async function readKey(options: Options): Promise<SigningKey> {
  const { signer } = options;
  if (typeof signer === 'string') {
    return readRemoteKey(signer, await readSecret('Token of the signer'), '--signer');
  }
  const path = options['key-file'];
  const text =
    typeof path === 'string' ? await readFile(path, 'utf8') : await readSecret('Private key');
  const key = text.trim();
  if (!HEX_KEY.test(key)) throw new StartError('the key must be 0x followed by 64 hex digits');
  return key as Hex;
}

async function requireYes(options: Options): Promise<void> {
  if (options.yes === true) return;
  if (!process.stdin.isTTY) {
    throw new StartError('nothing was sent: without a terminal, --yes is required');
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question('Type yes to send: ');
  lines.close();
  if (answer.trim() !== 'yes') throw new StartError('nothing was sent');
}

async function sendAll(
  deployment: Deployment,
  calls: readonly ContractCall[],
  options: Options,
): Promise<void> {
  const account = signerOf(await readKey(options));
  for (const call of calls) {
    console.log(call.says);
    await requireAllowed(deployment, call, account.address);
  }
  console.log(`contract ${deployment.settlement}, sent by ${account.address}`);
  await requireYes(options);
  const wallet = createWalletClient({
    account,
    transport: http(deployment.rpcUrl, { fetchFn: plainFetch }),
  });
  for (const call of calls) {
    const request = requestOf(deployment.settlement, call);
    const hash = await wallet.sendTransaction({ chain: null, ...request });
    console.log(`${call.functionName}: ${hash}`);
    const waiting = { hash, timeout: RECEIPT_TIMEOUT_MS };
    const receipt = await deployment.reader.waitForTransactionReceipt(waiting);
    if (receipt.status !== 'success') throw new StartError(`${hash} was reverted`);
    console.log(`done in block ${receipt.blockNumber}`);
  }
}
