import { caller } from '#testkit/apis/api-client.ts';
import type { Step } from '#testkit/simulation/history.ts';
import { persist } from '#testkit/simulation/restore-ground.ts';
import { addPayers, type WayPayer } from '#testkit/simulation/ways/payers.ts';
import { addShop, addTill, type Till } from '#testkit/simulation/ways/shops.ts';
import { type Attempt, WAYS, type Way, type WayResult } from '#testkit/simulation/ways/ways.ts';
import type { WaysWorld } from '#testkit/simulation/ways/world.ts';

/**
 * Which objects are newer than the backup and therefore get lost: none, only the sale, or the sale
 * and the named object.
 */
export const AGES = ['nothing', 'sale', 'payer', 'credential', 'till', 'merchant'] as const;
export type Age = (typeof AGES)[number];

export interface Cell {
  readonly way: Way;
  readonly young: Age;
  readonly tip: boolean;
}

/**
 * Returns true if the object can be newer than the backup: a pass or card can, but a wallet exists
 * without the service.
 */
function canBeYoung(way: Way, young: Age): boolean {
  return young !== 'credential' || way.payer === 'enrolled';
}

/**
 * Every combination of a way to pay and an age. Ways that offer tips are combined with `nothing`
 * twice: with and without a tip.
 */
export const CELLS: readonly Cell[] = WAYS.flatMap((way) =>
  AGES.filter((young) => canBeYoung(way, young)).flatMap((young, position) => {
    const tips = way.atTill && position % 2 === 0;
    const cell = { way, young, tip: tips };
    return young === 'nothing' && way.atTill ? [cell, { ...cell, tip: false }] : [cell];
  }),
);

export function nameOf({ way, young, tip }: Cell): string {
  const age = young === 'nothing' ? 'all older than the copy' : `${young} younger than the copy`;
  return `${way.name}, ${tip ? 'with a tip' : 'no tip'}, ${age}`;
}

/** A cell whose sale has begun. */
export interface Play {
  readonly cell: Cell;
  readonly attempt: Attempt;
  readonly payer: WayPayer;
  readonly till: Till;
  readonly amount: number;
  result: WayResult | null;
}

const AMOUNT = 1_000_000;
const TIP = 50_000;

let orders = 0;
const newOrder = () => `W${(++orders).toString(36).padStart(4, '0')}`;

/** The payers, by way to pay and age. */
interface Cast {
  readonly payer: (cell: Cell) => WayPayer;
  readonly till: (cell: Cell) => Till;
}

async function begin(ways: WaysWorld, cast: Cast, cell: Cell): Promise<Play> {
  const [payer, till] = [cast.payer(cell), cast.till(cell)];
  // Gives each sale a different amount, so that the test cannot confuse two sales.
  const amount = AMOUNT + ++orders;
  const tip = cell.tip ? TIP : null;
  const wish = { amount, tip, order: newOrder() };
  const isPart = cell.young === 'sale' && cell.way.atTill;
  const split = isPart ? { splitGroup: `${amount}` } : {};
  const shopping = { url: ways.url, till, payer, wish: { ...wish, ...split } };
  const attempt = await cell.way.begin(shopping);
  return { cell, attempt, payer, till, amount: amount + (tip ?? 0), result: null };
}

/**
 * Runs the sales of each payer one after another, because a card can be at only one reader at a
 * time.
 */
async function byPayer<T, R>(
  items: readonly T[],
  payerOf: (item: T) => WayPayer,
  run: (item: T) => Promise<R>,
): Promise<R[]> {
  const groups = Map.groupBy(items, payerOf);
  const done = await Promise.all(
    [...groups.values()].map(async (group) => {
      const results: R[] = [];
      for (const item of group) results.push(await run(item));
      return results;
    }),
  );
  return done.flat();
}

async function pay(play: Play): Promise<void> {
  play.result = await play.attempt.pay(0);
}

/** Returns the payments as steps: a list for each payer, one sale after another. */
export function paymentsOf(plays: readonly Play[]): Step[][] {
  const steps = Map.groupBy(plays, ({ payer }) => payer).values();
  return [...steps].map((group) => group.map((play) => () => pay(play)));
}

async function addCast(ways: WaysWorld, label: string): Promise<readonly WayPayer[]> {
  const kinds = WAYS.map(({ payer }) => payer);
  const payers = await addPayers(ways.payers, kinds, label);
  // Skips cards, because a card is created together with its payer.
  await Promise.all(payers.filter(({ kind }) => kind === 'enrolled').map((one) => one.chip()));
  return payers;
}

const at = (payers: readonly WayPayer[], { way }: Cell): WayPayer => {
  const payer = payers[WAYS.indexOf(way)];
  if (payer === undefined) throw new Error(`no payer for ${way.name}`);
  return payer;
};

/** Begins cells whose participants exist already. */
export async function beginOld(ways: WaysWorld, cells: readonly Cell[], label: string) {
  const old = await addCast(ways, `${label}old`);
  const cast = { payer: (cell: Cell) => at(old, cell), till: () => ways.till };
  // A sale makes its payer known to the service, so sales by unknown wallets come first.
  const unknown = WAYS.filter(({ payer }) => ['wallet', 'contract', 'bridge'].includes(payer));
  const first = await byPayer(
    unknown,
    (way) => cast.payer({ way } as Cell),
    async (way) => {
      const play = await begin(ways, cast, { way, young: 'nothing', tip: false });
      await pay(play);
      return play;
    },
  );
  const isOld = ({ young }: Cell) => young === 'nothing';
  const plays = await byPayer(cells.filter(isOld), cast.payer, (cell) => begin(ways, cast, cell));
  return { old, first, plays };
}

/** Begins cells in which an object is newer than the backup. */
export async function beginYoung(
  ways: WaysWorld,
  cells: readonly Cell[],
  { old, label }: { readonly old: readonly WayPayer[]; readonly label: string },
): Promise<Play[]> {
  const wanted = (age: Age) => cells.filter(({ young }) => young === age);
  const has = (age: Age) => wanted(age).length > 0;
  const [young, till, shop] = await Promise.all([
    has('payer') ? addCast(ways, `${label}young`) : [],
    has('till') ? addTill(ways.world, ways.till, `${label} till`) : ways.till,
    has('merchant') ? addShop(ways.world, `${label}-shop`) : ways.till,
  ]);
  const cast: Cast = {
    payer: (cell) => at(cell.young === 'payer' ? young : old, cell),
    till: ({ young: age }) => (age === 'till' ? till : age === 'merchant' ? shop : ways.till),
  };
  const now = cells.filter(({ young: age }) => age !== 'nothing' && age !== 'credential');
  const plays = await byPayer(now, cast.payer, (cell) => begin(ways, cast, cell));
  const renewed = await byPayer(wanted('credential'), cast.payer, async (cell) => {
    await cast.payer(cell).renew();
    return begin(ways, cast, cell);
  });
  return [...plays, ...renewed];
}

/** Checks on one node that the ledger agrees with the payer's response about the sale. */
async function checkBooked(ways: WaysWorld, play: Play, node: number): Promise<string[]> {
  const { result, amount, till } = play;
  if (result?.said !== 'succeeded') return [`it was reported ${result?.said}`];
  const merchant = caller(`${ways.url(node)}/v1`, till.secretKey);
  const { body: intent } = await persist(() => merchant.get(`/payment_intents/${result.intent}`));
  const path = `/payments/${intent.payment}`;
  const { status, body: payment } = await persist(() => merchant.get(path));
  const wrong = [
    intent.status === 'succeeded' ? [] : `its intent is ${intent.status}`,
    result.payment === null || result.payment === intent.payment ? [] : 'it has another payment',
    status === 200 && payment.amount === amount ? [] : `its payment is ${payment.amount}`,
  ];
  const { method } = play.cell.way;
  const shown = JSON.stringify(payment.payment_method);
  if (payment.recovered !== true && shown !== JSON.stringify(method)) wrong.push(`by ${shown}`);
  return wrong.flat();
}

/** Declines a payment on behalf of the payer, through a test helper of the merchant API. */
async function sayNo({ url, till }: WaysWorld, { intent }: WayResult, node: number): Promise<void> {
  const merchant = caller(`${url(node)}/v1`, till.secretKey);
  const path = `/test_helpers/payment_intents/${intent}/payer_confirm`;
  await persist(() => merchant.post(path, { approve: false }));
}

/**
 * Returns true if the response is allowed. After a loss of data, a pass may be unknown to the
 * service.
 */
function isAllowed({ way, young }: Cell, said: string): boolean {
  const isGone = young === 'payer' || young === 'credential';
  return way.again.includes(said) || (isGone && said === 'requires_payment_method');
}

/** Sends the client's request again, and then tries to use its credential for another sale. */
async function checkPlay(ways: WaysWorld, play: Play, node: number): Promise<string[]> {
  const { cell, attempt, result } = play;
  const wrong = await checkBooked(ways, play, node);
  if (cell.young !== 'till') {
    const again = await attempt.pay(node);
    if (again.said === 'succeeded' && result?.intent !== again.intent) {
      wrong.push(`its repeated request paid ${again.intent}`);
    }
    if (again.said === 'requires_payment_method')
      wrong.push('after its repeated request it can be paid again');
  }
  const spent = await attempt.spendAgain(node, ways.till);
  if (spent.said === 'requires_action') await sayNo(ways, spent, node);
  if (!isAllowed(cell, spent.said)) wrong.push(`for another sale: ${spent.said}`);
  return wrong;
}

/** @returns the errors by the name of the cell; empty if there are none */
export async function checkPlays(
  ways: WaysWorld,
  plays: readonly Play[],
  node: number,
): Promise<string[]> {
  // Skips sales of a merchant that was lost, because its keys no longer work.
  const requests = plays.filter(
    ({ cell }) => cell.young !== 'merchant' || ways.unbookable.size === 0,
  );
  const matches = await byPayer(
    requests,
    ({ payer }) => payer,
    async (play) => {
      const wrong = await checkPlay(ways, play, node).catch((error) => [String(error)]);
      return wrong.map((one) => `${nameOf(play.cell)}: ${one}`);
    },
  );
  return matches.flat();
}
