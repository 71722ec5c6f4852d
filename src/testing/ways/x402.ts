import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm';
import { waitUntil } from '#sandbox/processes.ts';
import { REST_MS } from '#testing/restore-ground.ts';
import type { Attempt, Shopping, Told } from '#testing/ways/ways.ts';

type Settling = Awaited<ReturnType<Shopping['payer']['facilitator']>>;

/** What an x402 client sends for a resource, signed by the real package. */
async function signPayload(shopping: Shopping, facilitator: Settling, resource: string) {
  const { wish, payer } = shopping;
  const requirements = {
    ...facilitator.requirements({ price: wish.amount, resource }),
    // Nothing here is about signatures that end.
    maxTimeoutSeconds: 3_600,
  };
  const { network, asset } = requirements as { network: `eip155:${number}`; asset: string };
  const client = x402Client.fromConfig({
    schemes: [{ network, client: new ExactEvmScheme(await payer.buyer()) }],
    spendControls: { allowedAssets: [{ network, asset }] },
  });
  const payload = await client.createPaymentPayload({
    x402Version: 2,
    resource: { url: resource },
    accepts: [requirements as never],
  });
  return { payload, requirements };
}

/** A machine buys over x402. The seller's facilitator takes its money and pays the merchant. */
export async function sellOverX402(shopping: Shopping): Promise<Attempt> {
  const { payer, till, wish } = shopping;
  const facilitator = await payer.facilitator(till);
  const resource = `https://shop.example/${wish.order}`;
  const { payload, requirements } = await signPayload(shopping, facilitator, resource);
  const settle = async (asked: object): Promise<Told> => {
    let told: Told = { said: 'no answer', intent: null, payment: null };
    await waitUntil(async () => {
      // Throws while a node is away, as its server would answer 500 and be asked again.
      const settled = await facilitator.settle(payload, asked).catch(() => null);
      if (settled === null || settled.errorReason === 'settlement_pending') return false;
      const said = settled.success ? 'succeeded' : (settled.errorReason ?? 'failed');
      told = { said, intent: settled.extra?.paymentIntent ?? null, payment: null };
      return true;
    }, REST_MS);
    return told;
  };
  return {
    intent: null,
    pay: () => settle(requirements),
    spendAgain: () =>
      settle({ ...requirements, extra: { ...requirements.extra, resource: `${resource}/other` } }),
  };
}
