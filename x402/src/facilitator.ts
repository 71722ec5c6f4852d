import { Tapline } from 'tapline';
import { nodeFetch } from 'tapline/node-fetch';
import type { Address, Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { TokenFacts } from './authorization.ts';
import { knownFactories } from './contract-wallets.ts';
import { findNetwork, isBelowFees, openPayer, type Payer, type SpendingLimits } from './payer.ts';
import {
  authorizationOf,
  IDENTIFIER,
  identifierOf,
  type Requirements,
  SCHEME,
  type Settled,
  type Verified,
  X402_VERSION,
} from './payment-requirements.ts';
import { totalOf } from './price-after-fees.ts';
import { type Seen, sweep } from './refund-unserved.ts';
import { findSale, type Seller } from './sale-intent.ts';
import { openSettling } from './settle.ts';
import { openToken } from './transfer-usdc.ts';
import { verify } from './verify.ts';

export interface FacilitatorOptions {
  /** URL of the network's API, which ends with `/api`. */
  readonly baseUrl: string;
  /** A key of the merchant, with `payments:read` and `payments:write`. */
  readonly apiKey: string;
  /** The merchant: `acct_…`. */
  readonly account: string;
  /** A terminal that no device polls, so that nothing else takes its intents. */
  readonly terminal: string;
  /**
   * Private key of the bridge wallet. The wallet holds the client's money for about a second, and
   * pays the gas.
   */
  readonly privateKey: string;
  /** URL of a node of the chain. */
  readonly rpcUrl: string;
  /**
   * Spending limits of the bridge, in atoms. At start, a policy is signed if the current one allows
   * less. Later, one is signed if the network has raised its fees above the current policy.
   */
  readonly limits: SpendingLimits;
  /**
   * The time that a settlement may take before the response is "pending", in milliseconds. @default
   * 85000
   */
  readonly waitMs?: number;
  /**
   * Contracts that may deploy the wallets of clients who have signed before their wallet was
   * deployed (ERC-6492). The bridge wallet pays the gas, at most a million per deployment. A wallet
   * gets three deployments an hour, and all wallets together a hundred a day; `onError` reports
   * when the daily limit is reached. The counts are kept in memory, per process, and a restart
   * resets them. @default those of Coinbase Smart Wallet and Safe on Base and Base Sepolia;
   * elsewhere none
   */
  readonly walletFactories?: readonly Address[];
  /**
   * Interval between sweeps for money to return, in milliseconds. The first sweep runs at the
   * start. @default 60000
   */
  readonly sweepMs?: number;
  /** Receives errors outside of a response. @default writes to standard error */
  readonly onError?: (error: unknown) => void;
}

export interface PricedResource {
  /** Atoms for the merchant. */
  readonly price: number;
  readonly resource: string;
  /** Your own name for the purchase: see {@link CallOptions}. */
  readonly key?: string | undefined;
}

export interface CallOptions {
  /**
   * Your own name for the purchase, for example an order number. All payments of a client under
   * one key are one purchase, and each call with the key gets its result. Without a key, the
   * client's `payment-identifier` counts; without either, only the first call gets a success.
   */
  readonly key?: string | undefined;
}

export interface Facilitator {
  readonly bridge: string;
  /** For example `eip155:<chain id>`. */
  readonly network: string;
  /**
   * Returns the payment requirements for a client, such that the merchant receives `price` atoms.
   */
  requirements(offer: PricedResource): Requirements;
  /**
   * Returns the requirements that this payment has to meet. If its money was taken for this price
   * before the network changed its fees, its total stays that of then. Otherwise the total is the
   * current one.
   */
  requirementsFor(payload: unknown, offer: PricedResource): Promise<Requirements>;
  verify(payload: unknown, requirements: unknown, options?: CallOptions): Promise<Verified>;
  /**
   * After "pending", repeat the call; never request a new signature. A success is returned once; a
   * further call gets `duplicate_settlement`, unless it names the purchase.
   */
  settle(payload: unknown, requirements: unknown, options?: CallOptions): Promise<Settled>;
  supported(): object;
  /**
   * Returns the money of sales that ended without a payment. Also runs at the start and every
   * `sweepMs`.
   */
  sweep(): Promise<string[]>;
  close(): void;
}

/**
 * The clients of `@x402/core` wait 90 seconds for a facilitator. They need the answer before that,
 * because it names the transaction.
 */
const WAIT_MS = 85_000;
/**
 * The longest time-out of a network. A payment that the network could not send within it has
 * failed, and the facilitator must learn that while it waits.
 */
const LONGEST_TIMEOUT_SECONDS = 80;
const SWEEP_MS = 60_000;
/**
 * The time for which the token's name is cached. USDC can be renamed; the network notices within 30
 * seconds.
 */
const TOKEN_MS = 20_000;
/** The time for which a client's signature is valid, in seconds. */
const SIGNATURE_SECONDS = 60;
/** A policy that expires within this many days is signed again at startup. */
const LEAST_POLICY_DAYS = 30;
const DAY_MS = 86_400_000;

export async function openFacilitator(options: FacilitatorOptions): Promise<Facilitator> {
  const { seller, refresh } = await openSeller(options);
  const waitMs = options.waitMs ?? WAIT_MS;
  const settle = openSettling(seller, { waitMs });
  const { onError = log } = options;
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
  // Cleans up after a process that was killed.
  sweepNow().catch(onError);
  const requirements = ({ price, resource }: PricedResource): Requirements => ({
    scheme: SCHEME,
    network,
    asset: facts.usdc,
    amount: String(totalOf(price, seller.feeRates())),
    payTo: seller.bridge,
    maxTimeoutSeconds: SIGNATURE_SECONDS,
    // A signature pays only for the resource that it was first presented for.
    extra: { ...facts.domain, resource },
  });
  return {
    bridge: seller.bridge,
    network,
    requirements,
    requirementsFor: async (payload, offer) => {
      const current = requirements(offer);
      const amount = await takenFor(seller, payload, { offer, total: current.amount });
      return amount === null ? current : { ...current, amount };
    },
    verify: (payload, requirements, named) =>
      verify(seller, { payload, requirements, key: named?.key }),
    settle: (payload, requirements, named) => settle({ payload, requirements, key: named?.key }),
    supported: () => ({
      kinds: [{ x402Version: X402_VERSION, scheme: SCHEME, network }],
      extensions: [IDENTIFIER],
      signers: { [network]: [seller.bridge] },
    }),
    sweep: sweepNow,
    close: () => {
      clearInterval(timer);
      clearInterval(renaming);
    },
  };
}

function log(error: unknown): void {
  console.error(error);
}

/**
 * Returns the total that was taken for a sale at this price, if it differs from the current one;
 * otherwise `null`.
 */
async function takenFor(
  seller: Seller,
  payload: unknown,
  { offer, total }: { readonly offer: PricedResource; readonly total: string },
): Promise<string | null> {
  const authorization = authorizationOf(payload);
  if (authorization === null || String(authorization.value) === total) return null;
  const identifier = identifierOf(payload, offer.key) ?? null;
  const { token } = seller;
  const isTaken = token.isUnderWay(authorization) || (await token.isUsed(authorization));
  if (!isTaken) return null;
  const sale = await findSale(seller, { authorization, identifier });
  return sale?.intent.amount === offer.price ? String(authorization.value) : null;
}

/** Clients sign over the token's name, so new requirements must use the current one. */
async function followToken(options: FacilitatorOptions, { domain }: TokenFacts): Promise<void> {
  const isLive = options.apiKey.startsWith('tlsk_live_');
  const network = await findNetwork(options.baseUrl.replace(/\/+$/, ''), isLive);
  Object.assign(domain, network.usdc_domain);
}

async function openSeller(options: FacilitatorOptions) {
  const { account, terminal, apiKey, rpcUrl } = options;
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const merchant = new Tapline(apiKey, { baseUrl, fetch: nodeFetch });
  const wallet = privateKeyToAccount(options.privateKey as Hex);
  const network = await findNetwork(baseUrl, apiKey.startsWith('tlsk_live_'));
  const { settlement_timeout_seconds: timeout = 0 } = network;
  if (timeout > LONGEST_TIMEOUT_SECONDS) {
    throw new Error(
      `The network's SETTLEMENT_TIMEOUT_SECONDS is ${timeout}. x402 needs ` +
        `${LONGEST_TIMEOUT_SECONDS} or less, because its clients wait 90 s.`,
    );
  }
  const payer = openPayer(baseUrl, wallet, network);
  const { usdc, usdc_domain: domain, chain_id: chainId } = network;
  const { walletFactories: factories = knownFactories(chainId), onError = log } = options;
  const token = openToken({ rpcUrl, chainId, usdc, domain }, wallet, { factories, onError });
  await approve(payer, options.limits);
  let { fee_rates: rates } = await payer.wallet();
  let approving = false;
  const refresh = async () => {
    const current = await payer.wallet();
    rates = current.fee_rates;
    // An approval may outlast the interval, and a second one would use the same nonce. A revoked
    // policy stays revoked until the next start.
    if (approving || !isBelowFees(current)) return;
    approving = true;
    try {
      await payer.approve(options.limits);
    } finally {
      approving = false;
    }
  };
  const feeRates = () => rates;
  const bridge = wallet.address;
  const seller: Seller = { merchant, account, terminal, payer, token, bridge, feeRates };
  return { seller, refresh };
}

/** Approves USDC and signs a policy, unless the bridge wallet's policy suffices. */
async function approve(payer: Payer, limits: SpendingLimits): Promise<void> {
  const wallet = await payer.wallet();
  const { policy } = wallet;
  const enough =
    policy !== null &&
    policy.per_payment >= limits.perPayment &&
    policy.per_period >= limits.perDay &&
    !isBelowFees(wallet) &&
    Date.parse(policy.expires_at) > Date.now() + LEAST_POLICY_DAYS * DAY_MS;
  if (!enough) await payer.approve(limits);
}
