import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Actor } from '#audit/audit.ts';
import { isRefusal, type Refusal } from '#core/answer.ts';
import { assert } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import { register } from '#payouts/go-live.ts';
import { goLiveConsent, readConsent } from '#payouts/go-live-consent.ts';
import type { GoLiveRow } from '#payouts/go-live-queries.ts';
import type { ChainContext } from '#settlement/chain/chain-context.ts';

/**
 * Goes live in test mode with a generated wallet that signs immediately. Its key is discarded: the
 * wallet receives only test money, and mainnet requires a real wallet.
 */
export async function goLiveInTest(
  ctx: ChainContext,
  wish: { readonly tenant: Tenant; readonly actor: Actor; readonly now: Date },
): Promise<GoLiveRow | Refusal> {
  const { tenant } = wish;
  assert(!tenant.livemode, 'a wallet without a key would get real money');
  const wallet = privateKeyToAccount(generatePrivateKey());
  const consent = goLiveConsent(ctx.chains, { ...wish, wallet: wallet.address });
  if (isRefusal(consent)) return consent;
  const { deadline, typedData } = consent;
  const signature = await wallet.signTypedData(typedData as never);
  const input = { ...wish, consent: { wallet: wallet.address, deadline, signature } };
  const signed = await readConsent(ctx.chains, input);
  return isRefusal(signed) ? signed : register(ctx, input, signed);
}
