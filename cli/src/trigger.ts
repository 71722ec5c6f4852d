import { type PaymentIntent, type Refund, type TestTriggerEventBody, usdc } from 'tapline';
import { fieldsOf } from './resources.ts';
import { runFixture } from './run-fixture.ts';
import { demoOf, type Settings, someTerminal } from './settings.ts';
import { WrongUse } from './wrong-use.ts';

/** The object that was created to cause the event. */
export interface Made {
  readonly intent?: PaymentIntent;
  readonly payment?: string;
  readonly refund?: Refund;
}

const AMOUNT = 2_500_000;

/** Options for the intent that is created; its other fields are fixed. */
export interface TriggerOptions {
  readonly amount?: string;
  readonly order?: string;
  readonly description?: string;
  /** For example `table=7`. */
  readonly metadata: readonly string[];
}

type Scene = Settings & { readonly chosen: TriggerOptions };

function amountOf({ chosen: { amount } }: Scene): number {
  return amount === undefined ? AMOUNT : usdc(amount);
}

async function create(scene: Scene, terminal: string): Promise<PaymentIntent> {
  const { order, description = 'Triggered', metadata } = scene.chosen;
  const { metadata: pairs } = fieldsOf(metadata.map((pair) => `metadata.${pair}`));
  return scene.tapline.paymentIntents.create({
    ...{ amount: amountOf(scene), terminal, description },
    ...(order === undefined ? {} : { order_id: order }),
    ...(pairs === undefined ? {} : { metadata: textsOf(pairs) }),
  });
}

/** Parses metadata, whose values stay strings even if they look like numbers. */
function textsOf(pairs: unknown): Record<string, string> {
  const entries = Object.entries(pairs as object);
  return Object.fromEntries(entries.map(([name, value]) => [name, `${value}`]));
}

async function pay(settings: Scene): Promise<Made & { payment: string }> {
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

async function refund(settings: Scene): Promise<Made> {
  const made = await pay(settings);
  const { id } = await settings.tapline.refunds.create({ payment: made.payment });
  return { ...made, refund: await settings.tapline.refunds.waitFor(id) };
}

async function cancel(settings: Scene): Promise<Made> {
  const { id } = await create(settings, await someTerminal(settings));
  return { intent: await settings.tapline.paymentIntents.cancel(id) };
}

/** A token for a different amount is declined on any network, without a special pass. */
async function decline(settings: Scene): Promise<Made> {
  const { tapline } = settings;
  const { id } = await create(settings, await someTerminal(settings));
  const wrong = await tapline.testHelpers.createAgentToken({ amount: amountOf(settings) + 1 });
  return { intent: await tapline.paymentIntents.confirm(id, { agent_token: wrong.agent_token }) };
}

/** Taps a pass whose payer must confirm. Only the sandbox has such a pass. */
async function ask(settings: Scene): Promise<Made | null> {
  const value = demoOf(settings)?.passes.confirm;
  if (value === undefined) return null;
  const terminal = await someTerminal(settings);
  const { id: payment_intent } = await create(settings, terminal);
  const body = { payment_intent, credential: { type: 'nfc_id' as const, value } };
  return { intent: await settings.tapline.testHelpers.tap(terminal, body) };
}

/** The actions of merchant and customer that cause each event type. */
const FLOWS: Readonly<Record<string, (settings: Scene) => Promise<Made | null>>> = {
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

/** If no test helper can cause it, sends a sample event. */
export async function trigger(
  given: Settings,
  type: string,
  chosen: TriggerOptions,
): Promise<number> {
  const settings = { ...given, chosen };
  const { out, tapline, apiKey } = settings;
  if (apiKey.startsWith('tlsk_live')) throw new WrongUse('trigger needs a test key.');
  // Event types never end in `.json`.
  if (type.endsWith('.json')) return runFixture(settings, type);
  const made = (await FLOWS[type]?.(settings)) ?? null;
  if (made !== null) {
    const ids = [made.intent?.id, made.payment, made.refund?.id].filter(Boolean).join(', ');
    out.show({ type, real: true, ...made }, `${type} happened: ${ids}`);
    return 0;
  }
  const event = await tapline.testHelpers.triggerEvent({ type } as TestTriggerEventBody);
  out.show(
    { type, real: false, event },
    `${type} was sent as a sample, because no test helper can cause it: ${event.id}`,
  );
  return 0;
}
