import type { MerchantAccount } from '#accounts/merchant-caller.ts';
import { deviceRoute } from '#apis/device/device-route.ts';
import { ForwardBody, ForwardedList, recordsOf } from '#apis/merchant/offline-schema.ts';
import { isRefusal } from '#core/answer.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { forwardOffline } from '#payments/offline/forward-offline.ts';
import { selectBouncedAddresses } from '#payments/offline/offline-queries.ts';
import { readPresentmentTerms } from '#payments/offline/presentment-terms.ts';
import { readOfflineRates } from '#payments/offline/signed-sale.ts';
import { offlineNotAllowed } from '#payments/offline/take-forwarded.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import { contractOf, numberOnContract } from '#settlement/contract-versions.ts';
import { selectOfflineRule } from '#terminals/offline-limit-queries.ts';
import { type OfflineLimits, offlineWithin } from '#terminals/offline-limits.ts';
import type { TerminalRow } from '#terminals/terminal-queries.ts';

/**
 * Returns the route that accepts sales that the terminal made while it was offline (behavior.md
 * 25.3).
 */
export function forwardRoute(ctx: ApiContext) {
  return deviceRoute<undefined, typeof ForwardBody>({
    method: 'POST',
    path: '/offline_payments',
    operationId: 'forwardOfflinePayments',
    moves: 'money',
    checksCredential: true,
    namesElements: true,
    summary: 'Forward the sales that this terminal accepted offline',
    description:
      'Safe to repeat at any point, from any terminal of the merchant: a sale is identified by ' +
      'account, mode, `from` and `nonce`, and settles at most once. The response does not wait ' +
      'for the chain: send the same records again to see their results. A record that does not ' +
      'verify gets an error in its place. No `Idempotency-Key` is needed.',
    idempotency: 'ignored',
    body: ForwardBody,
    responses: { 200: { schema: ForwardedList, description: 'One element for each record.' } },
    errors: ['offline_not_allowed', 'kyb_required', 'account_not_live', 'service_unavailable'],
    handle: async ({ caller, body, now }) => {
      const records = recordsOf(body.payments);
      if (isRefusal(records)) return records;
      if (!caller.active) {
        return offlineNotAllowed(
          'The terminal is inactive. An admin hands in its sales in the dashboard.',
        );
      }
      const { merchant, terminalId } = caller;
      return forwardOffline(ctx, { merchant, terminalId, records, now });
    },
  });
}

/** Maximum number of blocked addresses that a till stores. */
const MAX_BLOCKED = 10_000;

interface OfflineTill {
  readonly merchant: MerchantAccount;
  readonly row: TerminalRow;
}

/** Returns a till's offline limits, and the terms that wallets sign there. */
export async function readOffline(ctx: ApiContext, { merchant, row }: OfflineTill) {
  const rule = await selectOfflineRule(ctx.db, merchant.tenant.livemode);
  const offline = offlineWithin(row, rule);
  if (offline === null) return { offline, offline_terms: null };
  return { offline, offline_terms: await readTerms(ctx, { merchant, row }, offline) };
}

/** @returns `null` if no node responds; the till then keeps the terms that it has. */
async function readTerms(ctx: ApiContext, till: OfflineTill, limits: OfflineLimits) {
  const { db, chains, clock } = ctx;
  const { tenant, merchantNumber } = till.merchant;
  const chain = chains.find(({ config }) => config.livemode === tenant.livemode);
  if (chain === undefined || merchantNumber === null) return null;
  try {
    await chain.refreshToken();
    const { config } = chain;
    if (config.token.domainProblem !== null) return null;
    const { rates, ratesUntil } = await readOfflineRates(db, chain, merchantNumber);
    return {
      chain_id: config.chainId,
      usdc: config.usdc,
      usdc_name: config.usdcDomain.name,
      usdc_version: config.usdcDomain.version,
      settlement: contractOf(config, merchantNumber),
      merchant_number: numberOnContract(merchantNumber),
      rates,
      rates_until: ratesUntil?.toISOString() ?? null,
      presentment: await readPresentmentTerms(
        ctx,
        { tenant, terminalId: till.row.id },
        { ...limits, now: clock.now() },
      ),
      issued_at: clock.now().toISOString(),
      blocked: await selectBouncedAddresses(db, tenant, MAX_BLOCKED),
    };
  } catch (error) {
    if (error instanceof RpcUnavailable) return null;
    throw error;
  }
}
