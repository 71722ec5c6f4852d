import { getAddress } from 'viem';
/** Days in which somebody will have started the program again. */
const LOOK_BACK_MS = 7 * 86_400_000;
/** Between this machine and the blocks. */
const CLOCKS_DIFFER_MS = 600_000;
/** One that takes longer is met again by the next sweep. */
const WAIT_MS = 30_000;
/**
 * Gives back what was taken for sales that ended unpaid while nobody looked: the process was killed
 * in the middle, and the client never asked again.
 * @returns the ids of the intents whose money went back
 */
export async function sweep(seller, seen, now) {
    const { merchant, terminal } = seller;
    const created_gte = new Date(now.getTime() - LOOK_BACK_MS).toISOString();
    const query = { terminal, status: 'canceled', created_gte, limit: 100 };
    const returned = [];
    for await (const intent of merchant.paymentIntents.list(query)) {
        if (seen.has(intent.id) || intent.metadata.x402_nonce === undefined)
            continue;
        const status = await giveBack(seller, intent);
        if (status === 'returned')
            returned.push(intent.id);
        // Anyone who holds an authorization may send it, until it ends.
        const ended = Number(intent.metadata.x402_until) * 1000 + CLOCKS_DIFFER_MS < now.getTime();
        if (status === 'nothing_owed' || (status === 'nothing_taken' && ended))
            seen.add(intent.id);
    }
    return returned;
}
async function giveBack({ token }, intent) {
    const { x402_payer = '', x402_nonce = '', x402_amount = '' } = intent.metadata;
    const from = getAddress(x402_payer);
    const nonce = x402_nonce;
    if (!(await token.isUsed({ from, nonce })))
        return 'nothing_taken';
    const value = BigInt(x402_amount);
    const none = { to: from, validAfter: 0n, validBefore: 0n, signature: '0x' };
    const back = await token.giveBack({ ...none, from, nonce, value });
    if (await token.isUsed(back))
        return 'nothing_owed';
    const given = await token.transfer(back, WAIT_MS);
    return given.status === 'done' ? 'returned' : 'under_way';
}
