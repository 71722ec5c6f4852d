import { usdc } from 'tapline';
import { runFixture } from './fixture.js';
import { fieldsOf } from './resources.js';
import { demoOf, someTerminal } from './settings.js';
import { WrongUse } from './wrong-use.js';
const AMOUNT = 2_500_000;
function amountOf({ chosen: { amount } }) {
    return amount === undefined ? AMOUNT : usdc(amount);
}
async function create(scene, terminal) {
    const { order, description = 'Triggered', metadata } = scene.chosen;
    const { metadata: pairs } = fieldsOf(metadata.map((pair) => `metadata.${pair}`));
    return scene.tapline.paymentIntents.create({
        ...{ amount: amountOf(scene), terminal, description },
        ...(order === undefined ? {} : { order_id: order }),
        ...(pairs === undefined ? {} : { metadata: textsOf(pairs) }),
    });
}
function textsOf(pairs) {
    const entries = Object.entries(pairs);
    return Object.fromEntries(entries.map(([name, value]) => [name, `${value}`]));
}
async function pay(settings) {
    const { tapline } = settings;
    const terminal = await someTerminal(settings);
    const { id } = await create(settings, terminal);
    await tapline.testHelpers.tap(terminal, { payment_intent: id });
    const intent = await tapline.paymentIntents.waitFor(id, {
        until: ({ status }) => status !== 'processing',
    });
    if (intent.payment === null) {
        const why = intent.last_payment_error?.message ?? `the intent is ${intent.status}`;
        throw new Error(`The payment did not succeed: ${why}`);
    }
    return { intent, payment: intent.payment };
}
async function refund(settings) {
    const made = await pay(settings);
    const { id } = await settings.tapline.refunds.create({ payment: made.payment });
    return { ...made, refund: await settings.tapline.refunds.waitFor(id) };
}
async function cancel(settings) {
    const { id } = await create(settings, await someTerminal(settings));
    return { intent: await settings.tapline.paymentIntents.cancel(id) };
}
async function decline(settings) {
    const { tapline } = settings;
    const { id } = await create(settings, await someTerminal(settings));
    const wrong = await tapline.testHelpers.createAgentToken({ amount: amountOf(settings) + 1 });
    return { intent: await tapline.paymentIntents.confirm(id, { agent_token: wrong.agent_token }) };
}
async function ask(settings) {
    const value = demoOf(settings)?.passes.confirm;
    if (value === undefined)
        return null;
    const terminal = await someTerminal(settings);
    const { id: payment_intent } = await create(settings, terminal);
    const body = { payment_intent, credential: { type: 'nfc_id', value } };
    return { intent: await settings.tapline.testHelpers.tap(terminal, body) };
}
const FLOWS = {
    'payment_intent.created': async (settings) => ({
        intent: await create(settings, await someTerminal(settings)),
    }),
    'payment_intent.requires_action': ask,
    'payment_intent.succeeded': pay,
    'payment_intent.canceled': cancel,
    'payment_intent.payment_failed': decline,
    'payment.succeeded': pay,
    'payment.refunded': refund,
    'refund.created': refund,
    'refund.succeeded': refund,
};
export async function trigger(given, type, chosen) {
    const settings = { ...given, chosen };
    const { out, tapline, apiKey } = settings;
    if (apiKey.startsWith('tlsk_live'))
        throw new WrongUse('trigger needs a test key.');
    if (type.endsWith('.json'))
        return runFixture(settings, type);
    const made = (await FLOWS[type]?.(settings)) ?? null;
    if (made !== null) {
        const ids = [made.intent?.id, made.payment, made.refund?.id].filter(Boolean).join(', ');
        out.show({ type, real: true, ...made }, `${type} happened: ${ids}`);
        return 0;
    }
    const event = await tapline.testHelpers.triggerEvent({ type });
    out.show({ type, real: false, event }, `${type} was sent without happening: ${event.id}`);
    return 0;
}
