import { UsageError } from './errors.js';
const FITS = /^[A-Za-z0-9_-]{1,8}$/;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const LENGTH = 8;
const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;
export function orderId(order) {
    if (typeof order !== 'string' || order === '') {
        const given = order === '' ? 'an empty text' : `the ${typeof order} ${order}`;
        throw new UsageError(`orderId() was given ${given}. It takes text: orderId('order_01HZX').`);
    }
    return FITS.test(order) ? order : lettersOf(hash(order));
}
function hash(text) {
    let value = OFFSET;
    for (const byte of new TextEncoder().encode(text)) {
        value = BigInt.asUintN(64, (value ^ BigInt(byte)) * PRIME);
    }
    return value;
}
function lettersOf(value) {
    let rest = BigInt.asUintN(48, value) ^ (value >> 48n);
    let text = '';
    while (text.length < LENGTH) {
        text = LETTERS[Number(rest & 63n)] + text;
        rest >>= 6n;
    }
    return text;
}
