import { Tapline } from 'tapline';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { findNetwork, openPayer, type Payer, type SpendingLimits } from './payer.ts';
import { totalOf } from './price.ts';
import type { Seller } from './sale.ts';
import { settle } from './settle.ts';
import { type Seen, sweep } from './sweep.ts';
import { openToken, type TokenFacts } from './token.ts';
import { verify } from './verify.ts';
import { type Requirements, SCHEME, type Settled, type Verified, X402_VERSION } from './wire.ts';

export interface FacilitatorOptions {
  /** The API of the network: it ends with `/api`. */
  readonly baseUrl: string;
  /** A key of the merchant, with `payments:read` and `payments:write`. */
  readonly apiKey: string;
  /** The merchant: `acct_…`. */
  readonly account: string;
  /** A terminal from which no device picks up intents. */
  readonly terminal: string;
  /** The bridge wallet's. It holds clients' money for a second, and pays gas for taking it. */
  readonly privateKey: string;
  /** A node of the chain. */
  readonly rpcUrl: string;
  /** What the bridge may pay for sales; signed at the start where less is allowed. Atoms. */
  readonly limits: SpendingLimits;
  /** Milliseconds that a settlement may take before its answer is "pending". @default 25000 */
  readonly waitMs?: number;
  /** Milliseconds between two searches for money that has to go back. @default 60000 */
  readonly sweepMs?: number;
  /** What went wrong beside an answer. @default written to the standard error */
  readonly onError?: (error: unknown) => void;
}

/** Takes payments of x402 clients for one merchant. */
export interface Facilitator {
  readonly bridge: string;
  /** What a client has to be asked for, so that the merchant gets `price` atoms. */
  requirements(offer: { readonly price: number; readonly resource: string }): Requirements;
  verify(payload: unknown, requirements: unknown): Promise<Verified>;
  /** The same call gives the same answer; "pending" is to be asked again, never signed again. */
  settle(payload: unknown, requirements: unknown): Promise<Settled>;
  supported(): object;
  /** Gives back what belongs to sales that ended unpaid. Also done now and then by itself. */
  sweep(): Promise<string[]>;
  close(): void;
}

const WAIT_MS = 25_000;
const SWEEP_MS = 60_000;
/** USDC can be renamed; the network notices within half a minute. */
const TOKEN_MS = 20_000;
/** Seconds in which a client's signature may be used. */
const SIGNATURE_SECONDS = 60;
/** A policy that ends within these days is signed anew at the start. */
const LEAST_POLICY_DAYS = 30;
const DAY_MS = 86_400_000;

export async function openFacilitator(options: FacilitatorOptions): Promise<Facilitator> {
  const { seller, refresh } = await openSeller(options);
  const waitMs = options.waitMs ?? WAIT_MS;
  const { onError = (error) => console.error(error) } = options;
  const seen: Seen = new Set();
  const { facts } = seller.token;
  const network = `eip155:${facts.chainId}`;
  const sweepNow = () => sweep(seller, seen, new Date());
  const timer = setInterval(() => {
    Promise.all([refresh(), sweepNow()]).catch(onError);
  }, options.sweepMs ?? SWEEP_MS);
  const renaming = setInterval(() => {
    followToken(options, facts).catch(onError);
  }, TOKEN_MS);
  // What a process before this one left behind.
  sweepNow().catch(onError);
  return {
    bridge: seller.bridge,
    requirements: ({ price, resource }) => ({
      scheme: SCHEME,
      network,
      asset: facts.usdc,
      amount: String(totalOf(price, seller.feeRates())),
      payTo: seller.bridge,
      maxTimeoutSeconds: SIGNATURE_SECONDS,
      // A signature buys the resource that it was first presented for.
      extra: { ...facts.domain, resource },
    }),
    verify: (payload, requirements) => verify(seller, { payload, requirements }),
    settle: (payload, requirements) => settle(seller, { payload, requirements }, { waitMs }),
    supported: () => ({
      kinds: [{ x402Version: X402_VERSION, scheme: SCHEME, network }],
      extensions: [],
      signers: { [network]: [seller.bridge] },
    }),
    sweep: sweepNow,
    close: () => {
      clearInterval(timer);
      clearInterval(renaming);
    },
  };
}

/** Clients sign for the token by its name: a renamed one is asked for by the new name. */
async function followToken(options: FacilitatorOptions, { domain }: TokenFacts): Promise<void> {
  const isLive = options.apiKey.startsWith('tlsk_live_');
  const network = await findNetwork(options.baseUrl.replace(/\/+$/, ''), isLive);
  Object.assign(domain, network.usdc_domain);
}

async function openSeller(options: FacilitatorOptions) {
  const { account, terminal, apiKey, rpcUrl } = options;
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const merchant = new Tapline(apiKey, { baseUrl });
  const wallet = privateKeyToAccount(options.privateKey as Hex);
  const network = await findNetwork(baseUrl, apiKey.startsWith('tlsk_live_'));
  const payer = openPayer(baseUrl, wallet, network);
  const { usdc, usdc_domain: domain, chain_id: chainId } = network;
  const token = openToken({ rpcUrl, chainId, usdc, domain }, wallet);
  await approve(payer, options.limits);
  let { fee_rates: rates } = await payer.wallet();
  const refresh = async () => {
    rates = (await payer.wallet()).fee_rates;
  };
  const feeRates = () => rates;
  const bridge = wallet.address;
  const seller: Seller = { merchant, account, terminal, payer, token, bridge, feeRates };
  return { seller, refresh };
}

/** What the bridge has allowed already is not signed again. */
async function approve(payer: Payer, limits: SpendingLimits): Promise<void> {
  const { policy } = await payer.wallet();
  const enough =
    policy !== null &&
    policy.per_payment >= limits.perPayment &&
    policy.per_period >= limits.perDay &&
    Date.parse(policy.expires_at) > Date.now() + LEAST_POLICY_DAYS * DAY_MS;
  if (!enough) await payer.approve(limits);
}
