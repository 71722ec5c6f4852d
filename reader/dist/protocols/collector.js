import { sign } from 'node:crypto';
import { ProtocolError } from './apdu.js';
/** For programs of your own that have the key themselves. */
export function collectorWithKey(collector) {
    const { id: collectorId, keyVersion, privateKey } = collector;
    return async ({ readerNonce, phoneNonce, readerKey }) => {
        const signed = Buffer.concat([readerNonce, phoneNonce, number32(collectorId), readerKey]);
        const signature = Uint8Array.from(sign('sha256', signed, privateKey));
        return { collectorId, keyVersion, signature };
    };
}
/** As the device API takes it. */
export function proofFrom({ readerNonce, phoneNonce, readerKey }) {
    return {
        reader_nonce: hex(readerNonce),
        phone_nonce: hex(phoneNonce),
        reader_key: hex(readerKey),
    };
}
/** What the device API answers. @throws ProtocolError for anything else. */
export function proofOf(answer) {
    const { collector_id, key_version, signature } = Object(answer);
    const isProof = isNumber32(collector_id) &&
        isNumber32(key_version) &&
        typeof signature === 'string' &&
        /^([0-9a-f]{2}){8,72}$/.test(signature);
    if (!isProof)
        throw new ProtocolError('the network did not sign');
    const bytes = Uint8Array.from(Buffer.from(signature, 'hex'));
    return { collectorId: collector_id, keyVersion: key_version, signature: bytes };
}
function isNumber32(value) {
    return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32;
}
export function number32(value) {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
}
function hex(bytes) {
    return Buffer.from(bytes).toString('hex');
}
