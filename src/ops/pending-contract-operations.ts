import { type createPublicClient, parseEventLogs, type Hex as ViemHex } from 'viem';
import type { Hex } from '#settlement/chain-requests.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import {
  describeOperation,
  type OperationCall,
  timelockOf,
} from '#settlement/contract/timelock-calls.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { settlementLensAbi } from '../../contracts/artifacts/SettlementLens.ts';
import { timelockAbi } from '../../contracts/artifacts/Timelock.ts';

export interface DeployedContract {
  readonly reader: ReturnType<typeof createPublicClient>;
  readonly settlement: Hex;
}

/** An operation in the timelock that is not yet executed, canceled or expired. */
export interface Operation {
  readonly id: Hex;
  /** An operation scheduled by this service's commands has one call. */
  readonly calls: readonly OperationCall[];
  readonly predecessor: Hex;
  readonly salt: Hex;
  /** Unix seconds. From then on, any account may execute the operation. */
  readonly readyAt: number;
  /** Unix seconds. After that, the operation cannot be executed. */
  readonly lapsesAt: number;
}

/** Block range per request, because public nodes refuse larger ranges of `eth_getLogs`. */
const BLOCKS_PER_QUESTION = 2_000n;
/**
 * Maximum number of requests: enough for nine days of two-second blocks. If an operation may be
 * older, the output says so.
 */
const MAX_QUESTIONS = 200;
const NO_SALT: Hex = `0x${'00'.repeat(32)}`;

/**
 * Reads the timelock's events, from the newest block back to the oldest that may hold a valid
 * operation.
 */
async function readEvents({ reader, settlement }: DeployedContract) {
  const contract = { address: timelockOf(settlement), abi: timelockAbi } as const;
  const delay = await reader.readContract({ ...contract, functionName: 'getMinDelay' });
  const life = await reader.readContract({ ...contract, functionName: 'OPERATION_LIFE' });
  const most = await reader.readContract({ ...contract, functionName: 'MOST_DELAY' });
  const newest = await reader.getBlock();
  // An operation may have been scheduled when the delay was longer.
  const oldest = newest.timestamp - (delay > most ? delay : most) - life;
  const operations = [];
  let toBlock = newest.number;
  for (let questions = 0; questions < MAX_QUESTIONS; questions++) {
    const fromBlock = toBlock < BLOCKS_PER_QUESTION ? 0n : toBlock - BLOCKS_PER_QUESTION + 1n;
    const range = { address: contract.address, fromBlock, toBlock };
    const logs = await reader.getLogs(range).catch(() => null);
    if (logs === null) return { events: operations, life, complete: false };
    operations.push(...parseEventLogs({ abi: timelockAbi, logs }));
    const isLast =
      fromBlock === 0n || (await reader.getBlock({ blockNumber: fromBlock })).timestamp < oldest;
    if (isLast) return { events: operations, life, complete: true };
    toBlock = fromBlock - 1n;
  }
  return { events: operations, life, complete: false };
}

/**
 * Returns the waiting operations, oldest first. Only events contain the operations; the timelock
 * then confirms which ones are still waiting. `complete` is false if the node did not return all
 * events.
 */
export async function readOperations(
  deployed: DeployedContract,
): Promise<{ readonly operations: readonly Operation[]; readonly complete: boolean }> {
  const { reader, settlement } = deployed;
  const contract = { address: timelockOf(settlement), abi: timelockAbi } as const;
  const { events, life, complete } = await readEvents(deployed);
  const salts = new Map<ViemHex, Hex>();
  const calls = new Map<ViemHex, Map<bigint, OperationCall>>();
  const predecessors = new Map<ViemHex, Hex>();
  // The same id may have been scheduled twice, with the same calls.
  for (const { eventName, args } of events) {
    if (eventName === 'CallSalt') salts.set(args.id, args.salt);
    if (eventName !== 'CallScheduled') continue;
    const { id, index, target, data, predecessor } = args;
    const known = calls.get(id) ?? new Map<bigint, OperationCall>();
    calls.set(id, known.set(index, { target, data }));
    predecessors.set(id, predecessor);
  }
  const operations: Operation[] = [];
  for (const [id, own] of calls) {
    const args = [id] as const;
    const view = { ...contract, args } as const;
    const waits = await reader.readContract({ ...view, functionName: 'isOperationPending' });
    if (!waits) continue;
    const readyAt = await reader.readContract({ ...view, functionName: 'getTimestamp' });
    operations.push({
      id,
      calls: [...own].sort(([a], [b]) => Number(a - b)).map(([, call]) => call),
      predecessor: predecessors.get(id) ?? NO_SALT,
      salt: salts.get(id) ?? NO_SALT,
      readyAt: Number(readyAt),
      lapsesAt: Number(readyAt + life),
    });
  }
  return { operations: operations.sort((a, b) => a.readyAt - b.readyAt), complete };
}

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString();

function wordsOf(settlement: Hex, operation: Operation): string {
  const { id, calls, readyAt, lapsesAt } = operation;
  const says = calls.map((call) => describeOperation(settlement, call).says).join(' ');
  return `${id}: ${says} From ${timeOf(readyAt)} to ${timeOf(lapsesAt)}.`;
}

/** Number of merchants read per call, because nodes limit the gas of a call. */
const MERCHANTS_PER_CALL = 500;

async function readWalletChanges({ reader, settlement }: DeployedContract) {
  const contract = { address: settlement, abi: settlementAbi } as const;
  const lens = { address: lensOf(settlement), abi: settlementLensAbi } as const;
  const merchants = await reader.readContract({ ...contract, functionName: 'merchantCount' });
  const registered = [];
  for (let first = 1; first <= merchants; first += MERCHANTS_PER_CALL) {
    const args = [first, Math.min(first + MERCHANTS_PER_CALL - 1, merchants)] as const;
    const call = { ...lens, functionName: 'walletChanges', args } as const;
    registered.push(...(await reader.readContract(call)));
  }
  return registered;
}

/** Returns one line per proposed wallet: merchant, wallet, time and proposer. */
export async function describeWalletChanges(deployed: DeployedContract): Promise<string[]> {
  const changes = await readWalletChanges(deployed);
  return changes.map(
    ({ merchant, from, to, applicableAt, proposer }) =>
      `merchant ${merchant}: ${from} → ${to} from ${timeOf(applicableAt)}, by ${proposer}`,
  );
}

/** Returns one line per operation that waits in the timelock. */
export async function describeOperations(deployed: DeployedContract): Promise<string[]> {
  const { operations, complete } = await readOperations(deployed);
  const lines = operations.map((one) => wordsOf(deployed.settlement, one));
  const incomplete = 'incomplete: the node did not answer for all blocks';
  return complete ? lines : [incomplete, ...lines];
}

/**
 * Describes the changes that take effect unless a guardian stops them, each as a name and a line of
 * text.
 */
export async function describePending(deployed: DeployedContract): Promise<[string, string][]> {
  const { reader, settlement } = deployed;
  const contract = { address: settlement, abi: settlementAbi } as const;
  const guardians = await reader.readContract({ ...contract, functionName: 'guardians' });
  return [
    ['guardians', String(guardians)],
    ...listed('scheduled operations', await describeOperations(deployed)),
    ...listed('announced wallets', await describeWalletChanges(deployed)),
  ];
}

function listed(name: string, lines: readonly string[]): [string, string][] {
  return lines.length === 0 ? [[name, 'none']] : lines.map((line) => [name, line]);
}
