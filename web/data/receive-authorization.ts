import { keccak_256 } from '@noble/hashes/sha3.js';
import { fromHex, type Hex, toHex } from './bytes.ts';

/**
 * The nonce and fields of a signed payment, as computed in browsers. The server's module
 * (`src/settlement/contract/signed-messages.ts`) would pull the contract's ABIs into each page. A
 * test compares the two modules.
 */

/** The contract's type string (contracts/README.md). */
const TYPE =
  'PaymentAuthorization(uint32 merchant,uint64 amount,uint64 number,bytes8 orderId,bytes32 salt)';

export interface NonceOf {
  readonly merchantNumber: number;
  readonly amount: bigint;
  /** Absent in a nonce that commits to neither number nor order. */
  readonly number?: number | undefined;
  readonly orderId?: string | null | undefined;
  readonly salt: string;
}

function word(value: bigint | number): string {
  return BigInt(value).toString(16).padStart(64, '0');
}

/**
 * Returns the nonce, which binds an authorization to merchant, amount, settlement number, order and
 * salt.
 */
export function authorizationNonce(payment: NonceOf): Hex {
  const { merchantNumber, amount, number = 0, orderId, salt } = payment;
  const text = new TextEncoder();
  const type = toHex(keccak_256(text.encode(TYPE))).slice(2);
  const order = toHex(text.encode(orderId ?? ''))
    .slice(2)
    .padEnd(64, '0');
  const words = [type, word(merchantNumber), word(amount), word(number), order, salt.slice(2)];
  return toHex(keccak_256(fromHex(`0x${words.join('')}`)));
}
