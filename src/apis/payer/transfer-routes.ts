import { type PayerCaller, payerOfCaller } from '#apis/payer/authenticate.ts';
import { answerWhenDone, requestResponse } from '#apis/payer/chain-answer.ts';
import type { PayerDeps } from '#apis/payer/deps.ts';
import { TransferBody } from '#apis/payer/schema.ts';
import { takeTransfer } from '#apis/payer/transfer-limits.ts';
import { readWallet } from '#apis/payer/wallet-state.ts';
import { isRefusal } from '#core/answer.ts';
import { networkOf } from '#core/mode.ts';
import { defineRoute } from '#http/route.ts';
import { createTransfer, TRANSFERS_PER_DAY } from '#payers/create-transfer.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { isAuthorizationUsed } from '#settlement/chain/payer.ts';
import type { Hex } from '#settlement/requests.ts';
import { canSponsor } from '#settlement/status/relayer-status.ts';

const EXAMPLE = {
  to: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  amount: 2_500_000,
  valid_before: 1_795_000_900,
  nonce: `0x${'3b'.repeat(32)}`,
  signature: `0x${'5c'.repeat(64)}1b`,
};

/**
 * True if the operator pays for gas: off unless switched on. A sandbox always pays on its own
 * chains, where gas costs nothing and wallets hold no native coin.
 */
export function paysGas({ config }: Pick<PayerDeps, 'config'>, livemode: boolean): boolean {
  const network = networkOf(livemode);
  const { gaslessTransfers, isSandbox, chains } = config;
  return gaslessTransfers?.includes(network) ?? (isSandbox && chains[network] === null);
}

/** True if it is switched on and the sponsor's key can pay for gas. */
export async function sponsorsNow(deps: PayerDeps, chain: Chain): Promise<boolean> {
  return paysGas(deps, chain.config.livemode) && (await canSponsor(deps.db, chain));
}

export function transferRoute(deps: PayerDeps) {
  return defineRoute<PayerCaller, undefined, typeof TransferBody>({
    method: 'POST',
    path: '/transfers',
    operationId: 'createTransfer',
    moves: 'money',
    // The body already contains the wallet's signature for this request.
    asks: 'never',
    tag: 'Payer app',
    summary: 'Send USDC from the wallet; the operator pays the gas',
    description:
      'If the operator has switched it on (`gasless` of `GET /approvals`), from 1 USDC, ' +
      `${TRANSFERS_PER_DAY} per day and wallet, and while the sponsor's key can pay for gas; ` +
      'else 409 `not_configured`. The body is an EIP-3009 `TransferWithAuthorization` with ' +
      '`validAfter` 0. Sent again with the same nonce it is the same transfer; `GET ' +
      '/approvals/{id}` follows it.',
    scope: null,
    // The authorization's nonce serves as the idempotency key: a repeated request is the same
    // transfer.
    idempotency: 'ignored',
    body: TransferBody,
    bodyExample: EXAMPLE,
    responses: { 201: requestResponse },
    errors: [
      'service_unavailable',
      'unexpected_state',
      'not_configured',
      'rate_limit_exceeded',
      'resource_missing',
    ],
    handle: async ({ caller, body, now, whenGone }) => {
      const payer = payerOfCaller(caller);
      const wallet = await readWallet(deps, payer);
      if (isRefusal(wallet)) return wallet;
      const { chain, account } = wallet;
      const isOn = await sponsorsNow(deps, chain);
      const { balance } = account;
      const isUsed = (from: Hex, nonce: Hex) => isAuthorizationUsed(chain, { from, nonce });
      const take = takeTransfer(caller, deps.config.gaslessLimits, now);
      const network = chain.config;
      const asked = { payer, network, balance, isUsed, isOn, take, signed: body, now };
      const id = await createTransfer(deps, asked);
      return isRefusal(id) ? id : answerWhenDone(deps, { id, payer, gone: whenGone() });
    },
  });
}
