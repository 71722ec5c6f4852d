import { formatUsdc, type PaymentIntent, usdc } from 'tapline';
import { demoOf, type Settings, someTerminal } from './settings.ts';
import { WrongUse } from './wrong-use.ts';

/** Commands that simulate the customer and the passage of time in test mode. */

function showIntent({ out }: Settings, intent: PaymentIntent): number {
  const { id, status, payment, last_payment_error: error } = intent;
  const more = payment ?? (error === null ? '' : `${error.decline_code}: ${error.message}`);
  out.show(intent, `${id}  ${formatUsdc(intent.amount)} USDC  ${status}  ${more}`.trimEnd());
  return 0;
}

export interface TapOptions {
  readonly pass?: string;
  readonly intent?: string;
  readonly amount?: string;
}

/** Taps a pass as a customer would. With `--amount`, creates a payment first. */
export async function tap(
  settings: Settings,
  given: string | undefined,
  options: TapOptions,
): Promise<number> {
  const { tapline } = settings;
  const terminal = given ?? (await someTerminal(settings));
  const intent =
    options.amount === undefined
      ? options.intent
      : (await tapline.paymentIntents.create({ amount: usdc(options.amount), terminal })).id;
  const value = options.pass === undefined ? undefined : passOf(settings, options.pass);
  const tapped = await tapline.testHelpers.tap(terminal, {
    ...(intent === undefined ? {} : { payment_intent: intent }),
    ...(value === undefined ? {} : { credential: { type: 'nfc_id' as const, value } }),
  });
  return showIntent(settings, tapped);
}

/** Looks up a pass by its name in sandbox.json; anything else is used as the credential itself. */
function passOf(settings: Settings, name: string): string {
  if (name.startsWith('nfc_')) return name;
  const passes = demoOf(settings)?.passes ?? {};
  const value = passes[name];
  if (value !== undefined) return value;
  const names = Object.keys(passes).join(', ') || 'none, because this is not the sandbox';
  throw new WrongUse(
    `There is no demo pass ${name}. Choose one of: ${names}, or pass an nfc_… value.`,
  );
}

export async function confirm(settings: Settings, id: string, reject: boolean): Promise<number> {
  const intent = await settings.tapline.testHelpers.payerConfirm(id, { approve: !reject });
  return showIntent(settings, intent);
}

export async function expire(settings: Settings, id: string): Promise<number> {
  return showIntent(settings, await settings.tapline.testHelpers.expire(id));
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Parses `90`, `90s`, `15m`, `2h` or `3d` into seconds. */
export function secondsOf(duration: string): number {
  const [, count, unit = 's'] = /^(\d+)([smhd])?$/.exec(duration) ?? [];
  if (count === undefined)
    throw new WrongUse(`${duration} is not a duration: try 90s, 15m, 2h or 3d.`);
  return Number(count) * (SECONDS[unit] ?? 1);
}

export async function clock(settings: Settings, advance: string | undefined): Promise<number> {
  const { testHelpers } = settings.tapline;
  const now =
    advance === undefined
      ? await testHelpers.clock()
      : await testHelpers.advanceClock({ seconds: secondsOf(advance) });
  settings.out.show(now, `${now.now}  (${now.advanced_seconds} s ahead)`);
  return 0;
}
