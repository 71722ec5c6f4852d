import { type Refusal, refuse } from '#core/answer.ts';
import type { FeeRates } from '#core/charges.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import { approvalToSend, approvalToSign } from '#payers/approval-to-sign.ts';
import type { PayerRow } from '#payers/payer-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { readFeeRates } from '#settlement/chain/fees/fee-rates.ts';
import {
  type PayerAccount,
  readPayerAccount,
  readPermitNonce,
} from '#settlement/chain/read/payer-balance.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';

interface WalletState {
  readonly chain: Chain;
  readonly account: PayerAccount;
  /** `null` if the token does not support permits. */
  readonly permitNonce: bigint | null;
  readonly rates: FeeRates;
  /**
   * The payer's policy on an earlier contract; `null` if there is one on the current contract, or
   * none at all.
   */
  readonly former: Former | null;
}

interface Former {
  readonly settlement: Hex;
  readonly account: PayerAccount;
}

/** Returns the newest earlier contract on which the payer has a policy; `null` if there is none. */
async function readFormer(chain: Chain, payer: Hex): Promise<Former | null> {
  for (const { settlement } of chain.config.formerSettlements.toReversed()) {
    const account = await readPayerAccount(chain, payer, settlement);
    if (account.policy.status === 'set') return { settlement, account };
  }
  return null;
}

export async function readWallet(ctx: ApiContext, payer: PayerRow): Promise<WalletState | Refusal> {
  const chain = ctx.chains.find((one) => one.config.livemode === payer.livemode);
  const away = () => refuse('service_unavailable', 'The chain cannot be reached. Try again.');
  if (chain === undefined) return away();
  try {
    const [account, permitNonce, rates] = await Promise.all([
      readPayerAccount(chain, payer.address),
      readPermitNonce(chain, payer.address),
      readFeeRates(chain),
      chain.refreshToken(),
    ]);
    const isNew = account.policy.status === 'none';
    const former = isNew ? await readFormer(chain, payer.address) : null;
    return { chain, account, permitNonce, rates, former };
  } catch (error) {
    if (error instanceof RpcUnavailable) return away();
    throw error;
  }
}

/**
 * Returns atoms as a JSON number. An unlimited allowance is too large for an exact number, so the
 * largest exact one stands for it.
 */
function shownAtoms(value: bigint): number {
  const max = BigInt(Number.MAX_SAFE_INTEGER);
  return toJsonAtoms(value > max ? max : value);
}

function renderPolicy({ policy }: PayerAccount) {
  if (policy.status !== 'set') return null;
  return {
    per_payment: toJsonAtoms(policy.perPayment),
    per_period: toJsonAtoms(policy.perPeriod),
    period_seconds: policy.periodSeconds,
    spent: toJsonAtoms(policy.spent),
    expires_at: policy.expiresAt.toISOString(),
    max_fee_rate: policy.maxFeeRate,
  };
}

export function renderWallet(payer: PayerRow, state: WalletState, now: Date) {
  const { chain, account, permitNonce, rates, former } = state;
  const { config } = chain;
  return {
    object: 'wallet',
    livemode: payer.livemode,
    network: networkOf(payer.livemode),
    address: payer.address,
    balance: shownAtoms(account.balance),
    allowance: shownAtoms(account.allowance),
    policy: renderPolicy(account),
    former:
      former === null
        ? null
        : {
            settlement: former.settlement,
            policy: renderPolicy(former.account),
            allowance: shownAtoms(former.account.allowance),
          },
    fee_rates: rates,
    chain_id: config.chainId,
    usdc: config.usdc,
    usdc_domain: config.usdcDomain,
    settlement: config.settlement,
    nonces: {
      permit: permitNonce === null ? null : Number(permitNonce),
      policy: Number(account.nonce),
    },
    to_sign: approvalToSign({
      network: config,
      payer: payer.address,
      nonces: { permit: permitNonce, policy: account.nonce },
      feeRate: rates.acquirer + rates.protocol,
      now,
    }),
    to_send: approvalToSend(config),
  };
}
