import type { PaymentIntent } from 'tapline';
import { paidBy, type Seller } from './sale-intent.ts';

/** The age up to which sales are searched: long enough for an operator to restart the program. */
const LOOK_BACK_MS = 7 * 86_400_000;
/** Allowed difference between this machine's clock and block times. */
const CLOCKS_DIFFER_MS = 600_000;
/** Time limit of a refund. One that takes longer is picked up by the next sweep. */
const WAIT_MS = 30_000;

/** Ids of the intents that this process knows to owe nothing to a client. */
export type Seen = Set<string>;

/**
 * Returns money for sales that ended without a payment, because the process was killed and the
 * client did not ask again.
 * @returns the ids of the refunded intents.
 */
export async function sweep(seller: Seller, seen: Seen, now: Date): Promise<string[]> {
  const { merchant, terminal } = seller;
  const created_gte = new Date(now.getTime() - LOOK_BACK_MS).toISOString();
  const query = { terminal, status: 'canceled' as const, created_gte, limit: 100 };
  const returned: string[] = [];
  for await (const intent of merchant.paymentIntents.list(query)) {
    if (seen.has(intent.id) || intent.metadata.x402_nonce === undefined) continue;
    const status = await giveBack(seller, intent);
    if (status === 'returned') returned.push(intent.id);
    // Anyone who has an authorization can submit it until it expires.
    const ended = Number(intent.metadata.x402_until) * 1000 + CLOCKS_DIFFER_MS < now.getTime();
    if (status === 'nothing_owed' || (status === 'nothing_taken' && ended)) seen.add(intent.id);
  }
  return returned;
}

async function giveBack(seller: Seller, intent: PaymentIntent) {
  const { token } = seller;
  const authorization = paidBy(seller, intent);
  if (!(await token.isUsed(authorization))) return 'nothing_taken';
  const arrival = await token.findArrival(authorization);
  if (arrival.status === 'unknown') return 'under_way';
  if (arrival.status === 'elsewhere') return 'nothing_owed';
  const back = await token.giveBack(authorization);
  if (await token.isUsed(back)) return 'nothing_owed';
  const given = await token.transfer(back, WAIT_MS);
  return given.status === 'done' ? 'returned' : 'under_way';
}
