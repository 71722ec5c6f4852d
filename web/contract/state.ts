import type { Provider } from '../pay/ethereum.ts';
import type { Hex } from '../wallet/bytes.ts';
import { addressOf, call, lensOf, ROLES, roleName, roleOf, topic, wordsOf } from './calls.ts';

/** What the contract says of itself, asked through the node of the reader's own wallet. */

/** Something that comes into force unless somebody stops it. */
export interface Announcement {
  /** One sentence: what it would do. */
  readonly says: string;
  readonly by: string;
  /** Unix seconds. */
  readonly from: number;
  /** What drops it; null: only the admin's own command line does. */
  readonly cancel: { readonly data: Hex; readonly who: 'guardian' | 'admin or guardian' } | null;
}

export interface ContractState {
  readonly settlingPaused: boolean;
  readonly refundingPaused: boolean;
  /** Whole USDC per hour. */
  readonly ceiling: bigint;
  /** Atoms. */
  readonly held: bigint;
  readonly owed: bigint;
  readonly fees: bigint;
  readonly admin: Hex;
  readonly announcements: readonly Announcement[];
  /** Who has which role; null: the node does not list events. */
  readonly holders: readonly { readonly role: string; readonly account: Hex }[] | null;
}

/** As many in one question: a node answers within its limits. */
const MERCHANTS_PER_CALL = 500;
const USDC = 1_000_000n;

export class NoContract extends Error {}

export interface Place {
  readonly provider: Provider;
  readonly settlement: Hex;
}

async function view({ provider }: Place, to: Hex, data: Hex): Promise<bigint[]> {
  const answer = await provider.request({ method: 'eth_call', params: [{ to, data }, 'latest'] });
  return wordsOf(String(answer));
}

/** @throws NoContract where nothing answers as the contract does. */
async function read(place: Place, signature: string, ...args: (Hex | bigint | number)[]) {
  const words = await view(place, place.settlement, call(signature, ...args));
  if (words.length === 0) throw new NoContract(signature);
  return words;
}

async function readLens(place: Place, signature: string, ...args: number[]) {
  return view(place, lensOf(place.settlement), call(signature, ...args));
}

const at = (words: readonly bigint[], index: number): bigint => words[index] ?? 0n;

async function readBooks(place: Place) {
  const merchants = Number(at(await read(place, 'merchantCount()'), 0));
  const books = { held: 0n, owed: 0n, fees: 0n };
  const wallets: Announcement[] = [];
  for (let first = 1; first === 1 || first <= merchants; first += MERCHANTS_PER_CALL) {
    const last = Math.min(first + MERCHANTS_PER_CALL - 1, merchants);
    const [held, owed] = await readLens(place, 'holdings(uint32,uint32)', first, last);
    books.held = held ?? 0n;
    books.owed += owed ?? 0n;
    // The view of no merchants at all is refused.
    if (merchants === 0) break;
    wallets.push(...walletsIn(await readLens(place, 'walletChanges(uint32,uint32)', first, last)));
  }
  const [acquirer, protocol] = await readLens(place, 'bookedFees()');
  books.fees = (acquirer ?? 0n) + (protocol ?? 0n);
  return { books, wallets };
}

/** `expiresAt` of a policy that was revoked; 0: there never was one. */
const REVOKED = 1n;

/** `merchant, from, to, applicableAt, proposer` of each. */
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
      cancel: { data: call('cancelWallet(uint32)', merchant), who: 'guardian' },
    };
  });
}

async function readRules(place: Place, admin: Hex, ceiling: bigint): Promise<Announcement[]> {
  const [next, rates, heir, guardians] = await Promise.all([
    read(place, 'scheduledCeiling()'),
    read(place, 'scheduledRates()'),
    read(place, 'pendingDefaultAdmin()'),
    read(place, 'guardians()'),
  ]);
  const found: Announcement[] = [];
  const add = (from: bigint, says: string, cancel: Announcement['cancel']) => {
    if (from !== 0n) found.push({ says, by: admin, from: Number(from), cancel });
  };
  const says =
    `Up to ${at(next, 0)} USDC settle per hour instead of ${ceiling}. ` +
    'Canceling it also lowers the present ceiling by 1 USDC.';
  add(at(next, 1), says, {
    // The contract drops an announced ceiling only together with a lower one.
    data: call('lowerCeiling(uint24)', ceiling > 0n ? ceiling - 1n : 0n),
    who: 'guardian',
  });
  const [acquirer, protocol, cashback] = rates;
  add(at(rates, 3), `Rates become ${acquirer}, ${protocol} and ${cashback} basis points.`, {
    data: call('cancelRates()'),
    who: 'admin or guardian',
  });
  add(at(heir, 1), `${addressOf(at(heir, 0))} becomes the admin.`, null);
  add(at(guardians, 1), 'The last guardian may be revoked.', null);
  return found;
}

interface RoleLog {
  readonly topics: readonly Hex[];
}

const GRANTED = 'RoleGranted(bytes32,address,address)';
const ANNOUNCED = 'GrantAnnounced(bytes32,address,uint48)';

/** Roles can only be found by events; the contract then says which of them still hold. */
async function readRoles(place: Place, admin: Hex) {
  const topics = [[topic(GRANTED), topic(ANNOUNCED)]];
  const range = { address: place.settlement, fromBlock: '0x0', toBlock: 'latest', topics };
  const request = { method: 'eth_getLogs', params: [range] };
  const logs = (await place.provider.request(request).catch(() => null)) as RoleLog[] | null;
  if (logs === null) return { holders: null, grants: [] };
  const pairs = new Map(
    logs.map(({ topics: [, role = '0x', to = '0x'] }) => [role + to, { role, to }]),
  );
  const holders: { role: string; account: Hex }[] = [];
  const grants: Announcement[] = [];
  for (const { role, to } of pairs.values()) {
    const account = addressOf(BigInt(to));
    const [has, from] = await Promise.all([
      read(place, 'hasRole(bytes32,address)', role, account),
      read(place, 'announcedGrant(bytes32,address)', role, account),
    ]);
    if (at(has, 0) === 1n) holders.push({ role: roleName(role), account });
    if (at(from, 0) === 0n) continue;
    const says = `${account} becomes ${roleName(role)}.`;
    const data = call('cancelGrant(bytes32,address)', role, account);
    const cancel = { data, who: 'admin or guardian' } as const;
    grants.push({ says, by: admin, from: Number(at(from, 0)), cancel });
  }
  return { holders, grants };
}

/** @throws NoContract */
export async function readState(place: Place): Promise<ContractState> {
  const [settling, refunding, ceilings, admins] = await Promise.all([
    readLens(place, 'settlingPaused()'),
    readLens(place, 'refundingPaused()'),
    readLens(place, 'ceiling()'),
    read(place, 'defaultAdmin()'),
  ]);
  const admin = addressOf(at(admins, 0));
  const ceiling = at(ceilings, 0) / USDC;
  const { books, wallets } = await readBooks(place);
  const rules = await readRules(place, admin, ceiling);
  const { holders, grants } = await readRoles(place, admin);
  return {
    ...books,
    ...{ admin, ceiling, holders },
    settlingPaused: at(settling, 0) === 1n,
    refundingPaused: at(refunding, 0) === 1n,
    announcements: [...wallets, ...grants, ...rules],
  };
}

/** Roles of one address. */
export async function rolesOf(place: Place, account: Hex): Promise<ReadonlySet<string>> {
  const zero: Hex = `0x${'0'.repeat(64)}`;
  const asked = [['admin', zero] as const, ...ROLES.map((name) => [name, roleOf(name)] as const)];
  const has = await Promise.all(
    asked.map(([, role]) => read(place, 'hasRole(bytes32,address)', role, account)),
  );
  return new Set(asked.flatMap(([name], i) => (at(has[i] ?? [], 0) === 1n ? [name] : [])));
}

export interface MerchantState {
  readonly wallet: Hex;
  /** Atoms. */
  readonly balance: bigint;
  /** Unix seconds. */
  readonly heldUntil: number;
}

/** @throws NoContract */
export async function readMerchant(place: Place, merchant: number): Promise<MerchantState> {
  const words = await read(place, 'merchantAccount(uint32)', merchant);
  const [wallet, balance, heldUntil] = [at(words, 0), at(words, 1), at(words, 2)];
  return { wallet: addressOf(wallet), balance, heldUntil: Number(heldUntil) };
}

export interface Permission {
  readonly token: Hex;
  /** Atoms that the contract may take; limits apply besides. */
  readonly allowance: bigint;
  readonly hasPolicy: boolean;
}

/** @throws NoContract */
export async function readPermission(place: Place, account: Hex): Promise<Permission> {
  const token = addressOf(at(await read(place, 'TOKEN()'), 0));
  const data = call('payerAccount(address)', account);
  const words = await view(place, lensOf(place.settlement), data);
  return { token, allowance: at(words, 1), hasPolicy: at(words, 7) > REVOKED };
}
