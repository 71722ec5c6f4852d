import { createPublicClient, http, maxUint256, type PublicClient } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { plainFetch } from '#outgoing/plain-fetch.ts';
import type { RequestPayloads } from '#settlement/chain-requests.ts';
import {
  merchantConsent,
  spendingPolicy,
  usdcPermit,
} from '#settlement/contract/signed-messages.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { testUsdcAbi } from '../../contracts/artifacts/TestUSDC.ts';

/**
 * A demo wallet's balance and allowance. Both exist on the chain: the service treats the wallet
 * like any other.
 */
export interface DemoWallet {
  /** Atoms. */
  readonly funds: bigint;
  readonly allowance: boolean;
  /** Atoms per payment that the wallet's on-chain policy allows. */
  readonly perPayment: bigint;
}

/** The balance of a demo wallet in atoms (behavior.md 20.4). */
const FULL = 10_000_000_000_000n;
const IN_ORDER: DemoWallet = { funds: FULL, allowance: true, perPayment: FULL };

export const TEST_WALLETS = {
  ok: IN_ORDER,
  ok_2: IN_ORDER,
  confirm: IN_ORDER,
  insufficient_funds: { ...IN_ORDER, funds: 0n },
  no_approval: { ...IN_ORDER, allowance: false },
  over_limit: { ...IN_ORDER, perPayment: 1_000_000n },
  revoked: IN_ORDER,
  blocked: IN_ORDER,
} as const satisfies Record<string, DemoWallet>;

export const LIVE_WALLETS = { ok: IN_ORDER } as const satisfies Record<string, DemoWallet>;

const DAY_SECONDS = 86_400;
const VALID_SECONDS = 10n * 365n * 86_400n;
/** The highest fee rate that a wallet accepts, in basis points: twice the sandbox's fees. */
const MAX_FEE_RATE = 100;

type Enrolment = RequestPayloads['enrolment'];

interface Signing {
  readonly account: PrivateKeyAccount;
  readonly network: NetworkConfig;
  readonly nonce: bigint;
  /** Unix seconds. */
  readonly deadline: bigint;
}

async function signPolicy(demo: DemoWallet, signing: Signing): Promise<Enrolment['policy']> {
  const { account, network, nonce, deadline } = signing;
  const terms = {
    perPayment: demo.perPayment,
    perPeriod: FULL,
    periodSeconds: DAY_SECONDS,
    expiresAt: new Date(Number(deadline) * 1000),
    maxFeeRate: MAX_FEE_RATE,
  };
  const message = spendingPolicy(network, { ...terms, payer: account.address, nonce, deadline });
  return {
    perPaymentCap: demo.perPayment.toString(),
    periodCap: FULL.toString(),
    periodSeconds: String(DAY_SECONDS),
    expiry: deadline.toString(),
    maxFeeRate: String(MAX_FEE_RATE),
    nonce: nonce.toString(),
    deadline: deadline.toString(),
    signature: await account.signTypedData(message),
  };
}

async function signPermit({ account, network, nonce, deadline }: Signing) {
  const permit = { payer: account.address, value: maxUint256, nonce, deadline };
  const signature = await account.signTypedData(usdcPermit(network, permit));
  return { value: maxUint256.toString(), deadline: deadline.toString(), signature };
}

function clientOf(network: NetworkConfig): PublicClient {
  return createPublicClient({
    transport: http(network.rpcUrls[0], { fetchFn: plainFetch, batch: true }),
  });
}

/** Returns the signatures that set up a demo wallet's approval, for its current nonces. */
export async function signEnrolment(
  demo: DemoWallet,
  signer: {
    readonly account: PrivateKeyAccount;
    readonly network: NetworkConfig;
    readonly now: Date;
  },
): Promise<Enrolment> {
  const { account, network, now } = signer;
  const client = clientOf(network);
  const args = [account.address] as const;
  const functionName = 'nonces';
  const [policyNonce, permitNonce] = await Promise.all([
    client.readContract({ address: network.settlement, abi: settlementAbi, functionName, args }),
    client.readContract({ address: network.usdc, abi: testUsdcAbi, functionName, args }),
  ]);
  const deadline = BigInt(Math.floor(now.getTime() / 1000)) + VALID_SECONDS;
  const signing = { account, network, deadline };
  return {
    payer: account.address,
    policy: await signPolicy(demo, { ...signing, nonce: policyNonce }),
    permit: demo.allowance ? await signPermit({ ...signing, nonce: permitNonce }) : null,
  };
}

/** Returns a settlement wallet's consent to its registration. */
export async function signMerchantConsent(
  account: PrivateKeyAccount,
  signer: { readonly network: NetworkConfig; readonly accountId: string; readonly now: Date },
) {
  const { network, accountId, now } = signer;
  const deadline = BigInt(Math.floor(now.getTime() / 1000)) + BigInt(DAY_SECONDS);
  const consent = merchantConsent(network, { accountId, wallet: account.address, deadline });
  const signature = await account.signTypedData(consent);
  return { wallet: account.address, deadline: deadline.toString(), signature };
}
