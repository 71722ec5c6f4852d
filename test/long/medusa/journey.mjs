// A minimal Medusa: its payment module with its own tables, and our provider in it.
// node journey.mjs '<json: databaseUrl, baseUrl, apiKey, terminal, webhookSecret>'
import { MedusaApp, MedusaAppMigrateUp, MedusaModule } from '@medusajs/framework/modules-sdk';
import { Modules } from '@medusajs/framework/utils';
import { Tapline } from 'tapline';
import { sign } from 'tapline/webhooks';

const settings = JSON.parse(process.argv[2]);
const { databaseUrl, ...options } = settings;
const provider = { resolve: 'tapline-medusa', id: 'pos', options };
const configuration = {
  sharedResourcesConfig: { database: { clientUrl: databaseUrl, driverOptions: {} } },
  modulesConfig: {
    [Modules.PAYMENT]: { resolve: '@medusajs/payment', options: { providers: [provider] } },
  },
  cwd: process.cwd(),
};
await MedusaAppMigrateUp(configuration);
const app = await MedusaApp(configuration);
await app.onApplicationStart();
const payments = app.modules[Modules.PAYMENT];
const tapline = new Tapline(options.apiKey, { baseUrl: options.baseUrl });
const seen = {};

const [{ id: collection }] = await payments.createPaymentCollections([
  { currency_code: 'usd', amount: 2.5 },
]);
const begin = (amount, currency_code = 'usd') =>
  payments.createPaymentSession(collection, {
    provider_id: 'pp_tapline_pos',
    currency_code,
    amount,
    data: {},
  });
const said = (promise) =>
  promise.then(
    () => 'done',
    (error) => error.message,
  );

const session = await begin(2.5);
seen.begun = [session.status, session.data.terminal === options.terminal];
seen.unpaid = await said(payments.authorizePaymentSession(session.id, {}));
await tapline.testHelpers.expire(session.data.id);
await said(payments.authorizePaymentSession(session.id, {}));
const renewed = (await payments.retrievePaymentSession(session.id)).data;
const [expired, again] = await Promise.all(
  [session.data.id, renewed.id].map((id) => tapline.paymentIntents.retrieve(id)),
);
seen.renewed = [expired.cancellation_reason, again.status, again.amount];
await payments.updatePaymentSession({
  id: session.id,
  amount: 3.25,
  currency_code: 'usd',
  data: (await payments.retrievePaymentSession(session.id)).data,
});
const { data } = await payments.retrievePaymentSession(session.id);
const [before, after] = await Promise.all(
  [renewed.id, data.id].map((id) => tapline.paymentIntents.retrieve(id)),
);
seen.changed = [before.status, after.status, after.amount];

await tapline.testHelpers.tap(options.terminal, { payment_intent: data.id });
const paid = await tapline.paymentIntents.waitFor(data.id);
const payment = await payments.authorizePaymentSession(session.id, {});
const { captures, ...captured } = await payments.retrievePayment(payment.id, {
  relations: ['captures'],
});
seen.captured = [captures.length, Number(captured.amount)];
seen.tooLate = await said(payments.cancelPayment(payment.id));

await payments.refundPayment({ payment_id: payment.id, amount: 1.25 });
await payments.refundPayment({ payment_id: payment.id, amount: 2 });
const { amount, amount_refunded, status } = await tapline.payments.retrieve(paid.payment);
seen.refunded = [amount, amount_refunded, status];

const hook = async (secret) => {
  const event = (await tapline.events.list({ type: 'payment_intent.succeeded', limit: 1 }).page)
    .data[0];
  const rawData = Buffer.from(JSON.stringify(event));
  const headers = { 'service-signature': await sign(rawData.toString(), secret) };
  const payload = { data: event, rawData, headers };
  return payments.getWebhookActionAndData({ provider: 'tapline_pos', payload });
};
const { action, data: told } = await hook(options.webhookSecret);
seen.webhook = [action, told.session_id === session.id, Number(told.amount)];
seen.forged = await said(hook('whsec_wrong'));

const dropped = await begin(1);
await payments.deletePaymentSession(dropped.id);
seen.deleted = (await tapline.paymentIntents.retrieve(dropped.data.id)).status;
seen.currency = await said(begin(1, 'eur'));
seen.nothing = await said(begin(0.0000001));

/** Sells an amount that has more decimals than USDC, and refunds it in parts. */
async function saleOf(total, parts) {
  const begun = await begin(total);
  await tapline.testHelpers.tap(options.terminal, { payment_intent: begun.data.id });
  const intent = await tapline.paymentIntents.waitFor(begun.data.id);
  const told = (await hook(options.webhookSecret)).data;
  const { id } = await payments.authorizePaymentSession(begun.id, {});
  for (const part of parts) await payments.refundPayment({ payment_id: id, amount: part });
  return { intent, told, payment: await tapline.payments.retrieve(intent.payment) };
}
const fraction = await saleOf('87.957975333', ['29.319325111', '40.5', '18.138650222']);
seen.fraction = [
  fraction.intent.amount,
  fraction.intent.metadata.medusa_amount,
  Number(fraction.told.amount),
  fraction.payment.amount_refunded,
  fraction.payment.status,
];
const halves = await saleOf('2.000001', ['1.0000005', '1.0000005']);
seen.halves = [halves.payment.amount_refunded, halves.payment.status];

console.log(`\n${JSON.stringify(seen)}`);
await app.onApplicationShutdown?.();
await MedusaModule.onApplicationShutdown?.();
process.exit(0);
