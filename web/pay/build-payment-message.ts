import { AUTHORIZATION_FIELDS, DOMAIN_FIELDS } from '#core/typed-data-fields.ts';
import type { Hex } from '../data/bytes.ts';
import { authorizationNonce } from '../data/receive-authorization.ts';
import type { Pin } from '../wallet/compare-contract-pins.ts';
import { type PayLink, type TypedData, totalOf } from './pay-link.ts';

/**
 * This module builds the message to sign from the contents of the page. It loads when the user
 * pays. A compromised service cannot obtain any other signature: a different amount or order
 * changes the message, and a different receiver or token fails the check against the pinned
 * contracts (pinned-contracts.ts).
 */

/**
 * Returns the nonce, which binds an authorization to merchant, amount, settlement number, order and
 * salt. Payments from a tag use zero for number and order.
 */
export function nonceOf(
  link: Pick<PayLink, 'merchant' | 'number' | 'order_id' | 'salt'>,
  sum: bigint,
): Hex {
  return authorizationNonce({
    merchantNumber: link.merchant.number ?? 0,
    amount: sum,
    number: link.number,
    // A tag's page may show the order, but its message never includes it.
    orderId: link.number === undefined ? null : link.order_id,
    salt: link.salt ?? '',
  });
}

/** Thrown if the message differs from the contents of the page. */
export class OtherMessage extends Error {
  readonly field: string;

  constructor(field: string) {
    super(`The message to sign has another ${field} than this page`);
    this.name = 'OtherMessage';
    this.field = field;
  }
}

function sameAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/**
 * Builds the message for `eth_signTypedData_v4` from the contents of the page. Only the token's
 * name and version and the validity times come from the service; wrong values there only make the
 * signature invalid.
 * @throws OtherMessage if the service asks for any other signature.
 */
export function messageFor(shown: PayLink, told: TypedData, from: Hex) {
  const value = totalOf(shown);
  const nonce = nonceOf(shown, BigInt(shown.amount) + BigInt(shown.tip_amount));
  const { domain, message } = told;
  const wrong = [
    ['token', !sameAddress(domain.verifyingContract, shown.usdc)],
    ['chain', domain.chainId !== shown.chain_id],
    ['payer', !sameAddress(message.from, from)],
    ['receiver', !sameAddress(message.to, shown.settlement)],
    ['sum', BigInt(message.value) !== value],
    ['nonce', message.nonce !== nonce],
  ] as const;
  const problem = wrong.find(([, isWrong]) => isWrong);
  if (problem !== undefined) throw new OtherMessage(problem[0]);
  return {
    domain: {
      name: domain.name,
      version: domain.version,
      chainId: shown.chain_id,
      verifyingContract: shown.usdc as Hex,
    },
    types: { EIP712Domain: DOMAIN_FIELDS, ReceiveWithAuthorization: AUTHORIZATION_FIELDS },
    primaryType: 'ReceiveWithAuthorization' as const,
    message: {
      from,
      to: shown.settlement as Hex,
      value: value.toString(),
      validAfter: '0',
      validBefore: String(message.validBefore),
      nonce,
    },
  };
}

export type Message = ReturnType<typeof messageFor>;

/**
 * From this sale amount on, the fees reveal their rate. Below one USDC, they are rounded too
 * coarsely.
 */
const RATE_SHOWS_FROM = 1_000_000n;

/**
 * Returns the fee rate implied by the displayed amounts, or `undefined` if the amount is too small.
 */
function feeRateOf({ total_charged: total, fees }: PayLink): number | undefined {
  const charged = BigInt(fees.acquirer) + BigInt(fees.protocol);
  const sale = BigInt(total) - charged;
  if (sale < RATE_SHOWS_FROM) return undefined;
  return Number((charged * 10_000n + sale / 2n) / sale);
}

/**
 * Returns the receiver, token and contract in the message and the fee rate shown, for the check
 * against the pins.
 */
export function contractsOf({ domain, message }: Message, shown: PayLink): Pin {
  const { chainId, name, version, verifyingContract: usdc } = domain;
  const feeRate = feeRateOf(shown);
  return { chainId, usdc, usdcDomain: { name, version }, settlement: message.to, feeRate };
}

// Re-exported here so that pins load with the message, not with the page's first load.
export { checkContracts } from '../wallet/pinned-contracts.ts';
