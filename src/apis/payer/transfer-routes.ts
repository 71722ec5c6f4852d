import { type PayerCaller, payerOfCaller } from '#apis/payer/authenticate-payer.ts';
import { payerRoute } from '#apis/payer/payer-route.ts';
import { TransferBody } from '#apis/payer/payer-schema.ts';
import { answerWhenDone, requestResponse } from '#apis/payer/wait-for-chain-result.ts';
import { readWallet } from '#apis/payer/wallet-state.ts';
import { isRefusal } from '#core/answer.ts';
import { HOUR_MS } from '#core/durations.ts';
import { networkOf } from '#core/mode.ts';
import { createTransfer, type TakeTransfer, TRANSFERS_PER_DAY } from '#payers/create-transfer.ts';
import { selectHasPaid } from '#payers/payer-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { deployerFor } from '#payments/deploy-wallet.ts';
import { addressBucket, takeAttempt } from '#people/attempt-limits.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { isAuthorizationUsed } from '#settlement/chain/read/payer-balance.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { takeGas } from '#settlement/gas-budget.ts';
import { TRANSFER_GAS } from '#settlement/gas-ceilings.ts';
import { canSponsor } from '#settlement/status/relayer-status.ts';

/** A contract wallet can make a transfer fail in the block so often. */
const TRANSFER_TRIES = 3n;

/**
 * Returns a function that counts a transfer toward the limits, in the caller's transaction.
 * Reaching the network's limit raises an alarm: the cause may be a busy hour, or an attack that
 * drains the sponsor's gas.
 */
export function takeTransfer(
  { tenant, address }: PayerCaller,
  { gaslessLimits, gas }: Pick<ApiContext['settings'], 'gaslessLimits' | 'gas'>,
  now: Date,
): TakeTransfer {
  const { perAddress, perHour } = gaslessLimits;
  const { livemode } = tenant;
  const network = networkOf(livemode);
  const within = (attempts: number) => ({ allowance: { attempts, windowMs: HOUR_MS }, now });
  const paysFor = (what: string) =>
    `The operator pays for at most ${what}. This wallet can still send the transfer itself.`;
  return async (tx, { id: subjectId, payer }) => {
    const bucket = addressBucket(`transfers ${network}`, address);
    const ofAddress = await takeAttempt(tx, bucket, within(perAddress));
    if (ofAddress !== null) {
      const message = paysFor(`${perAddress} transfers an hour from one address`);
      return { ...ofAddress, message };
    }
    const ofAll = await takeAttempt(tx, `transfers ${network} in all`, within(perHour));
    if (ofAll === null) {
      const { hasPaid } = await selectHasPaid(tx, { payerId: payer.id });
      const call = { livemode, kind: 'transfer', subjectId, wallet: payer.address } as const;
      const counted = { ...call, hasPaid, gas: TRANSFER_GAS * TRANSFER_TRIES, now };
      const taken = await takeGas(tx, counted, gas.perDay.transfer);
      return isRefusal(taken) ? taken : null;
    }
    const alarm = { kind: 'gasless_limit', subject: network, details: { per_hour: perHour } };
    await insertAlarms(tx, livemode, [alarm], now);
    return { ...ofAll, message: paysFor(`${perHour} transfers an hour`) };
  };
}

const EXAMPLE = {
  to: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  amount: 2_500_000,
  valid_before: 1_795_000_900,
  nonce: `0x${'3b'.repeat(32)}`,
  signature: `0x${'5c'.repeat(64)}1b`,
};

/**
 * True if the operator pays the gas of transfers, which is off by default. A sandbox always pays on
 * its own chains, where gas is free and wallets have no native coin.
 */
export function paysGas(
  settings: Pick<ApiContext['settings'], 'gaslessTransfers' | 'isSandbox' | 'chains'>,
  livemode: boolean,
): boolean {
  const network = networkOf(livemode);
  const { gaslessTransfers, isSandbox, chains } = settings;
  return gaslessTransfers?.includes(network) ?? (isSandbox && chains[network] === null);
}

/** True if the operator pays the gas of transfers and the sponsor's key has enough coin for it. */
export async function sponsorsNow(ctx: ApiContext, chain: Chain): Promise<boolean> {
  return paysGas(ctx.settings, chain.config.livemode) && (await canSponsor(ctx.db, chain));
}

export function transferRoute(ctx: ApiContext) {
  return payerRoute<undefined, typeof TransferBody>({
    method: 'POST',
    path: '/transfers',
    operationId: 'createTransfer',
    moves: 'money',
    // Requires no fresh signature, because the body already contains the wallet's signature for
    // this request.
    asks: 'never',
    summary: 'Send USDC from the wallet; the operator pays the gas',
    description:
      'If the operator has switched it on (`gasless` of `GET /approvals`), from 1 USDC, ' +
      `${TRANSFERS_PER_DAY} per day and wallet, and while the sponsor's key can pay for gas; ` +
      'else 409 `not_configured`. The body is an EIP-3009 `TransferWithAuthorization` with ' +
      '`validAfter` 0. Sent again with the same nonce it is the same transfer; `GET ' +
      '/approvals/{id}` follows it. A wallet that is not on the chain yet (ERC-6492) is deployed ' +
      'first, if the operator lists its factory. If that takes long, the answer is 503: send ' +
      'the same request again.',
    body: TransferBody,
    bodyExample: EXAMPLE,
    responses: { 201: requestResponse },
    errors: [
      'service_unavailable',
      'unexpected_state',
      'not_configured',
      'wallet_not_deployed',
      'rate_limit_exceeded',
      'resource_missing',
    ],
    handle: async ({ caller, body, now, whenGone }) => {
      const payer = payerOfCaller(caller);
      const wallet = await readWallet(ctx, payer);
      if (isRefusal(wallet)) return wallet;
      const { chain, account } = wallet;
      const isOn = await sponsorsNow(ctx, chain);
      const { balance } = account;
      const isUsed = (from: Hex, nonce: Hex) => isAuthorizationUsed(chain, { from, nonce });
      const take = takeTransfer(caller, ctx.settings, now);
      const gone = whenGone();
      const { address } = caller;
      const deploy = deployerFor(ctx, { subject: `payer ${payer.id}`, address, gone });
      const input = { payer, chain, balance, isUsed, isOn, take, deploy, signed: body, now };
      const id = await createTransfer(ctx, input);
      return isRefusal(id) ? id : answerWhenDone(ctx, { id, payer, gone });
    },
  });
}
