import { randomInt } from 'node:crypto';
import { present } from '#core/assert.ts';
import { NUMBERS_PER_CELL } from '#core/ids.ts';
import type { Database, Sql, Tx } from '#db/database.ts';

export interface DrawnNumber {
  readonly livemode: boolean;
  readonly number: bigint;
  /**
   * The epoch in which the number's block was drawn. The statement that stores the number requires
   * that the network's epoch is still the same: see {@link raiseSettlementNumbers}.
   */
  readonly epoch: bigint;
}

/**
 * Assigns settlement numbers to intents. Create one object per process, so that consecutive numbers
 * fill the contract's storage slots.
 */
export interface SettlementNumbers {
  /** Returns one number per mode, in order, usually without a database round trip. */
  take(modes: readonly boolean[]): Promise<DrawnNumber[]>;
  /** Pass only numbers that were certainly not used. */
  putBack(numbers: readonly DrawnNumber[]): void;
  /** Discards the numbers drawn so far, because they must no longer be used. */
  drop(): void;
}

/** Numbers per storage slot of the contract's replay guard. */
const BLOCK_SIZE = 256n;
/**
 * If fewer numbers than this are left, the next block is drawn, long before a busy process runs
 * out.
 */
const FEW = 160;
/**
 * The number of blocks that a process draws at once if its last draw was less than a second ago.
 * The creation of intents waits until a draw commits: with 23 draws a second, 64 connections
 * created 3 to 5 % fewer intents. Numbers that a process still has when it stops are never used.
 */
const BLOCKS_WHEN_BUSY = 8;
const BUSY_MS = 1_000;
/**
 * The largest random skip before a process's first draw, in blocks: 2^20 numbers. Without the skip,
 * a database that was restored unnoticed would assign the numbers of lost intents again, and with
 * them their ids and pay links.
 */
const FIRST_SKIP_BLOCKS = 4_096;
/**
 * Ids contain numbers, and must not reveal to a merchant how much others sell. The numbers of a
 * block are therefore assigned in random order: if they were in sequence, two ids would reveal the
 * number of intents between them. Blocks are drawn with random gaps, whose maximum is a power of
 * two that each process chooses. If all gaps had the same range, their mean would be known, and
 * with it the number of blocks between two ids.
 */
const WIDEST_GAP_BITS = 8;
/**
 * Numbers are raised by this distance, 2^32, above the highest number in chain and ledger. Numbers
 * drawn in a lost period are lower, even with gaps and skips, unless millions of blocks were drawn
 * then.
 */
const RAISE_BY = 4_294_967_296n;
/**
 * Blocks in a cell's range of numbers. A new cell's database begins with the first block of the
 * range.
 */
const BLOCKS_PER_CELL = NUMBERS_PER_CELL / BLOCK_SIZE;
/**
 * SQL: the first number of the next cell's range. Only a thief of our keys can use a number from
 * there on.
 */
const END_OF_RANGE = `(next_block / ${BLOCKS_PER_CELL} + 1) * ${NUMBERS_PER_CELL}`;

/**
 * Makes a new cell's database draw numbers from the cell's range. Called at the cell's first start.
 */
export async function beginRange(tx: Tx, cell: number): Promise<void> {
  await tx.query(
    'update settlement_number_blocks set next_block = next_block + $1 where next_block < $1',
    [BigInt(cell) * BLOCKS_PER_CELL],
  );
}

/** Returns the cell whose range contains the number, whether or not such a cell exists. */
export function cellOfNumber(number: bigint): bigint {
  return number / NUMBERS_PER_CELL;
}

/** True if this cell may have drawn the number, even after its numbers were raised. */
export function isOfCell(cell: number, number: bigint): boolean {
  return cellOfNumber(number) === BigInt(cell);
}

interface Block {
  readonly epoch: bigint;
  readonly numbers: bigint[];
}

interface Stock {
  readonly blocks: Block[];
  drawing: Promise<void> | null;
  /** `performance.now()` of the last draw; `null` if there was none. */
  drawnMs: number | null;
  readonly widestGap: number;
}

/** The block from which a number was drawn, and the stock that contains the block. */
interface Origin {
  readonly stock: Stock;
  readonly block: Block;
}

function putInto({ stock, block }: Origin, number: bigint): void {
  // The stock drops an exhausted block when it starts the next one, so put the block back.
  if (!stock.blocks.includes(block)) stock.blocks.unshift(block);
  block.numbers.push(number);
}

interface Stocks {
  readonly test: Stock;
  readonly live: Stock;
  /** The database watch's epoch when the stocks were begun. */
  readonly watchEpoch: number;
}

function toBlock(index: bigint, epoch: bigint): Block {
  const first = index * BLOCK_SIZE;
  const numbers = Array.from({ length: Number(BLOCK_SIZE) }, (_, n) => first + BigInt(n));
  shuffle(numbers);
  // The contract does not accept the number zero.
  return { epoch, numbers: numbers.filter((number) => number > 0n) };
}

/** Shuffles in place (Fisher-Yates): every order is equally likely and unpredictable. */
function shuffle(numbers: bigint[]): void {
  for (let last = numbers.length - 1; last > 0; last--) {
    const other = randomInt(last + 1);
    const [a, b] = [present(numbers[last], 'number'), present(numbers[other], 'number')];
    numbers[last] = b;
    numbers[other] = a;
  }
}

/** Draws one block per gap. @param gaps the number of blocks to skip before each. */
async function drawBlocks(
  db: Pick<Database, 'query'>,
  livemode: boolean,
  gaps: readonly number[],
): Promise<Block[]> {
  const places: number[] = [];
  let count = 0;
  for (const gap of gaps) {
    places.push(count + gap);
    count += gap + 1;
  }
  const rows = await db.query<{ first: bigint; epoch: bigint }>(
    `update settlement_number_blocks set next_block = next_block + $2
     where livemode = $1 returning next_block - $2 as first, epoch`,
    [livemode, count],
  );
  const { first, epoch } = present(rows[0], 'settlement number block');
  return places.map((position) => toBlock(first + BigInt(position), epoch));
}

/**
 * Draws blocks into this stock. That has no effect if the process has discarded the stock
 * meanwhile.
 */
async function drawInto(
  db: Pick<Database, 'query'>,
  stock: Stock,
  livemode: boolean,
): Promise<void> {
  const isFirst = stock.drawnMs === null;
  const isBusy = stock.drawnMs !== null && performance.now() - stock.drawnMs < BUSY_MS;
  const widest = isFirst ? FIRST_SKIP_BLOCKS : stock.widestGap;
  const gaps = Array.from({ length: isBusy ? BLOCKS_WHEN_BUSY : 1 }, () => randomInt(widest + 1));
  stock.blocks.push(...(await drawBlocks(db, livemode, gaps)));
  stock.drawnMs = performance.now();
}

/**
 * Creates the stock of numbers, which are drawn in blocks. A new connection may lead to another
 * database, or to an earlier state of the same one, which may give the same block to other
 * processes. After a lost connection, all numbers drawn before are therefore discarded.
 */
export function createSettlementNumbers(db: Database): SettlementNumbers {
  const empty = (): Stock => {
    const widestGap = 2 ** randomInt(WIDEST_GAP_BITS + 1);
    return { blocks: [], drawing: null, drawnMs: null, widestGap };
  };
  const begin = (watchEpoch: number): Stocks => ({ test: empty(), live: empty(), watchEpoch });
  let stocks = begin(0);
  const origins = new WeakMap<DrawnNumber, Origin>();
  const stockOf = (livemode: boolean) => {
    const { epoch: watchEpoch } = db.watch;
    if (stocks.watchEpoch !== watchEpoch) stocks = begin(watchEpoch);
    return livemode ? stocks.live : stocks.test;
  };
  const draw = (livemode: boolean) => {
    const stock = stockOf(livemode);
    stock.drawing ??= drawInto(db, stock, livemode).finally(() => {
      stock.drawing = null;
    });
    return stock.drawing;
  };
  const takeOne = async (livemode: boolean): Promise<DrawnNumber> => {
    for (;;) {
      const stock = stockOf(livemode);
      const [block] = stock.blocks;
      const number = block?.numbers.pop();
      if (block !== undefined && number !== undefined) {
        const drawn = { livemode, number, epoch: block.epoch };
        origins.set(drawn, { stock, block });
        return drawn;
      }
      if (block === undefined) await draw(livemode);
      else stock.blocks.shift();
    }
  };
  const stockUp = (livemode: boolean) => {
    const { blocks } = stockOf(livemode);
    const left = blocks.reduce((sum, { numbers }) => sum + numbers.length, 0);
    // Ignore errors: a call of `take` that finds no numbers draws again, and fails if that fails
    // too.
    if (left < FEW) draw(livemode).catch(() => {});
  };
  return {
    take: async (modes) => {
      const taken: DrawnNumber[] = [];
      for (const livemode of modes) taken.push(await takeOne(livemode));
      for (const livemode of new Set(modes)) stockUp(livemode);
      return taken;
    },
    putBack: (numbers) => {
      // In reverse, so that the first number is the next to be taken.
      for (const drawn of numbers.toReversed()) {
        const origin = origins.get(drawn);
        if (origin?.stock === stockOf(drawn.livemode)) putInto(origin, drawn.number);
      }
    },
    drop: () => {
      stocks = begin(stocks.watchEpoch);
    },
  };
}

/**
 * Raises the network's numbers far above `above` and the highest number in chain and ledger, and
 * invalidates the blocks that any process has drawn. Recovery needs this: otherwise a restored
 * database would give new intents the numbers under which lost intents were paid.
 */
export async function raiseSettlementNumbers(
  tx: Sql,
  livemode: boolean,
  above = 0n,
): Promise<void> {
  await tx.query(
    `update settlement_number_blocks
     set epoch = (random() * 9007199254740991)::bigint,
       next_block = (${RAISE_BY} + greatest($2::bigint, next_block * ${BLOCK_SIZE},
         (select max(number) from chain_payments
          where livemode = $1 and number < ${END_OF_RANGE}))) / ${BLOCK_SIZE} + 1
     where livemode = $1`,
    [livemode, above],
  );
}

/**
 * Raises the numbers if the chain has a number that was never drawn here, which proves that the
 * database was restored.
 */
export async function raiseAboveChain(tx: Tx, livemode: boolean): Promise<void> {
  const rows = await tx.query(
    `select 1 as behind from settlement_number_blocks
     where livemode = $1
       and next_block * ${BLOCK_SIZE} <= (
         select max(number) from chain_payments
         where livemode = $1 and number < ${END_OF_RANGE})`,
    [livemode],
  );
  if (rows.length > 0) await raiseSettlementNumbers(tx, livemode);
}

/**
 * True if one of the numbers was drawn before its network's numbers were raised, so that it must
 * not be used.
 */
export async function areStale(tx: Tx, numbers: readonly DrawnNumber[]): Promise<boolean> {
  const rows = await tx.query<{ livemode: boolean; epoch: bigint }>(
    'select livemode, epoch from settlement_number_blocks',
  );
  const epochs = new Map(rows.map((row) => [row.livemode, row.epoch]));
  return numbers.some(({ livemode, epoch }) => epochs.get(livemode) !== epoch);
}
