import type { PayerCaller } from '#apis/payer/authenticate.ts';
import type { Refusal } from '#core/answer.ts';
import { HOUR_MS } from '#core/durations.ts';
import { networkOf } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { addressBucket, takeAttempt } from '#people/attempts.ts';
import { insertAlarms } from '#settlement/alarms.ts';

/** The most transfers per hour that the operator pays for. */
export interface TransferLimits {
  /** Per IP address, since its owner can create any number of wallets. */
  readonly perAddress: number;
  /** Per network in total. */
  readonly perHour: number;
}

/**
 * Counts a transfer in its own transaction. Reaching the network's limit raises an alarm, so that
 * nothing drains the sponsor's gas balance unnoticed and the operator can tell a busy hour from an
 * attack.
 */
export function takeTransfer(
  { tenant, address }: PayerCaller,
  { perAddress, perHour }: TransferLimits,
  now: Date,
): (tx: Tx) => Promise<Refusal | null> {
  const { livemode } = tenant;
  const network = networkOf(livemode);
  const within = (attempts: number) => ({ allowance: { attempts, windowMs: HOUR_MS }, now });
  const paysFor = (what: string) =>
    `The operator pays for ${what}. This wallet can send by itself.`;
  return async (tx) => {
    const bucket = addressBucket(`transfers ${network}`, address);
    const ofAddress = await takeAttempt(tx, bucket, within(perAddress));
    if (ofAddress !== null) {
      const message = paysFor(`${perAddress} transfers an hour from one address`);
      return { ...ofAddress, message };
    }
    const ofAll = await takeAttempt(tx, `transfers ${network} in all`, within(perHour));
    if (ofAll === null) return null;
    const alarm = { kind: 'gasless_limit', subject: network, details: { per_hour: perHour } };
    await insertAlarms(tx, livemode, [alarm], now);
    return { ...ofAll, message: paysFor(`${perHour} transfers an hour`) };
  };
}
