import { setTimeout as sleep } from 'node:timers/promises';
import { TaplineError } from 'tapline';
import { PayerError } from './payer.js';
import { keyOf, openSale } from './sale.js';
import { obstacleOf, readSale } from './verify.js';
const LOOK_MS = 300;
/**
 * Takes the client's money and pays the merchant. The same call gives the same answer and moves no
 * money twice: the token knows each nonce, the network each intent, and both are asked, not
 * remembered. A process that ends in the middle has lost nothing.
 */
export async function settle(seller, asked, options) {
    const network = `eip155:${seller.token.facts.chainId}`;
    const checked = await readSale(seller, asked.payload, asked.requirements);
    if ('refusal' in checked) {
        const { invalidReason: errorReason = 'invalid_payload', payer } = checked.refusal;
        const from = payer === undefined ? {} : { payer };
        return { success: false, errorReason, transaction: '', network, ...from };
    }
    const { sale } = checked;
    const outcome = await run(seller, sale, performance.now() + options.waitMs);
    return { ...answerOf(outcome, sale), network, payer: sale.authorization.from };
}
function answerOf(outcome, sale) {
    switch (outcome.status) {
        case 'paid':
            return {
                success: true,
                transaction: outcome.hash,
                amount: String(sale.authorization.value),
                extra: { paymentIntent: outcome.intent.id },
            };
        case 'pending':
            return {
                success: false,
                errorReason: 'settlement_pending',
                errorMessage: outcome.message,
                transaction: outcome.hash,
            };
        case 'failed':
            return {
                success: false,
                errorReason: outcome.reason,
                errorMessage: outcome.message,
                transaction: '',
            };
    }
}
/** One step after the other, each decided by what network and chain say now. */
async function run(seller, sale, deadline) {
    const { merchant, token } = seller;
    const obstacle = await obstacleOf(seller, sale);
    if (obstacle !== null) {
        return { status: 'failed', reason: obstacle, message: 'Nothing was taken.' };
    }
    const place = await openSale(seller, sale);
    if ('taken' in place) {
        const message = 'This signature was presented for something else. Sign a new one.';
        return { status: 'failed', reason: 'duplicate_settlement', message };
    }
    let { intent } = place;
    for (;;) {
        const step = await stepOf(seller, { sale, intent, deadline });
        if (step !== 'again')
            return step;
        if (performance.now() >= deadline) {
            const hash = (await token.findTransfer(sale.authorization)) ?? '';
            const message = 'The merchant is being paid. Ask again with the same signature.';
            return { status: 'pending', hash, message };
        }
        await sleep(LOOK_MS);
        intent = await merchant.paymentIntents.retrieve(intent.id);
    }
}
async function stepOf(seller, at) {
    const { intent, sale } = at;
    switch (intent.status) {
        case 'succeeded': {
            const hash = await seller.token.findTransfer(sale.authorization);
            // Of an old sale the chain's search gives nothing; the merchant's own transaction remains.
            return { status: 'paid', intent, hash: hash ?? intent.tx_hash ?? '' };
        }
        case 'canceled':
            return refund(seller, at);
        case 'requires_payment_method':
            if (intent.last_payment_error !== null)
                return cancel(seller, intent);
            return pay(seller, at);
        case 'requires_action':
            // The bridge's owner would be asked, and a machine waits: raise the wallet's limits instead.
            return cancel(seller, intent);
        default:
            return 'again';
    }
}
/** Takes the money, unless it is taken, and pays the intent with it. */
async function pay(seller, { sale, intent, deadline }) {
    const left = Math.max(0, deadline - performance.now());
    const taken = await seller.token.transfer(sale.authorization, left);
    switch (taken.status) {
        case 'sent': {
            const message = 'The transfer is on its way. Ask again with the same signature.';
            return { status: 'pending', hash: taken.hash ?? '', message };
        }
        case 'refused': {
            const reason = 'invalid_exact_evm_transaction_failed';
            return { status: 'failed', reason, message: `Nothing was taken: ${taken.reason}` };
        }
        case 'done':
            await confirm(seller, intent);
            return 'again';
    }
}
/** A refusal here is read from the intent afterwards: nothing but its state is believed. */
async function confirm(seller, intent) {
    const { account, payer, merchant } = seller;
    try {
        const agent_token = await payer.createAgentToken({ account, amount: intent.amount });
        // A key of its own for each try: an intent is paid once, whatever keys ask for it.
        await merchant.paymentIntents.confirm(intent.id, { agent_token });
    }
    catch (error) {
        if (!(error instanceof TaplineError || error instanceof PayerError))
            throw error;
    }
}
async function cancel(seller, intent) {
    try {
        await seller.merchant.paymentIntents.cancel(intent.id);
    }
    catch (error) {
        // What cannot be canceled any more is on its way, or paid.
        if (!(error instanceof TaplineError) || error.status !== 409)
            throw error;
    }
    return 'again';
}
/** The merchant was not paid and will not be: the client gets its money back, once. */
async function refund(seller, { sale, intent, deadline }) {
    const why = intent.last_payment_error?.message ?? `The payment was ${intent.cancellation_reason}.`;
    const reason = intent.last_payment_error?.decline_code ?? 'payment_canceled';
    const { token } = seller;
    if (!(await token.isUsed(sale.authorization))) {
        const message = `${why} Nothing was taken; what still comes is given back.`;
        return { status: 'failed', reason, message };
    }
    const back = await token.giveBack(sale.authorization);
    const given = await token.transfer(back, Math.max(0, deadline - performance.now()));
    switch (given.status) {
        case 'done':
            return { status: 'failed', reason, message: `${why} The money was given back.` };
        case 'sent':
            return {
                status: 'pending',
                hash: given.hash ?? '',
                message: `${why} The money is on its way back.`,
            };
        case 'refused':
            throw new Error(`${keyOf(sale.authorization)} cannot be given back: ${given.reason}`);
    }
}
