import { keccak256 } from './keccak.js';
/** The fields that a domain may have, in this order. */
const DOMAIN_FIELDS = [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
    { name: 'salt', type: 'bytes32' },
];
const WORD_BYTES = 32;
/** What is signed: 32 bytes. @throws RangeError for a message that is not flat. */
export function digestOf({ domain, types, primaryType, message }) {
    const known = DOMAIN_FIELDS.filter(({ name }) => domain[name] !== undefined);
    return keccak256(Buffer.concat([
        Uint8Array.from([0x19, 0x01]),
        hashOf({ name: 'EIP712Domain', fields: known }, domain),
        hashOf({ name: primaryType, fields: types[primaryType] ?? [] }, message),
    ]));
}
function hashOf(type, values) {
    const members = type.fields.map((field) => `${field.type} ${field.name}`).join(',');
    const words = type.fields.map((field) => wordOf(field.type, values[field.name]));
    return keccak256(Buffer.concat([textHash(`${type.name}(${members})`), ...words]));
}
function textHash(text) {
    return keccak256(Buffer.from(text, 'utf8'));
}
function wordOf(type, value) {
    if (type === 'string' && typeof value === 'string')
        return textHash(value);
    const isBytes = type === 'address' || type === 'bytes32';
    if (isBytes && typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value)) {
        const digits = type === 'address' ? 40 : 64;
        if (value.length === 2 + digits)
            return word(value.slice(2));
    }
    if (/^uint\d+$/.test(type) && (typeof value === 'number' || typeof value === 'string')) {
        const number = BigInt(value);
        if (number >= 0n && number >> 256n === 0n)
            return word(number.toString(16));
    }
    throw new RangeError(`a field of the type ${type}`);
}
function word(hex) {
    return Buffer.from(hex.padStart(2 * WORD_BYTES, '0'), 'hex');
}
