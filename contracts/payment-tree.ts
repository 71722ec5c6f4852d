// The packed form of a payment and the Merkle tree of a batch, as PaymentCodec.sol and
// PaymentTree.sol define them.

import { encodePacked, type Hex, keccak256, size, slice } from 'viem';

/** A payment in the form that `settleBatch`, `settleWithAuthorization` and `refund` take. */
export type PackedPaymentFields = {
  /** 1 to 2^64 - 1. */
  number: bigint;
  payer: Hex;
  /** The merchant's number on the contract. */
  merchant: number;
  /** Atoms, 1 to 10^12. */
  amount: bigint;
  /** 1 to 8 ASCII characters. */
  orderId: string;
};

/** Bytes of a packed payment: number 8, payer 20, merchant 4, amount 5, order id 8. */
export const PACKED_PAYMENT_BYTES = 45;

// Length of an order id. The service's order ids are ASCII, but an operator's key can settle any 8
// bytes whose first is not zero, and all of them are part of the leaf, so each byte is stored as
// one character. A zero between other bytes is stored as a character that represents no other byte,
// because PostgreSQL's text type cannot contain U+0000.

const ORDER_ID_BYTES = 8;
const ZERO_BYTE = '\u0100';

/** Returns the order id as `bytes8`, padded on the right. */
export function orderIdToBytes8(orderId: string): Hex {
  const text = orderId.replaceAll(ZERO_BYTE, '\0');
  const bytes = Buffer.alloc(ORDER_ID_BYTES);
  const written = bytes.write(text, 'latin1');
  if (written < text.length || /[^\0-\xff]/.test(text)) {
    throw new RangeError(`not an order id of up to ${ORDER_ID_BYTES} bytes: ${orderId}`);
  }
  return `0x${bytes.toString('hex')}`;
}

function orderIdFromBytes8(bytes: Hex): string {
  const text = Buffer.from(bytes.slice(2), 'hex').toString('latin1').replace(/\0+$/, '');
  return text.replaceAll('\0', ZERO_BYTE);
}

/** Packs a payment into 45 bytes; viem's `concat` joins several. Throws if a field does not fit. */
export function packPayment(payment: PackedPaymentFields): Hex {
  return encodePacked(
    ['uint64', 'address', 'uint32', 'uint40', 'bytes8'],
    [
      payment.number,
      payment.payer,
      payment.merchant,
      // For integers of up to 48 bits, viem takes a number, which represents 10^12 exactly.
      Number(payment.amount),
      orderIdToBytes8(payment.orderId),
    ],
  );
}

/** Returns the Merkle leaf of a packed payment. */
export function paymentLeaf(packed: Hex): Hex {
  if (size(packed) !== PACKED_PAYMENT_BYTES) {
    throw new RangeError(`a packed payment has ${PACKED_PAYMENT_BYTES} bytes, got ${size(packed)}`);
  }
  return keccak256(packed);
}

/**
 * Returns the Merkle root of a batch, whose leaves are in the order of its PaymentSettled events.
 */
export function paymentTreeRoot(leaves: readonly Hex[]): Hex {
  const root = levelsOf(leaves).at(-1)?.[0];
  if (root === undefined) throw new RangeError('a batch has at least one payment');
  return root;
}

/** Returns the proof of leaf `index` in the form that `refund` takes: siblings, bottom up. */
export function paymentProof(leaves: readonly Hex[], index: number): Hex[] {
  if (!Number.isInteger(index) || index < 0 || index >= leaves.length) {
    throw new RangeError(`leaf ${index} is out of range: the batch has ${leaves.length}`);
  }
  return levelsOf(leaves).flatMap((level, height) => {
    const sibling = level[Math.floor(index / 2 ** height) ^ 1];
    return sibling === undefined ? [] : [sibling];
  });
}

/**
 * Returns all levels of the tree, leaves first. A last node without a sibling moves up unchanged.
 */
function levelsOf(leaves: readonly Hex[]): (readonly Hex[])[] {
  const levels = [leaves];
  for (let level = leaves; level.length > 1; ) {
    const above: Hex[] = [];
    for (let i = 0; i < level.length; i += 2) above.push(joined(level.slice(i, i + 2)));
    levels.push(above);
    level = above;
  }
  return levels;
}

function joined(children: readonly Hex[]): Hex {
  const [left, right] = children;
  if (left === undefined) throw new RangeError('a node has at least one child');
  return right === undefined ? left : parentOf(left, right);
}

/** Returns the parent of two nodes: the keccak256 hash of both, the smaller one first. */
export function parentOf(a: Hex, b: Hex): Hex {
  const [low, high] = a.toLowerCase() < b.toLowerCase() ? [a, b] : [b, a];
  return keccak256(`0x${low.slice(2)}${high.slice(2)}`);
}

/** The fields in the `terms` of a PaymentSettled event. */
export type Terms = Pick<PackedPaymentFields, 'merchant' | 'amount' | 'orderId'>;

/** Unpacks the `terms` of a PaymentSettled event: the last 17 bytes of the packed payment. */
export function unpackTerms(terms: Hex): Terms {
  return {
    merchant: Number(`0x${terms.slice(2, 10)}`),
    amount: BigInt(`0x${terms.slice(10, 20)}`),
    orderId: orderIdFromBytes8(`0x${terms.slice(20, 36)}`),
  };
}

/** The fields in the `charges` word of a PaymentSettled event; fees and cashback in atoms. */
export type Charges = {
  batch: bigint;
  acquirerFee: bigint;
  protocolFee: bigint;
  cashback: bigint;
};

/** Unpacks the `charges` of a PaymentSettled event: four numbers of 64 bits. */
export function unpackCharges(charges: bigint): Charges {
  const part = (index: number) => (charges >> BigInt(64 * index)) & 0xffff_ffff_ffff_ffffn;
  return { batch: part(3), acquirerFee: part(2), protocolFee: part(1), cashback: part(0) };
}

/** Splits the calldata of `settleBatch` into its packed payments. */
export function splitPayments(packed: Hex): Hex[] {
  const count = size(packed) / PACKED_PAYMENT_BYTES;
  if (!Number.isInteger(count)) {
    throw new RangeError(`${size(packed)} bytes are not a whole number of payments`);
  }
  return Array.from({ length: count }, (_, i) =>
    slice(packed, i * PACKED_PAYMENT_BYTES, (i + 1) * PACKED_PAYMENT_BYTES),
  );
}
