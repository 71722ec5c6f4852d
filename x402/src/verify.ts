import { type Address, isAddress, isAddressEqual } from 'viem';
import {
  authorizationOf,
  identifierOf,
  type Requirements,
  requirementsOf,
  SCHEME,
  type Verified,
} from './payment-requirements.ts';
import { priceOf } from './price-after-fees.ts';
import { findSale, isOfSale, type Sale, type Seller } from './sale-intent.ts';

/** A signature must be valid for at least this many seconds, because the transfer needs time. */
const LEAST_SECONDS_LEFT = 6;
/** The same if the wallet must be deployed before the transfer. Longer than a settlement waits. */
const LEAST_SECONDS_TO_DEPLOY = 30;

export interface SaleRequest {
  readonly payload: unknown;
  readonly requirements: unknown;
  /** Takes precedence over the client's name (extension `payment-identifier`). */
  readonly key?: string | undefined;
}

type Checked = { readonly sale: Sale } | { readonly refusal: Verified };

/**
 * Validates a payment request and its signature. The signature is checked against the account's
 * current code.
 */
export async function readSale(
  seller: Seller,
  { payload, requirements: expected, key }: SaleRequest,
): Promise<Checked> {
  const authorization = authorizationOf(payload);
  const requirements = requirementsOf(expected);
  const identifier = identifierOf(payload, key);
  if (authorization === null || requirements === null || identifier === undefined) {
    return refuse('invalid_payload');
  }
  const payer = authorization.from;
  const mismatch = mismatchOf(seller, requirements);
  if (mismatch !== null) return refuse(mismatch, payer);
  if (!isSame(authorization.to, seller.bridge)) {
    return refuse('invalid_exact_evm_recipient_mismatch', payer);
  }
  if (String(authorization.value) !== requirements.amount) {
    return refuse('invalid_exact_evm_payload_authorization_value_mismatch', payer);
  }
  const price = priceOf(Number(authorization.value), seller.feeRates());
  if (price < 1 || !Number.isSafeInteger(Number(authorization.value))) {
    return refuse('invalid_exact_evm_authorization_value', payer);
  }
  const { token } = seller;
  const verdict = await token.checkSignature(authorization);
  // The sale may have been charged before the account delegated, and the response lost. The
  // account's own key has signed, so it may get that result again; no other key may.
  const isCharged =
    verdict === 'delegate_refuses' &&
    (token.isUnderWay(authorization) || (await token.isUsed(authorization)));
  if (verdict !== 'valid' && !isCharged)
    return { refusal: { isValid: false, ...REFUSALS[verdict], payer } };
  return { sale: { authorization, identifier, requirements, price } };
}

const REFUSALS = {
  invalid: { invalidReason: 'invalid_exact_evm_signature' },
  delegate_refuses: {
    invalidReason: 'invalid_exact_evm_signature',
    invalidMessage:
      "This wallet's key signed, but the wallet has delegated to a contract (EIP-7702) " +
      'that does not confirm the signature, so USDC would reject it. Remove the delegation ' +
      'in the wallet, or use another wallet. Nothing was charged.',
  },
  not_deployed: {
    invalidReason: 'wallet_not_deployed',
    invalidMessage:
      'This wallet is a contract that has not been deployed yet, and this seller does not ' +
      'deploy it. Send any transaction from it to deploy it, or pay with another wallet. ' +
      'Nothing was charged.',
  },
} as const;

function refuse(invalidReason: string, payer?: string): { refusal: Verified } {
  return { refusal: { isValid: false, invalidReason, ...(payer === undefined ? {} : { payer }) } };
}

/** True if the addresses are equal, ignoring case. */
function isSame(text: string, address: Address): boolean {
  return isAddress(text, { strict: false }) && isAddressEqual(text, address);
}

function mismatchOf(seller: Seller, expected: Requirements): string | null {
  const { chainId, usdc, domain } = seller.token.facts;
  if (expected.scheme !== SCHEME) return 'invalid_exact_evm_scheme';
  if (expected.network !== `eip155:${chainId}`) return 'invalid_exact_evm_network_mismatch';
  const { asset, payTo, extra } = expected;
  if (!isSame(asset, usdc)) return 'invalid_asset';
  if (!isSame(payTo, seller.bridge)) {
    return 'invalid_exact_evm_recipient_mismatch';
  }
  if (extra.name !== domain.name) return 'invalid_exact_evm_token_name_mismatch';
  if (extra.version !== domain.version) return 'invalid_exact_evm_token_version_mismatch';
  return null;
}

/** Returns why the money cannot be taken now, or `null` if it can be or already was. */
export async function obstacleOf(seller: Seller, { authorization }: Sale): Promise<string | null> {
  const now = BigInt(Math.floor(Date.now() / 1000));
  const { validAfter, validBefore, from, value } = authorization;
  const { token } = seller;
  if (token.isUnderWay(authorization) || (await token.isUsed(authorization))) return null;
  const seconds = (await token.isToDeploy(authorization))
    ? LEAST_SECONDS_TO_DEPLOY
    : LEAST_SECONDS_LEFT;
  if (validBefore < now + BigInt(seconds)) {
    return 'invalid_exact_evm_payload_authorization_valid_before';
  }
  if (validAfter > now) return 'invalid_exact_evm_payload_authorization_valid_after';
  const balance = await token.balanceOf(from);
  return balance < value ? 'invalid_exact_evm_insufficient_balance' : null;
}

/**
 * Checks a client's signature for a sale. A signature that was already used for a purchase is
 * invalid, so that a seller does not deliver twice.
 */
export async function verify(seller: Seller, request: SaleRequest): Promise<Verified> {
  const checked = await readSale(seller, request);
  if ('refusal' in checked) return checked.refusal;
  const { sale } = checked;
  const payer = sale.authorization.from;
  const obstacle = (await isBought(seller, sale))
    ? null
    : ((await obstacleOf(seller, sale)) ?? (await useOf(seller, sale)));
  return obstacle === null
    ? { isValid: true, payer }
    : { isValid: false, invalidReason: obstacle, payer };
}

/** True if the purchase that the caller names is in progress or paid, so it costs no more. */
async function isBought(seller: Seller, sale: Sale): Promise<boolean> {
  if (sale.identifier === null) return false;
  const existing = await findSale(seller, sale);
  return (
    existing !== null && existing.intent.status !== 'canceled' && isOfSale(existing.intent, sale)
  );
}

/**
 * Returns an error code if the signature was used and its sale is paid, canceled or unknown. While
 * its sale is unfinished, the signature may be used again, because money was taken and nothing
 * delivered.
 */
async function useOf(seller: Seller, sale: Sale): Promise<string | null> {
  if (!(await seller.token.isUsed(sale.authorization))) return null;
  const existing = await findSale(seller, sale);
  const isOver = existing === null || ['succeeded', 'canceled'].includes(existing.intent.status);
  return isOver ? 'invalid_exact_evm_nonce_already_used' : null;
}
