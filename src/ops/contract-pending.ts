import type { createPublicClient } from 'viem';
import { lensOf } from '#settlement/contract/lens.ts';
import { roleName } from '#settlement/contract/roles.ts';
import type { Hex } from '#settlement/requests.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { settlementLensAbi } from '../../contracts/artifacts/SettlementLens.ts';

type Reader = ReturnType<typeof createPublicClient>;

export interface DeployedContract {
  readonly reader: Reader;
  readonly settlement: Hex;
}

/** As many in one call: a node answers within its limits. */
const MERCHANTS_PER_CALL = 500;
/** Public nodes refuse more in one question for logs. */
const BLOCKS_PER_QUESTION = 2_000n;
/** At most: nine days of blocks of two seconds. The lines say when there was more. */
const MAX_QUESTIONS = 200;

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString();

/** Every wallet that waits, by merchant. */
async function readWalletChanges({ reader, settlement }: DeployedContract) {
  const contract = { address: settlement, abi: settlementAbi } as const;
  const lens = { address: lensOf(settlement), abi: settlementLensAbi } as const;
  const merchants = await reader.readContract({ ...contract, functionName: 'merchantCount' });
  const found = [];
  for (let first = 1; first <= merchants; first += MERCHANTS_PER_CALL) {
    const args = [first, Math.min(first + MERCHANTS_PER_CALL - 1, merchants)] as const;
    const call = { ...lens, functionName: 'walletChanges', args } as const;
    found.push(...(await reader.readContract(call)));
  }
  return found;
}

/** One line per wallet that is announced: for whom, what, from when, by whom. */
export async function describeWalletChanges(deployed: DeployedContract): Promise<string[]> {
  const found = await readWalletChanges(deployed);
  return found.map(
    ({ merchant, from, to, applicableAt, proposer }) =>
      `merchant ${merchant}: ${from} → ${to} from ${timeOf(applicableAt)}, by ${proposer}`,
  );
}

/**
 * What comes into force, or may, unless somebody stops it: name and text, a line each. All but the
 * wallets is announced by the admin, whom the contract knows one of.
 */
export async function describePending(deployed: DeployedContract): Promise<[string, string][]> {
  const { reader, settlement } = deployed;
  const contract = { address: settlement, abi: settlementAbi } as const;
  const read = async <const N extends 'scheduledCeiling' | 'scheduledRates' | 'guardians'>(
    functionName: N,
  ) => reader.readContract({ ...contract, functionName });
  const [ceiling, ceilingAt] = await read('scheduledCeiling');
  const [rates, ratesAt] = await read('scheduledRates');
  const [guardians, lastRevocableAt] = await read('guardians');
  const [admin, adminAt] = await reader.readContract({
    ...contract,
    functionName: 'pendingDefaultAdmin',
  });
  const lifeOf = await readLife(deployed);
  const { acquirer, protocol, cashback } = rates;
  const byAdmin = (text: string, at: number) =>
    at === 0 ? 'none' : `${text} ${lifeOf(at)}, by the admin`;
  const leaving = lastRevocableAt === 0 ? '' : `, the last may go ${lifeOf(lastRevocableAt)}`;
  const wallets = await describeWalletChanges(deployed);
  const grants = await describeGrants(deployed, lifeOf);
  return [
    ['guardians', `${guardians}${leaving}`],
    ['announced ceiling', byAdmin(`${ceiling} USDC per hour`, ceilingAt)],
    ['announced rates', byAdmin(`${acquirer}, ${protocol}, ${cashback} basis points`, ratesAt)],
    ['announced admin', adminAt === 0 ? 'none' : `${admin} from ${timeOf(adminAt)}, by the admin`],
    ...listed('announced grants', grants),
    ...listed('announced wallets', wallets),
  ];
}

function listed(name: string, lines: readonly string[]): [string, string][] {
  return lines.length === 0 ? [[name, 'none']] : lines.map((line) => [name, line]);
}

/** Says from when to when an announcement can come into force, and whether that has passed. */
async function readLife({ reader, settlement }: DeployedContract) {
  const contract = { address: settlement, abi: settlementAbi } as const;
  const life = await reader.readContract({ ...contract, functionName: 'ANNOUNCEMENT_LIFE' });
  const now = (await reader.getBlock()).timestamp;
  return (at: number) => {
    const until = at + life;
    const range = `from ${timeOf(at)} to ${timeOf(until)}`;
    return now > BigInt(until) ? `${range} (lapsed)` : range;
  };
}

/** Grants can only be found by their events; the contract then says which of them still wait. */
async function describeGrants(
  deployed: DeployedContract,
  lifeOf: (at: number) => string,
): Promise<string[]> {
  const { reader, settlement } = deployed;
  const { found, complete } = await readGrantEvents(deployed);
  const lines = complete ? [] : ['only a part: the node was not asked, or did not answer, for all'];
  for (const [role, account] of found) {
    const at = await reader.readContract({
      address: settlement,
      abi: settlementAbi,
      functionName: 'announcedGrant',
      args: [role, account],
    });
    if (at !== 0)
      lines.push(`${account} becomes ${roleName(role) ?? role} ${lifeOf(at)}, by the admin`);
  }
  return lines;
}

/** From the newest block back, as far as an announcement lives. */
async function readGrantEvents({ reader, settlement }: DeployedContract) {
  const contract = { address: settlement, abi: settlementAbi } as const;
  const delay = await reader.readContract({ ...contract, functionName: 'RATES_DELAY' });
  const life = await reader.readContract({ ...contract, functionName: 'ANNOUNCEMENT_LIFE' });
  const newest = await reader.getBlock();
  const oldest = newest.timestamp - BigInt(delay + life);
  const found = new Map<string, readonly [Hex, Hex]>();
  let toBlock = newest.number;
  for (let questions = 0; questions < MAX_QUESTIONS; questions++) {
    const fromBlock = toBlock < BLOCKS_PER_QUESTION ? 0n : toBlock - BLOCKS_PER_QUESTION + 1n;
    const range = { fromBlock, toBlock, eventName: 'GrantAnnounced', strict: true } as const;
    const logs = await reader.getContractEvents({ ...contract, ...range }).catch(() => null);
    if (logs === null) return { found: [...found.values()], complete: false };
    for (const { args } of logs) {
      found.set(`${args.role} ${args.account}`, [args.role, args.account]);
    }
    if (
      fromBlock === 0n ||
      (await reader.getBlock({ blockNumber: fromBlock })).timestamp < oldest
    ) {
      return { found: [...found.values()], complete: true };
    }
    toBlock = fromBlock - 1n;
  }
  return { found: [...found.values()], complete: false };
}
