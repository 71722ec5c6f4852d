import type { DeviceApi } from '../../data/device-api.ts';
import { openedNone } from '../till-machine.ts';
import type { HeldSale, Replaced } from './held-sales.ts';

/** The calls that end an online payment. */
export type PaymentApi = Pick<DeviceApi, 'create' | 'cancel' | 'intent'>;

/**
 * The status of the online payment that a sale replaces. `ended`: it can no longer be paid, so the
 * sale may be forwarded. `unknown`: it may still be paid, so the sale waits.
 */
export type Ended = 'ended' | 'paid' | 'unknown';

/** Returns the intent's ID; `null` if the request opened none, `undefined` if that is unknown. */
async function findIntent(api: PaymentApi, replaces: Replaced): Promise<string | null | undefined> {
  if ('id' in replaces) return replaces.id;
  const { create } = replaces;
  const made = await api.create({ ...create, amount: BigInt(create.amount) });
  if (made.is === 'done') return made.value.id;
  return openedNone(made) ? null : undefined;
}

/** Cancels an intent, and returns whether it has ended. */
async function end(api: PaymentApi, id: string): Promise<Ended> {
  const canceled = await api.cancel(id);
  if (canceled.is === 'done') return 'ended';
  if (canceled.is !== 'refused' || canceled.status >= 500) return 'unknown';
  const seen = await api.intent(id);
  // An intent of another terminal, as which this device was paired before. The service ends it
  // when it gets the sale.
  if (seen.is === 'refused' && seen.status === 404) return 'ended';
  if (seen.is !== 'done') return 'unknown';
  const { status } = seen.value;
  if (status === 'succeeded') return 'paid';
  return status === 'canceled' ? 'ended' : 'unknown';
}

/**
 * Cancels the online payment that a sale replaces.
 * @returns the sale, which now names the payment's intent, and whether that has ended
 */
export async function endReplaced(
  api: PaymentApi,
  sale: HeldSale,
): Promise<{ readonly sale: HeldSale; readonly ended: Ended }> {
  const { replaces = null } = sale;
  if (replaces === null) return { sale, ended: 'ended' };
  const id = await findIntent(api, replaces);
  if (id === undefined) return { sale, ended: 'unknown' };
  if (id === null) return { sale: { ...sale, replaces: null }, ended: 'ended' };
  const ended = await end(api, id);
  return { sale: { ...sale, replaces: { id } }, ended };
}
