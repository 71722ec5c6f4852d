import { keccak_256 } from '@noble/hashes/sha3.js';

/** EIP-712 for flat messages, such as the transfer that pays a sale (EIP-3009). */
export interface TypedData {
  readonly domain: Readonly<Record<string, unknown>>;
  readonly types: Readonly<Record<string, readonly Field[]>>;
  readonly primaryType: string;
  readonly message: Readonly<Record<string, unknown>>;
}

interface Field {
  readonly name: string;
  readonly type: string;
}

/** The possible fields of a domain, in order. */
const DOMAIN_FIELDS: readonly Field[] = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
  { name: 'salt', type: 'bytes32' },
];
const WORD_BYTES = 32;

/** Returns the 32-byte digest to sign. @throws RangeError if the message is not flat. */
export function digestOf({ domain, types, primaryType, message }: TypedData): Uint8Array {
  const known = DOMAIN_FIELDS.filter(({ name }) => domain[name] !== undefined);
  return keccak_256(
    Buffer.concat([
      Uint8Array.from([0x19, 0x01]),
      hashOf({ name: 'EIP712Domain', fields: known }, domain),
      hashOf({ name: primaryType, fields: types[primaryType] ?? [] }, message),
    ]),
  );
}

function hashOf(
  type: { readonly name: string; readonly fields: readonly Field[] },
  values: Readonly<Record<string, unknown>>,
): Uint8Array {
  const members = type.fields.map((field) => `${field.type} ${field.name}`).join(',');
  const words = type.fields.map((field) => wordOf(field.type, values[field.name]));
  return keccak_256(Buffer.concat([textHash(`${type.name}(${members})`), ...words]));
}

function textHash(text: string): Uint8Array {
  return keccak_256(Buffer.from(text, 'utf8'));
}

function wordOf(type: string, value: unknown): Uint8Array {
  if (type === 'string' && typeof value === 'string') return textHash(value);
  const isBytes = type === 'address' || type === 'bytes32';
  if (isBytes && typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value)) {
    const digits = type === 'address' ? 40 : 64;
    if (value.length === 2 + digits) return word(value.slice(2));
  }
  if (/^uint\d+$/.test(type) && (typeof value === 'number' || typeof value === 'string')) {
    const number = BigInt(value);
    if (number >= 0n && number >> 256n === 0n) return word(number.toString(16));
  }
  throw new RangeError(`unsupported type or value: a field of type ${type}`);
}

function word(hex: string): Uint8Array {
  return Buffer.from(hex.padStart(2 * WORD_BYTES, '0'), 'hex');
}
