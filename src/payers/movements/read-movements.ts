import { present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import { type IdKey, movementId } from '#core/ids.ts';
import type { Database, Tx } from '#db/database.ts';
import {
  addReadRequests,
  deleteMovementsFrom,
  insertMovements,
  type MovementRow,
  positionOf,
  selectWalletRead,
  storeRead,
  type WalletReadRow,
} from '#payers/movements/movement-queries.ts';
import {
  filtersOf,
  type Movement,
  type MovementType,
  movementsIn,
} from '#payers/movements/movements-in-logs.ts';
import type { PayerRow } from '#payers/payer-queries.ts';
import { type Block, type Chain, withoutUrgency } from '#settlement/chain/chain.ts';
import { shownBlock } from '#settlement/chain/read/final-block.ts';
import type { BlockRange } from '#settlement/chain/rpc/next-log-portion.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { RawLog } from '#settlement/contract/contract-events.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import { toNumberColumn } from '#settlement/uint64-columns.ts';

/**
 * A wallet's USDC movements are read from the chain when the wallet asks for them, the newest
 * blocks first, and stored. Final blocks are read once. The blocks after them are read again each
 * time, which also corrects what a reorganization changed; if even a final block has left the
 * chain, everything is read again. Blocks that a request's limits left out stay in `unread`.
 */

/** How long before the payer's first sign-in the history begins. Explorers have the rest. */
const BEFORE_SIGN_IN_MS = 30 * DAY_MS;
/**
 * Blocks whose logs are requested at once. Only one wallet's transfers are requested, so nodes
 * without a limit on ranges return even many blocks' logs fast; others halve it down to their own.
 */
const WIDTH = 100_000n;
/** How long one request of a wallet goes on reading older blocks. Its next request continues. */
const READ_MS = 2_000;
/** Requests for a portion of both filters, from a node that returns logs of this width. */
const PORTION_REQUESTS = 4;
/** Requests besides those for portions: head, final blocks, and a block's time. */
const FIXED_REQUESTS = 5;
/** Transfers of others below it are folded: spam, which would bury the others. */
const FOLDED_BELOW_ATOMS = 10_000n;

export interface MovementReader {
  readonly db: Database;
  readonly chain: Chain;
  readonly idKey: IdKey;
  /** The most requests to nodes for one wallet and UTC day. */
  readonly requestsPerDay: number;
}

/**
 * Reads the wallet's movements since its last request.
 * @throws RpcUnavailable if no node answers. What was stored before stays.
 */
export async function readMovements(
  reader: MovementReader,
  { payer, now }: { readonly payer: PayerRow; readonly now: Date },
): Promise<void> {
  const { db, requestsPerDay } = reader;
  const before = (await selectWalletRead(db, payer.id)) ?? null;
  const day = now.toISOString().slice(0, 10);
  const spent = before?.day === day ? before.requests : 0;
  const meter = { requests: 0, most: requestsPerDay - spent };
  if (meter.most < FIXED_REQUESTS + PORTION_REQUESTS) return;
  const chain = withoutUrgency(reader.chain);
  try {
    const scope = await scopeOf(chain, { payer, before, meter });
    const read = await readRanges(chain, { wallet: payer.address, scope, meter });
    const top = read.unread.at(0);
    const since_block = top === undefined ? scope.start : top.toBlock + 1n;
    const since = await timeOf(chain, { block: since_block, before: scope.before, meter });
    const row = {
      ...{ payer_id: payer.id, start_block: scope.start, next_block: scope.next },
      ...{ last_hash: scope.lastHash, unread: toColumn(read.unread, scope.next) },
      ...{ since_block, since, as_of: scope.head.time },
      ...{ day, requests: spent + meter.requests, version: (before?.version ?? 0) + 1 },
    };
    const place = { idKey: reader.idKey, payer, config: chain.config, scope };
    const rows = read.movements.map((one) => toRow(place, one));
    const from = scope.before?.next_block ?? null;
    const version = before?.version ?? null;
    await db.transaction((tx) => store(tx, { row, rows, version, from }));
  } catch (error) {
    if (error instanceof RpcUnavailable) {
      const requests = meter.requests + FIXED_REQUESTS;
      await addReadRequests(db, { payerId: payer.id, day, requests });
    }
    throw error;
  }
}

/** Counts requests to nodes. */
interface Meter {
  requests: number;
  readonly most: number;
}

interface Scope {
  readonly head: Block;
  /**
   * The last reading; `null` if there is none, or if a final block has left the chain since, so
   * that nothing of it is certain.
   */
  readonly before: WalletReadRow | null;
  /** The first block of the history. */
  readonly start: bigint;
  /** The first block that will be read again next time. */
  readonly next: bigint;
  /** The hash of the block before it. */
  readonly lastHash: string | null;
  /** Blocks to read, the newest first. */
  readonly ranges: readonly BlockRange[];
}

async function scopeOf(
  chain: Chain,
  input: { readonly payer: PayerRow; readonly before: WalletReadRow | null; readonly meter: Meter },
): Promise<Scope> {
  const { payer, before: stored, meter } = input;
  const head = await chain.newest();
  const final = await shownBlock(chain, head.number);
  meter.requests += 2;
  const isSame = stored !== null && (await isOnChain(chain, stored, meter));
  const before = isSame ? stored : null;
  const sought = addMs(payer.created, -BEFORE_SIGN_IN_MS);
  const start = before?.start_block ?? (await lastBlockBefore(chain, { head, sought, meter }));
  const from = before?.next_block ?? start;
  const next = final < from ? from : final + 1n;
  const ranges = [...(before?.unread ?? []), [Number(from), Number(head.number)] as const]
    .map(([first, last]) => ({ fromBlock: BigInt(first), toBlock: BigInt(last) }))
    .filter(({ fromBlock, toBlock }) => fromBlock <= toBlock);
  const lastHash =
    next === from && before !== null ? before.last_hash : await hashOf(chain, next - 1n, meter);
  return { head, before, start, next, lastHash, ranges: joined(ranges).toReversed() };
}

/** Joins ranges that follow each other, because each costs requests of its own. */
function joined(ranges: readonly BlockRange[]): BlockRange[] {
  const results: BlockRange[] = [];
  for (const range of ranges) {
    const last = results.at(-1);
    if (last?.toBlock !== range.fromBlock - 1n) results.push(range);
    else results[results.length - 1] = { fromBlock: last.fromBlock, toBlock: range.toBlock };
  }
  return results;
}

async function hashOf(chain: Chain, number: bigint, meter: Meter): Promise<string | null> {
  if (number < 0n) return null;
  meter.requests++;
  const block = await chain.block(number);
  if (block !== null) return block.hash;
  throw new RpcUnavailable('a node lacks a block that was read before');
}

/** @throws RpcUnavailable if the node has not reached the last reading's blocks. */
async function isOnChain(
  chain: Chain,
  { next_block: next, last_hash: hash }: WalletReadRow,
  meter: Meter,
): Promise<boolean> {
  return (await hashOf(chain, next - 1n, meter)) === hash;
}

/** Estimates converge in three steps unless block times have changed; more are not worth it. */
const MAX_STEPS = 10;

/** Returns a block that is at most a day older than the time, or 0 if there is none. */
async function lastBlockBefore(
  chain: Chain,
  input: { readonly head: Block; readonly sought: Date; readonly meter: Meter },
): Promise<bigint> {
  const { head, sought, meter } = input;
  const { profile, minBlockMs } = chain.config;
  let { number, time } = head;
  let blockMs = profile.blockMs ?? minBlockMs;
  for (let step = 0; step < MAX_STEPS; step++) {
    // Aims at the middle of the day before.
    const tooLateMs = time.getTime() - sought.getTime();
    if (tooLateMs <= 0 && tooLateMs >= -DAY_MS) return number;
    const back = BigInt(Math.ceil((tooLateMs + DAY_MS / 2) / blockMs));
    const guess = number - back;
    if (guess <= 0n) return 0n;
    const aim = guess < head.number ? guess : head.number;
    meter.requests++;
    const block = await chain.block(aim);
    if (block === null || aim === number) return 0n;
    blockMs = Math.max(1, (time.getTime() - block.time.getTime()) / Number(number - aim));
    ({ number, time } = block);
  }
  return 0n;
}

type Timed = Movement & { readonly created: Date };

interface Read {
  readonly movements: readonly Timed[];
  /** Blocks that the limits left out, the newest first. */
  readonly unread: readonly BlockRange[];
}

async function readRanges(
  chain: Chain,
  { wallet, scope, meter }: { readonly wallet: Hex; readonly scope: Scope; readonly meter: Meter },
): Promise<Read> {
  const movements: Timed[] = [];
  const unread: BlockRange[] = [];
  const until = performance.now() + READ_MS;
  let isFirst = true;
  for (const { fromBlock, toBlock: last } of scope.ranges) {
    let toBlock = last;
    const hasRoom = () =>
      performance.now() < until && meter.requests + PORTION_REQUESTS <= meter.most;
    while (toBlock >= fromBlock && (isFirst || hasRoom())) {
      isFirst = false;
      const portion = await readPortion(chain, { wallet, range: { fromBlock, toBlock }, meter });
      movements.push(...portion.movements);
      toBlock = portion.fromBlock - 1n;
    }
    if (toBlock >= fromBlock) unread.push({ fromBlock, toBlock });
  }
  return { movements, unread };
}

/** Reads the wallet's movements at the end of a range. */
async function readPortion(
  chain: Chain,
  input: { readonly wallet: Hex; readonly range: BlockRange; readonly meter: Meter },
): Promise<{ readonly fromBlock: bigint; readonly movements: readonly Timed[] }> {
  const { wallet, range, meter } = input;
  const { to, from } = filtersOf(chain.config, wallet);
  const incoming = chain.logPortions({ ...to, ...range, newestFirst: true, width: WIDTH });
  const { value: portion } = await incoming.next();
  const { fromBlock, toBlock } = present(portion, 'portion of logs');
  const logs = [...portion.logs];
  meter.requests += portion.requests;
  const outgoing = chain.logPortions({ ...from, fromBlock, toBlock, width: WIDTH });
  for await (const other of outgoing) {
    logs.push(...other.logs);
    meter.requests += other.requests;
  }
  const movements = movementsIn(chain.config, wallet, logs);
  return { fromBlock, movements: await withTimes(chain, { movements, logs, meter }) };
}

const TIMESTAMP = /^0x[0-9a-f]{1,10}$/i;

/** Blocks requested at once, if the node's logs have no time. */
const BLOCKS = 100;

async function withTimes(
  chain: Chain,
  input: {
    readonly movements: readonly Movement[];
    readonly logs: readonly RawLog[];
    readonly meter: Meter;
  },
): Promise<Timed[]> {
  const { movements, logs, meter } = input;
  const times = new Map<bigint, Date>();
  for (const { blockNumber, blockTimestamp } of logs) {
    if (blockTimestamp !== undefined && TIMESTAMP.test(blockTimestamp))
      times.set(BigInt(blockNumber), new Date(Number(blockTimestamp) * 1000));
  }
  const numbers = movements.map(({ blockNumber }) => blockNumber);
  const untimed = [...new Set(numbers)].filter((number) => !times.has(number));
  for (let at = 0; at < untimed.length; at += BLOCKS) {
    const some = untimed.slice(at, at + BLOCKS);
    meter.requests += some.length;
    for (const block of await chain.blocks(some)) if (block) times.set(block.number, block.time);
  }
  return movements.map((movement) => {
    const created = times.get(movement.blockNumber);
    if (created !== undefined) return { ...movement, created };
    throw new RpcUnavailable('blocks were reorganized while they were read');
  });
}

async function timeOf(
  chain: Chain,
  input: { readonly block: bigint; readonly before: WalletReadRow | null; readonly meter: Meter },
): Promise<Date> {
  const { block: number, before, meter } = input;
  if (before?.since_block === number) return before.since;
  meter.requests++;
  const block = await chain.block(number);
  if (block !== null) return block.time;
  throw new RpcUnavailable('a block was reorganized while it was read');
}

/** Only blocks below `next` are stored as unread: the others are read again in any case. */
function toColumn(unread: readonly BlockRange[], next: bigint): WalletReadRow['unread'] {
  return unread
    .filter(({ fromBlock }) => fromBlock < next)
    .map(
      ({ fromBlock, toBlock }) =>
        [Number(fromBlock), Number(toBlock < next ? toBlock : next - 1n)] as const,
    )
    .toReversed();
}

/** Positions of folded transfers, which no block can have. */
const FOLDED: Partial<Record<MovementType, bigint>> = { received: 1n, sent: 2n };

interface Place {
  readonly idKey: IdKey;
  readonly payer: PayerRow;
  readonly config: NetworkConfig;
  readonly scope: Scope;
}

function toRow({ idKey, payer, config, scope }: Place, movement: Timed): MovementRow {
  const { type, blockNumber, txHash, ordinal, address, amount, fee, number } = movement;
  const { head, next } = scope;
  const isFinal = blockNumber < next;
  const isConfirmed =
    blockNumber + BigInt(config.confirmations) <= head.number &&
    addMs(movement.created, config.confirmationsMs) <= head.time;
  const folded = amount < FOLDED_BELOW_ATOMS ? FOLDED[type] : undefined;
  const created = folded === undefined ? movement.created : startOfDay(movement.created);
  const what = folded === undefined ? `${txHash} ${ordinal}` : `${type} ${created.toISOString()}`;
  return {
    payer_id: payer.id,
    created,
    position: folded ?? positionOf(movement),
    id: movementId(idKey, { payerId: payer.id, what }),
    type,
    tx_hash: folded === undefined ? txHash : null,
    address: folded === undefined ? address : null,
    number: number === null ? null : toNumberColumn(number),
    amount: isFinal ? amount : 0n,
    unsettled: isFinal ? 0n : amount,
    fee,
    pending: !isFinal && !isConfirmed,
  };
}

function startOfDay(at: Date): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()));
}

/** Adds up the rows of each line of folded transfers. */
function foldRows(rows: readonly MovementRow[]): MovementRow[] {
  const lines = Map.groupBy(rows, ({ id }) => id);
  const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);
  return [...lines.values()].map((some) => ({
    ...present(some[0], 'row of a line'),
    amount: sum(some.map(({ amount }) => amount)),
    unsettled: sum(some.map(({ unsettled }) => unsettled)),
    pending: some.some(({ pending }) => pending),
  }));
}

async function store(
  tx: Tx,
  input: {
    readonly row: WalletReadRow;
    readonly rows: readonly MovementRow[];
    /** The version that this reading began with; `null` for the wallet's first one. */
    readonly version: number | null;
    /** The first block whose movements are replaced; `null` for all. */
    readonly from: bigint | null;
  },
): Promise<void> {
  const { row, rows, version, from } = input;
  // Another request of the wallet may have read the same blocks meanwhile, and stored them.
  if (!(await storeRead(tx, row, version))) return;
  await deleteMovementsFrom(tx, { payerId: row.payer_id, block: from });
  await insertMovements(tx, foldRows(rows));
}
