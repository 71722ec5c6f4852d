import { setTimeout as sleep } from 'node:timers/promises';
import { nodeFetch } from 'tapline/node-fetch';
import { type Address, getAddress, type Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import type { FeeRates } from './price-after-fees.ts';

export interface Payer {
  wallet(): Promise<Wallet>;
  /** Creates a token that pays `account` exactly `amount`, once. */
  createAgentToken(token: { readonly account: string; readonly amount: number }): Promise<string>;
  /** Approves USDC for the settlement contract and signs a policy with these limits. */
  approve(limits: SpendingLimits): Promise<void>;
}

/** In atoms, for sales without fees. */
export interface SpendingLimits {
  readonly perPayment: number;
  readonly perDay: number;
}

export interface Network {
  readonly livemode: boolean;
  readonly chain_id: number;
  readonly usdc: Address;
  readonly usdc_domain: { name: string; version: string };
  readonly settlement: Address;
  /** `undefined` on networks of an earlier release. */
  readonly settlement_timeout_seconds?: number;
}

export interface Wallet extends Network {
  readonly balance: number;
  readonly allowance: number;
  readonly policy: {
    readonly per_payment: number;
    readonly per_period: number;
    readonly expires_at: string;
    readonly max_fee_rate: number;
  } | null;
  readonly fee_rates: FeeRates;
  readonly nonces: { readonly permit: number; readonly policy: number };
}

/** Thrown if the payer API refused a request. */
export class PayerError extends Error {
  override readonly name = 'PayerError';
  readonly status: number;
  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

const TIMEOUT_MS = 20_000;
/** Longer than the network waits for the block of an approval: 60 seconds. */
const APPROVAL_TIMEOUT_MS = 75_000;
/**
 * Statuses that mean that the session has expired, or that the last wallet signature is too old to
 * create a token.
 */
const SIGN_IN_STATUSES: readonly number[] = [401, 403];
/** Lifetime of an agent token, which is used immediately. */
const TOKEN_SECONDS = 60;
const DAY_SECONDS = 86_400;
const POLICY_DAYS = 365;
/**
 * Lifetime of the signatures. Permit and policy are sent within seconds, so one that leaks later is
 * worthless.
 */
const DEADLINE_SECONDS = 900;
/** The largest integer that JSON numbers represent exactly. */
const ALLOWANCE = Number.MAX_SAFE_INTEGER;
/** Polling interval while an approval waits for its block. */
const LOOK_MS = 500;
const LOOKS = 240;

interface Approval {
  readonly id: string;
  readonly status: 'pending' | 'succeeded' | 'failed';
}

interface ApiRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly token?: string;
  readonly timeoutMs?: number;
}

async function ask<T>(
  baseUrl: string,
  { method, path, body, token, timeoutMs = TIMEOUT_MS }: ApiRequest,
): Promise<T> {
  const headers: Record<string, string> = {};
  if (token !== undefined) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const signal = AbortSignal.timeout(timeoutMs);
  const url = `${baseUrl}/payer/v1${path}`;
  const response = await nodeFetch(url, { method, headers, signal, ...sent }).catch(
    (cause: unknown) => {
      throw new Error(`${method} ${url} was not answered`, { cause });
    },
  );
  const answer = (await response.json()) as { error?: { message: string } };
  if (!response.ok) throw new PayerError(`${path}: ${answer.error?.message}`, response.status);
  return answer as T;
}

/** Returns the network of the mode, which determines the chain and its contracts. */
export async function findNetwork(baseUrl: string, livemode: boolean): Promise<Network> {
  const { data } = await ask<{ data: Network[] }>(baseUrl, { method: 'GET', path: '/networks' });
  const network = data.find((one) => one.livemode === livemode);
  if (network === undefined) throw new Error(`${baseUrl} has no network in the key's mode.`);
  return { ...network, usdc: getAddress(network.usdc) };
}

async function signIn(baseUrl: string, account: PrivateKeyAccount, chainId: number) {
  const path = '/sign_in/nonce';
  const { nonce } = await ask<{ nonce: string }>(baseUrl, { method: 'POST', path });
  const { host, origin } = new URL(baseUrl);
  const message = createSiweMessage({
    address: account.address,
    version: '1',
    statement: 'Sign in to Tapline.',
    domain: host,
    uri: origin,
    chainId,
    nonce,
    issuedAt: new Date(),
  });
  const body = { message, signature: await account.signMessage({ message }) };
  const session = await ask<{ token: string }>(baseUrl, { method: 'POST', path: '/sign_in', body });
  return session.token;
}

export function openPayer(baseUrl: string, account: PrivateKeyAccount, network: Network): Payer {
  let session: Promise<string> | null = null;
  const authenticate = () => {
    session ??= signIn(baseUrl, account, network.chain_id).catch((error: unknown) => {
      session = null;
      throw error;
    });
    return session;
  };
  /** A session ends after a day, or when it is revoked. Then the wallet signs in again. */
  const call = async <T>(request: ApiRequest): Promise<T> => {
    try {
      return await ask<T>(baseUrl, { ...request, token: await authenticate() });
    } catch (error) {
      if (!(error instanceof PayerError) || !SIGN_IN_STATUSES.includes(error.status)) throw error;
      session = null;
      return ask<T>(baseUrl, { ...request, token: await authenticate() });
    }
  };
  const wallet = () => call<Wallet>({ method: 'GET', path: '/approvals' });
  return {
    wallet,
    createAgentToken: async (token) => {
      const body = { ...token, expires_in: TOKEN_SECONDS };
      const minted = call<{ agent_token: string }>({ method: 'POST', path: '/agent_tokens', body });
      return (await minted).agent_token;
    },
    approve: async (limits) => {
      const body = await signApproval(account, await wallet(), limits);
      const approval = { method: 'POST', path: '/approvals', body } as const;
      let sent = await call<Approval>({ ...approval, timeoutMs: APPROVAL_TIMEOUT_MS });
      for (let look = 0; sent.status === 'pending' && look < LOOKS; look++) {
        await sleep(LOOK_MS);
        sent = await call<Approval>({ method: 'GET', path: `/approvals/${sent.id}` });
      }
      if (sent.status !== 'succeeded') {
        throw new Error(`The approval of the bridge wallet is ${sent.status}.`);
      }
    },
  };
}

/** Returns the fees that a policy must accept to pay now, in basis points of the sale. */
function feeRateOf({ fee_rates: { acquirer, protocol } }: Wallet): number {
  return acquirer + protocol;
}

/** True if the network has raised its fees above the policy, so that it declines every sale. */
export function isBelowFees(wallet: Wallet): boolean {
  return wallet.policy !== null && wallet.policy.max_fee_rate < feeRateOf(wallet);
}

/**
 * Signs permit and policy. The messages are built here, so that a compromised service cannot get
 * anything else signed.
 */
async function signApproval(account: PrivateKeyAccount, wallet: Wallet, limits: SpendingLimits) {
  const now = Math.floor(Date.now() / 1000);
  const deadline = now + DEADLINE_SECONDS;
  const terms = {
    per_payment: limits.perPayment,
    per_period: limits.perDay,
    period_seconds: DAY_SECONDS,
    expires_at: now + POLICY_DAYS * DAY_SECONDS,
    max_fee_rate: feeRateOf(wallet),
    deadline,
  };
  const policy = { ...terms, signature: await signPolicy(account, wallet, terms) };
  // The policy limits the charges; the permit only has to be large enough.
  if (wallet.allowance >= ALLOWANCE / 2) return { policy };
  const permit = { value: ALLOWANCE, deadline };
  return { permit: { ...permit, signature: await signPermit(account, wallet, permit) }, policy };
}

function signPermit(
  account: PrivateKeyAccount,
  wallet: Wallet,
  { value, deadline }: { readonly value: number; readonly deadline: number },
): Promise<Hex> {
  const names = ['owner:address', 'spender:address', 'value:uint256', 'nonce:uint256'];
  return account.signTypedData({
    domain: {
      ...wallet.usdc_domain,
      chainId: wallet.chain_id,
      verifyingContract: wallet.usdc,
    },
    types: { Permit: fieldsOf([...names, 'deadline:uint256']) },
    primaryType: 'Permit',
    message: {
      owner: account.address,
      spender: wallet.settlement,
      value: BigInt(value),
      nonce: BigInt(wallet.nonces.permit),
      deadline: BigInt(deadline),
    },
  });
}

function signPolicy(
  account: PrivateKeyAccount,
  wallet: Wallet,
  terms: Readonly<Record<string, number>>,
): Promise<Hex> {
  const limits = ['perPayment:uint48', 'perPeriod:uint48', 'periodSeconds:uint24'];
  const bounds = ['expiresAt:uint40', 'maxFeeRate:uint16', 'nonce:uint256', 'deadline:uint256'];
  const { chain_id: chainId, settlement: verifyingContract } = wallet;
  return account.signTypedData({
    domain: { name: 'Tapline Settlement', version: '2', chainId, verifyingContract },
    types: { SpendingPolicy: fieldsOf(['payer:address', ...limits, ...bounds]) },
    primaryType: 'SpendingPolicy',
    message: {
      payer: account.address,
      perPayment: terms.per_payment,
      perPeriod: terms.per_period,
      periodSeconds: terms.period_seconds,
      expiresAt: terms.expires_at,
      maxFeeRate: terms.max_fee_rate,
      nonce: BigInt(wallet.nonces.policy),
      deadline: BigInt(terms.deadline ?? 0),
    },
  });
}

/** Parses `name:type`, the fields of an EIP-712 message. */
function fieldsOf(names: readonly string[]): { name: string; type: string }[] {
  return names.map((one) => {
    const [name = '', type = ''] = one.split(':');
    return { name, type };
  });
}
