/** Keccak-256 as Ethereum uses it, which the OpenSSL of Node 20 does not have. */
const ROUNDS = 24;
const RATE_BYTES = 136;
const MASK = (1n << 64n) - 1n;
/** How far each of the 24 lanes of a round turns, and where it goes. */
const TURNS = [
    1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44,
];
const PLACES = [
    10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1,
];
const ROUND_CONSTANTS = roundConstants();
/** The bits of a shift register, at places 2^j - 1. */
function roundConstants() {
    let register = 1;
    return Array.from({ length: ROUNDS }, () => {
        let constant = 0n;
        for (let power = 0; power < 7; power++) {
            if ((register & 1) === 1)
                constant ^= 1n << ((1n << BigInt(power)) - 1n);
            register = register & 0x80 ? ((register << 1) ^ 0x171) & 0xff : register << 1;
        }
        return constant;
    });
}
function turn(lane, by) {
    return ((lane << BigInt(by)) | (lane >> BigInt(64 - by))) & MASK;
}
function permute(lanes) {
    const at = (index) => lanes[index] ?? 0n;
    for (const constant of ROUND_CONSTANTS) {
        const columns = [0, 1, 2, 3, 4].map((x) => [0, 5, 10, 15, 20].reduce((sum, y) => sum ^ at(x + y), 0n));
        for (let index = 0; index < 25; index++) {
            const x = index % 5;
            const left = columns[(x + 4) % 5] ?? 0n;
            lanes[index] = at(index) ^ left ^ turn(columns[(x + 1) % 5] ?? 0n, 1);
        }
        let moving = at(1);
        for (const [step, place] of PLACES.entries()) {
            const kept = at(place);
            lanes[place] = turn(moving, TURNS[step] ?? 0);
            moving = kept;
        }
        for (const row of [0, 5, 10, 15, 20]) {
            const old = lanes.slice(row, row + 5);
            for (let x = 0; x < 5; x++) {
                const next = ~(old[(x + 1) % 5] ?? 0n) & MASK;
                lanes[row + x] = (old[x] ?? 0n) ^ (next & (old[(x + 2) % 5] ?? 0n));
            }
        }
        lanes[0] = at(0) ^ constant;
    }
}
export function keccak256(message) {
    const blocks = Math.floor(message.length / RATE_BYTES) + 1;
    const padded = Buffer.concat([message, Uint8Array.from([1])], blocks * RATE_BYTES);
    padded.writeUInt8(padded.readUInt8(padded.length - 1) | 0x80, padded.length - 1);
    const lanes = new BigUint64Array(25);
    for (let block = 0; block < padded.length; block += RATE_BYTES) {
        for (let lane = 0; lane < RATE_BYTES / 8; lane++) {
            lanes[lane] = (lanes[lane] ?? 0n) ^ padded.readBigUInt64LE(block + 8 * lane);
        }
        permute(lanes);
    }
    const digest = Buffer.alloc(32);
    for (let lane = 0; lane < 4; lane++)
        digest.writeBigUInt64LE(lanes[lane] ?? 0n, 8 * lane);
    return digest;
}
