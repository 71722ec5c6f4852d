import { formatUsdc, usdc } from 'tapline';
import { demoOf, someTerminal } from './settings.js';
import { WrongUse } from './wrong-use.js';
function showIntent({ out }, intent) {
    const { id, status, payment, last_payment_error: error } = intent;
    const more = payment ?? (error === null ? '' : `${error.decline_code}: ${error.message}`);
    out.show(intent, `${id}  ${formatUsdc(intent.amount)} USDC  ${status}  ${more}`.trimEnd());
    return 0;
}
export async function tap(settings, given, options) {
    const { tapline } = settings;
    const terminal = given ?? (await someTerminal(settings));
    const intent = options.amount === undefined
        ? options.intent
        : (await tapline.paymentIntents.create({ amount: usdc(options.amount), terminal })).id;
    const value = options.pass === undefined ? undefined : passOf(settings, options.pass);
    const tapped = await tapline.testHelpers.tap(terminal, {
        ...(intent === undefined ? {} : { payment_intent: intent }),
        ...(value === undefined ? {} : { credential: { type: 'nfc_id', value } }),
    });
    return showIntent(settings, tapped);
}
function passOf(settings, name) {
    if (name.startsWith('nfc_'))
        return name;
    const passes = demoOf(settings)?.passes ?? {};
    const value = passes[name];
    if (value !== undefined)
        return value;
    const names = Object.keys(passes).join(', ') || 'none, because this is not the sandbox';
    throw new WrongUse(`There is no demo pass ${name}, only: ${names}. Or give an nfc_… value.`);
}
export async function confirm(settings, id, reject) {
    const intent = await settings.tapline.testHelpers.payerConfirm(id, { approve: !reject });
    return showIntent(settings, intent);
}
export async function expire(settings, id) {
    return showIntent(settings, await settings.tapline.testHelpers.expire(id));
}
const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 };
export function secondsOf(duration) {
    const [, count, unit = 's'] = /^(\d+)([smhd])?$/.exec(duration) ?? [];
    if (count === undefined)
        throw new WrongUse(`${duration} is no duration: try 90s, 15m, 2h or 3d.`);
    return Number(count) * (SECONDS[unit] ?? 1);
}
export async function clock(settings, advance) {
    const { testHelpers } = settings.tapline;
    const now = advance === undefined
        ? await testHelpers.clock()
        : await testHelpers.advanceClock({ seconds: secondsOf(advance) });
    settings.out.show(now, `${now.now}  (${now.advanced_seconds} s ahead)`);
    return 0;
}
