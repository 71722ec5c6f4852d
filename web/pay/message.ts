import { keccak_256 } from '@noble/hashes/sha3.js';
import { fromHex, type Hex, toHex } from '../wallet/bytes.ts';
import type { Pin } from '../wallet/contracts.ts';
import { type PayLink, priceOf, type TypedData } from './link.ts';

/**
 * What a wallet is asked to sign, computed here from what the page shows. Loaded when somebody
 * pays. A service that was broken into can have nothing else signed: another sum or order gives
 * another message, and another receiver or token is not one that this browser knows (pins.ts).
 */

/** The contract's (contracts/README.md). */
const TYPE =
  'PaymentAuthorization(uint32 merchant,uint64 amount,uint64 number,bytes8 orderId,bytes32 salt)';

const FIELDS = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const;

const DOMAIN_FIELDS = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
] as const;

function word(value: bigint | number): string {
  return BigInt(value).toString(16).padStart(64, '0');
}

/**
 * The nonce that binds an authorization to merchant, amount, number, order and salt. From a tag it
 * names neither number nor order: both are zero.
 */
export function nonceOf(
  link: Pick<PayLink, 'merchant' | 'number' | 'order_id' | 'salt'>,
  sum: bigint,
): Hex {
  const type = toHex(keccak_256(new TextEncoder().encode(TYPE))).slice(2);
  // A tag may tell the order, and yet its message never names it.
  const named = link.number === undefined ? '' : (link.order_id ?? '');
  const order = toHex(new TextEncoder().encode(named)).slice(2).padEnd(64, '0');
  const words = [
    type,
    word(link.merchant.number ?? 0),
    word(sum),
    word(link.number ?? 0),
    order,
    (link.salt ?? '').slice(2),
  ];
  return toHex(keccak_256(fromHex(`0x${words.join('')}`)));
}

/** The message does not say what the page shows. */
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
 * The message for `eth_signTypedData_v4`, made of what the page shows. Of what the service sent
 * only the token's name and version and the time are taken: others make the signature worthless.
 *
 * @throws OtherMessage when the service wants something else signed.
 */
export function messageFor(shown: PayLink, told: TypedData, from: Hex) {
  const value = priceOf(shown);
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
  const found = wrong.find(([, isWrong]) => isWrong);
  if (found !== undefined) throw new OtherMessage(found[0]);
  return {
    domain: {
      name: domain.name,
      version: domain.version,
      chainId: shown.chain_id,
      verifyingContract: shown.usdc as Hex,
    },
    types: { EIP712Domain: DOMAIN_FIELDS, ReceiveWithAuthorization: FIELDS },
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

/** From one USDC on, the atoms that rounding drops cannot be mistaken for basis points. */
const RATE_SHOWS_FROM = 1_000_000n;

/** The rate of the fees that the page shows; undefined for what is too small to tell. */
function feeRateOf({ total_charged: total, fees }: PayLink): number | undefined {
  const charged = BigInt(fees.acquirer) + BigInt(fees.protocol);
  const sale = BigInt(total) - charged;
  if (sale < RATE_SHOWS_FROM) return undefined;
  return Number((charged * 10_000n + sale / 2n) / sale);
}

/** Who would take what, as the message says it, and for which fees, as the page does. */
export function contractsOf({ domain, message }: Message, shown: PayLink): Pin {
  const { chainId, name, version, verifyingContract: usdc } = domain;
  const feeRate = feeRateOf(shown);
  return { chainId, usdc, usdcDomain: { name, version }, settlement: message.to, feeRate };
}

// Loaded with the message: the first load of the page needs no pins.
export { checkContracts } from '../wallet/pins.ts';
