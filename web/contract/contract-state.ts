import type { Hex } from '../data/bytes.ts';
import {
  addressOf,
  call,
  callWithList,
  lensOf,
  operationWords,
  ROLES,
  roleName,
  roleOf,
  timelockOf,
  topic,
  wordsOf,
} from '../data/contract-calls.ts';
import {
  addUpHoldings,
  type Holdings,
  NoContract,
  readRanges,
  type View,
} from '../data/contract-holdings.ts';
import type { Provider } from '../data/injected-wallets.ts';

/** Reads the contract's state through the node of the user's wallet. */

/** A pending change, which takes effect unless a guardian cancels it. */
export interface Announcement {
  /** The change in words, one sentence per call. */
  readonly says: string;
  readonly by: string;
  /** Time at which it takes effect, in Unix seconds. */
  readonly from: number;
  /** Calldata for a guardian to cancel it. */
  readonly cancel: Hex;
}

export interface ContractState extends Holdings {
  readonly settlingPaused: boolean;
  readonly refundingPaused: boolean;
  /** Whole USDC per hour. */
  readonly ceiling: bigint;
  /** Address of the timelock. */
  readonly admin: Hex;
  readonly announcements: readonly Announcement[];
  /** The roles and their holders, or `null` if the node does not serve event logs. */
  readonly holders: readonly { readonly role: string; readonly account: Hex }[] | null;
}

const USDC = 1_000_000n;

export interface Place {
  readonly provider: Provider;
  readonly settlement: Hex;
}

async function view({ provider }: Place, to: Hex, data: Hex): Promise<bigint[]> {
  const answer = await provider.request({ method: 'eth_call', params: [{ to, data }, 'latest'] });
  return wordsOf(String(answer));
}

/** @throws NoContract if the address does not respond like the settlement contract. */
async function read(contract: Place, signature: string, ...args: (Hex | bigint | number)[]) {
  const words = await view(contract, contract.settlement, call(signature, ...args));
  if (words.length === 0) throw new NoContract(signature);
  return words;
}

async function readLens(contract: Place, signature: string, ...args: number[]) {
  return view(contract, lensOf(contract.settlement), call(signature, ...args));
}

const at = (words: readonly bigint[], index: number): bigint => words[index] ?? 0n;

async function readBooks(contract: Place) {
  const viewed: View = (to, data) => view(contract, to, data);
  const ranges = await readRanges(viewed, contract.settlement);
  const books = await addUpHoldings(viewed, contract.settlement, ranges);
  const wallets: Announcement[] = [];
  for (const [first, last] of ranges) {
    // The view reverts for an empty list.
    if (last === 0) break;
    wallets.push(
      ...walletsIn(await readLens(contract, 'walletChanges(uint32,uint32)', first, last)),
    );
  }
  return { books, wallets };
}

/** `expiresAt` of a revoked policy. 0 means that no policy was ever set. */
const REVOKED = 1n;

/** Words per change: `merchant, from, to, applicableAt, proposer`. */
const CHANGE_WORDS = 5;

function walletsIn([, count = 0n, ...rest]: readonly bigint[]): Announcement[] {
  return Array.from({ length: Number(count) }, (_, i) => {
    const change = rest.slice(i * CHANGE_WORDS, (i + 1) * CHANGE_WORDS);
    const merchant = at(change, 0);
    const [now, to] = [addressOf(at(change, 1)), addressOf(at(change, 2))];
    return {
      says: `Merchant ${merchant} is paid to ${to}, no longer to ${now}.`,
      by: addressOf(at(change, 4)),
      from: Number(at(change, 3)),
      cancel: call('cancelWallet(uint32)', merchant),
    };
  });
}

interface RawLog {
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

/** Reads event logs. @returns `null` if the node does not serve them. */
async function readLogs(contract: Place, address: Hex, names: readonly string[]) {
  const range = { address, fromBlock: '0x0', toBlock: 'latest', topics: [names.map(topic)] };
  const request = { method: 'eth_getLogs', params: [range] };
  return (await contract.provider.request(request).catch(() => null)) as RawLog[] | null;
}

const SCHEDULED = 'CallScheduled(bytes32,uint256,address,uint256,bytes,bytes32,uint256)';
/**
 * Index of the word with the length of `data`. `target, value, data, predecessor, delay` precede
 * it, and the bytes follow it.
 */
const LENGTH_WORD = 5;

/** Finds timelock operations by their events, then asks the timelock which of them are pending. */
async function readOperations(contract: Place): Promise<Announcement[]> {
  const timelock = timelockOf(contract.settlement);
  const logs = (await readLogs(contract, timelock, [SCHEDULED])) ?? [];
  const operations = new Map<Hex, Map<string, string>>();
  for (const { topics, data } of logs) {
    const [, id = '0x', index = '0x'] = topics;
    const words = wordsOf(data);
    const target = addressOf(at(words, 0));
    const length = Number(at(words, LENGTH_WORD)) * 2;
    const from = 2 + (LENGTH_WORD + 1) * 64;
    const sent: Hex = `0x${data.slice(from, from + length)}`;
    const known = operations.get(id) ?? new Map<string, string>();
    operations.set(id, known.set(index, operationWords(contract.settlement, target, sent)));
  }
  const announcements: Announcement[] = [];
  for (const [id, calls] of operations) {
    const [waits] = await view(contract, timelock, call('isOperationPending(bytes32)', id));
    if (waits !== 1n) continue;
    const [from = 0n] = await view(contract, timelock, call('getTimestamp(bytes32)', id));
    const cancel = callWithList('cancelOperations(bytes32[])', [id]);
    const says = [...calls].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, words]) => words);
    announcements.push({ says: says.join(' '), by: `operation ${id}`, from: Number(from), cancel });
  }
  return announcements;
}

const GRANTED = 'RoleGranted(bytes32,address,address)';

/** Reads role holders of both the contract and its timelock. */
async function readHolders(contract: Place): Promise<ContractState['holders']> {
  const holders: { role: string; account: Hex }[] = [];
  for (const address of [contract.settlement, timelockOf(contract.settlement)] as const) {
    const logs = await readLogs(contract, address, [GRANTED]);
    if (logs === null) return null;
    const pairs = new Map(
      logs.map(({ topics: [, role = '0x', to = '0x'] }) => [role + to, { role, to }]),
    );
    for (const { role, to } of pairs.values()) {
      const account = addressOf(BigInt(to));
      const [has] = await view(contract, address, call('hasRole(bytes32,address)', role, account));
      if (has === 1n) holders.push({ role: roleName(role), account });
    }
  }
  return holders;
}

/** Reads the contract's whole state. @throws NoContract */
export async function readState(contract: Place): Promise<ContractState> {
  const [settling, refunding, ceilings, admins] = await Promise.all([
    readLens(contract, 'settlingPaused()'),
    readLens(contract, 'refundingPaused()'),
    readLens(contract, 'ceiling()'),
    read(contract, 'timelock()'),
  ]);
  const admin = addressOf(at(admins, 0));
  const ceiling = at(ceilings, 0) / USDC;
  const { books, wallets } = await readBooks(contract);
  const operations = await readOperations(contract);
  const holders = await readHolders(contract);
  return {
    ...books,
    ...{ admin, ceiling, holders },
    settlingPaused: at(settling, 0) === 1n,
    refundingPaused: at(refunding, 0) === 1n,
    announcements: [...wallets, ...operations],
  };
}

export async function rolesOf(contract: Place, account: Hex): Promise<ReadonlySet<string>> {
  const zero: Hex = `0x${'0'.repeat(64)}`;
  const roles = [['admin', zero] as const, ...ROLES.map((name) => [name, roleOf(name)] as const)];
  const has = await Promise.all(
    roles.map(([, role]) => read(contract, 'hasRole(bytes32,address)', role, account)),
  );
  return new Set(roles.flatMap(([name], i) => (at(has[i] ?? [], 0) === 1n ? [name] : [])));
}

export interface MerchantState {
  readonly wallet: Hex;
  /** Atoms. */
  readonly balance: bigint;
  /** Unix seconds until which a withdrawal is held. */
  readonly heldUntil: number;
}

/** Reads the state of one merchant. @throws NoContract */
export async function readMerchant(contract: Place, merchant: number): Promise<MerchantState> {
  const words = await read(contract, 'merchantAccount(uint32)', merchant);
  const [wallet, balance, heldUntil] = [at(words, 0), at(words, 1), at(words, 2)];
  return { wallet: addressOf(wallet), balance, heldUntil: Number(heldUntil) };
}

export interface Permission {
  readonly token: Hex;
  /** The ERC-20 allowance in atoms. The payer's spending limits apply as well. */
  readonly allowance: bigint;
  readonly hasPolicy: boolean;
}

/** Reads the account's allowance and policy for the contract. @throws NoContract */
export async function readPermission(contract: Place, account: Hex): Promise<Permission> {
  const token = addressOf(at(await read(contract, 'TOKEN()'), 0));
  const data = call('payerAccount(address)', account);
  const words = await view(contract, lensOf(contract.settlement), data);
  return { token, allowance: at(words, 1), hasPolicy: at(words, 7) > REVOKED };
}
