import { payAt } from '../testing/desk.ts';
import { deskShot, type Stage, showLive } from '../testing/desk-shots.ts';
import { LONG_NAME, type Shot } from '../testing/shots.ts';
import { addTestTerminal } from '../testing/till.ts';

/** Screenshots of rare or one-time page states, which the stage must first create. */

const NONE = { data: [], has_more: false, next_cursor: null };
const AT = '2026-11-20T10:00:00.000Z';

/** Shows a new account's checklist at a given stage. */
function firstSteps(
  name: string,
  { live, till }: { live: boolean; till: 'none' | 'new' | 'paired' },
): Shot {
  return deskShot(`first-steps-${name}`, async ({ open, change, sandbox }) => {
    const last_seen_at = till === 'paired' ? AT : null;
    await change('/test/go_live', { live, request: null, prepared: null });
    await change('/test/payments*', NONE);
    const tills = { ...NONE, data: [{ id: sandbox.test.terminal, label: 'Bar', last_seen_at }] };
    await change('/test/terminals*', till === 'none' ? NONE : tills);
    await open('', 'Overview');
  });
}

/** Shows the list of sales after the checklist is complete. */
async function showPaid({ open, change, sandbox }: Stage): Promise<void> {
  const { terminal } = sandbox.test;
  const { payment } = await payAt(sandbox, { terminal, amount: 2_500_000 });
  await change('/test/payments*', { ...NONE, data: [{ id: payment }] });
  await open('', 'Overview');
}

async function showNewer({ sandbox, open, window: { page } }: Stage): Promise<void> {
  const { id: terminal } = await addTestTerminal(sandbox, 'Busy');
  const sale = { terminal, amount: 1_500_000 };
  for (let sold = 0; sold < 12; sold++) await payAt(sandbox, sale);
  await page.setViewportSize({ width: 1280, height: 480 });
  await open(`/payments?terminal=${terminal}`, 'Payments');
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  for (let sold = 0; sold < 3; sold++) await payAt(sandbox, sale);
  // Returning to the window reloads the data.
  await page.evaluate(() =>
    setInterval(() => window.dispatchEvent(new Event('visibilitychange')), 500),
  );
  await page.getByRole('button', { name: /newer$/ }).waitFor();
}

async function search(stage: Stage, typed: string, said: string | RegExp): Promise<void> {
  const { page } = stage.window;
  await stage.open('/payments', 'Payments');
  await page.getByLabel('Go to').fill(typed);
  await page.keyboard.press('Enter');
  await page.getByText(said).waitFor();
}

/** Typical errors of an integration under development. */
const FAILURES = [
  { code: 'parameter_invalid', operation: 'createPaymentIntent', status: 400 },
  { code: 'parameter_invalid', operation: 'createPaymentIntent', status: 400 },
  { code: 'idempotency_request_in_progress', operation: 'confirmPaymentIntent', status: 409 },
  { code: 'resource_missing', operation: 'retrievePayment', status: 404 },
  { code: 'amount_too_large', operation: 'createRefund', status: 400 },
].map(({ code, operation, status }, index) => ({
  ...{ id: `req_${String(index).repeat(22)}`, method: 'POST', path: '/v1/payment_intents' },
  ...{ code, operation, status, duration_ms: 12 + index * 41, created: AT },
}));

const DELIVERY = {
  ...{ id: `whd_${'0'.repeat(22)}`, webhook_endpoint: `we_${'0'.repeat(22)}`, attempt: 4 },
  ...{ event_type: 'payment.succeeded', status: 'failed', response_status: 500, error: null },
  ...{ response_body: '<html><body><h1>Internal Server Error</h1></body></html>' },
  ...{ duration_ms: 1_204, next_attempt_at: null, created: AT, updated: AT },
};

/** Attempts of a delivery: sent four times to a server that answers 500. */
async function showDelivery({ sandbox, open, window: { page } }: Stage): Promise<void> {
  const { terminal } = sandbox.test;
  await payAt(sandbox, { terminal, amount: 2_500_000 });
  const answer = await fetch(`${sandbox.base_url}/v1/events?type=payment.succeeded&limit=1`, {
    headers: { Authorization: `Bearer ${sandbox.test.secret_key}` },
  });
  const { data } = (await answer.json()) as { data: readonly { id: string }[] };
  await page.route('**/test/webhook_deliveries/*', (route) =>
    route.fulfill({ json: { ...DELIVERY, event: data[0]?.id } }),
  );
  await open(`/webhooks/${DELIVERY.webhook_endpoint}/${DELIVERY.id}`, 'Delivery');
}

const DOCUMENTS = [
  { kind: 'registration', file_name: 'Extract.pdf', size: 182_044 },
  { kind: 'identity', file_name: `${LONG_NAME}.jpg`, size: 4_911_220 },
].map((document, index) => ({ ...document, id: `doc_${String(index).repeat(22)}` }));

export const STATE_SHOTS: readonly Shot[] = [
  firstSteps('nothing', { live: false, till: 'none' }),
  firstSteps('live', { live: true, till: 'none' }),
  firstSteps('till', { live: true, till: 'new' }),
  firstSteps('paired', { live: true, till: 'paired' }),
  deskShot('first-steps-paid', showPaid),
  deskShot('payments-newer', showNewer),
  deskShot('search-nothing', (stage) => search(stage, 'no such order', /^Nothing/)),
  deskShot('search-elsewhere', (stage) =>
    search(stage, stage.sandbox.live.terminal, /^Found in live mode/),
  ),
  deskShot('request-log-errors', async ({ open, change }) => {
    await change('/test/request_log*', { data: FAILURES, has_more: false, next_cursor: null });
    await open('/request-log', 'Request log');
  }),
  deskShot('delivery-failed', showDelivery),
  deskShot('verification-documents', async ({ open, change }) => {
    await change('/kyb', { status: 'none', documents: DOCUMENTS, details: {} });
    await open('/verification', 'Verification');
  }),
  deskShot('verification-pending', async (stage) => {
    await showLive(stage, 'pending');
    const submitted = { status: 'pending', submitted_at: AT, documents: DOCUMENTS };
    await stage.change('/kyb', submitted);
    await stage.open('/verification', 'Verification');
  }),
  deskShot('go-live-prepared', async (stage) => {
    await showLive(stage, 'approved');
    await stage.change('/live/go_live', {
      ...{ live: false, request: null },
      prepared: { wallet: `0x${'4f'.repeat(20)}`, prepared_by: 'admin@demo.test' },
    });
    await stage.open('/balance', 'Balance');
  }),
  deskShot('go-live-pending', async (stage) => {
    await showLive(stage, 'approved');
    const request = { status: 'pending', failure_reason: null };
    await stage.change('/live/go_live', { live: false, request, prepared: null });
    await stage.open('/balance', 'Balance');
  }),
  deskShot('next-contract', async (stage) => {
    await showLive(stage, 'approved');
    const next_contract = `0x${'7a'.repeat(20)}`;
    await stage.change('/live/go_live', {
      live: true,
      request: null,
      prepared: null,
      next_contract,
    });
    await stage.open('/balance', 'Balance');
  }),
  deskShot('risk-preview', async ({ open, change, window: { page } }) => {
    const preview = { payments: 1_284, stopped: 12, asked: 207, truncated: false };
    await change('/test/risk_settings/preview*', preview);
    await open('/risk-rules', 'Risk rules');
    await page.getByLabel(/payments per customer/).fill('3');
    await page.getByText(/207/).waitFor();
  }),
];
