import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { json, text } from 'node:stream/consumers';
import { test } from 'node:test';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import { DESKTOP, NARROW, PHONE } from '../../testing/browser.ts';
import { payAt } from '../../testing/desk.ts';
import { openSignedIn } from '../../testing/signed-in.ts';
import { sharedStage } from '../../testing/stage.ts';

/** Tests terminals, API keys, webhooks, events and the request log as developers use them. */

/**
 * A revoked key may read for one more second (behavior.md 3.6). The rest is time for the request.
 */
const READS_END_MS = 2_000;

const stage = sharedStage();

const LOOKS = [
  { name: 'phone, light', options: { ...PHONE, colorScheme: 'light' as const } },
  { name: 'desktop, dark', options: { ...DESKTOP, colorScheme: 'dark' as const } },
  { name: '320 px', options: NARROW },
];

for (const { name, options } of LOOKS) {
  test(`a till is added, connected, and used: ${name}`, async () => {
    const { sandbox } = stage();
    const window = await openSignedIn(stage(), 'dashboard/terminals', options);
    const { page } = window;
    await page.getByRole('button', { name: /^Add terminal/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: /^Add terminal/ }).click();
    await dialog.getByText('Enter a label, such as Bar.').waitFor();
    await dialog.getByRole('textbox', { name: 'Label' }).fill(`Bar ${name}`);
    await dialog.getByRole('button', { name: /^Add terminal/ }).click();
    const code = await dialog.getByLabel('Pairing code', { exact: true }).inputValue();
    assert.match(code, /^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
    await window.checkAccessibility();
    const till = await window.context.newPage();
    await till.goto(`${sandbox.web_url}/terminal#pair=${code}`);
    await till.getByRole('button', { name: /^Start shift/ }).waitFor();
    await till.close();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page
      .getByRole('row', { name: `Bar ${name}` })
      .getByRole('link', { name: /^tml_/ })
      .click();
    await page.getByRole('button', { name: 'Change label' }).click();
    await dialog.getByRole('textbox', { name: 'Label' }).fill(`Bar of ${name}`);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: `Bar of ${name}` }).waitFor();
    await window.checkAccessibility();
    await window.closeClean();
  });
}

test('a key is created, works, is replaced, and ends', async () => {
  const { sandbox } = stage();
  const window = await openSignedIn(stage(), 'dashboard/api-keys');
  const { page } = window;
  await page.getByRole('button', { name: /^Create API key/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Web shop');
  await dialog.getByRole('textbox', { name: /^Allowed IP addresses/ }).fill('nonsense');
  await window.checkAccessibility();
  await dialog.getByRole('button', { name: /^Create API key/ }).click();
  await dialog.locator('.field-error').waitFor();
  assert.equal(await dialog.getByRole('textbox', { name: 'Name' }).inputValue(), 'Web shop');
  await dialog.getByRole('textbox', { name: /^Allowed IP addresses/ }).fill('');
  await dialog.getByRole('button', { name: /^Create API key/ }).click();
  const key = await dialog.getByLabel('API key', { exact: true }).inputValue();
  assert.match(key, /^tlsk_test_/);
  await window.checkAccessibility();
  const ask = (secret: string) =>
    fetch(`${sandbox.base_url}/v1/balance`, { headers: { Authorization: `Bearer ${secret}` } });
  assert.equal((await ask(key)).status, 200);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('link', { name: /^key_/ }).first().click();
  await page.getByRole('heading', { name: 'Web shop' }).waitFor();
  await page.getByRole('button', { name: 'Replace' }).click();
  await dialog.getByRole('combobox').selectOption('0');
  await dialog.getByRole('button', { name: 'Replace' }).click();
  const next = await dialog.getByLabel('API key', { exact: true }).inputValue();
  assert.equal((await ask(next)).status, 200);
  await eventually('reads end too', async () => (await ask(key)).status === 401, READS_END_MS);
  await window.closeClean(/status of 400/);
});

test('an endpoint is added, gets an event, and gets it again on request', async () => {
  let answer = 500;
  const received: string[] = [];
  const server = createServer(async (request, response) => {
    const event = (await json(request)) as { type: string };
    // Other tests create events in the same account at the same time.
    if (event.type === 'ping') received.push(String(request.headers['webhook-id']));
    response.writeHead(answer).end('I am out of coffee');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const window = await openSignedIn(stage(), 'dashboard/webhooks');
  const { page } = window;
  await page.getByRole('button', { name: 'Add endpoint' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Address' }).fill('ftp://nowhere');
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  await dialog.locator('.field-error').waitFor();
  await window.checkAccessibility();
  await dialog.getByRole('textbox', { name: 'Address' }).fill(`http://127.0.0.1:${port}/events`);
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  await dialog.getByLabel('Signing secret', { exact: true }).waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Send test event' }).click();
  await page.getByText('I am out of coffee').waitFor();
  await window.checkAccessibility();
  answer = 200;
  await page.getByRole('row', { name: 'ping' }).getByRole('link', { name: /^wdl_/ }).click();
  await page.getByRole('button', { name: /^Resend/ }).click();
  await page.getByText('HTTP 200').waitFor();
  await window.checkAccessibility();
  assert.equal(new Set(received).size, 1, 'the same event came again');
  await page.getByRole('link', { name: /^we_/ }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
  await window.closeClean(/status of 400/);
  server.close();
});

test('an endpoint that a program adds appears in the open list', async () => {
  const { sandbox } = stage();
  const owner = new PersonClient(`${sandbox.base_url}/dashboard/v1`);
  await owner.post('/session', sandbox.dashboard);
  const window = await openSignedIn(stage(), 'dashboard/webhooks');
  await window.page.getByRole('button', { name: 'Add endpoint' }).waitFor();
  const body = { url: 'http://127.0.0.1:65001/program', enabled_events: ['terminal.*'] };
  const made = await owner.post(`/accounts/${sandbox.account}/test/webhook_endpoints`, body);
  assert.equal(made.status, 201, made.text);
  await window.page.getByText(body.url).waitFor({ timeout: 15_000 });
  await owner.delete(`/accounts/${sandbox.account}/test/webhook_endpoints/${made.body.id}`);
  await window.page.getByText(body.url).waitFor({ state: 'detached', timeout: 15_000 });
  await window.closeClean();
});

test('two people edit one endpoint: the second sees both values and keeps the input', async () => {
  const { sandbox } = stage();
  const owner = new PersonClient(`${sandbox.base_url}/dashboard/v1`);
  await owner.post('/session', sandbox.dashboard);
  const all = `/accounts/${sandbox.account}/test/webhook_endpoints`;
  const body = { url: 'http://127.0.0.1:65000/hook', enabled_events: ['terminal.*'] };
  const { id } = (await owner.post(all, body)).body as { id: string };
  const open = async () => {
    const window = await openSignedIn(stage(), `dashboard/webhooks/${id}`);
    await window.page.getByRole('button', { name: 'Change', exact: true }).click();
    return { window, page: window.page, dialog: window.page.getByRole('dialog') };
  };
  const [first, second] = [await open(), await open()];
  // Holds the page's own reads until the change is sent, so that they cannot be stale.
  let isSent = false;
  await first.page.route(`**${all}/${id}`, (route) => {
    if (route.request().method() === 'PATCH') isSent = true;
    return isSent ? route.continue() : undefined;
  });
  const note = first.dialog.getByRole('textbox', { name: 'Note' });
  await note.fill('mine');
  await second.dialog.getByRole('textbox', { name: 'Note' }).fill('theirs');
  await second.dialog.getByRole('checkbox', { name: /^All events/ }).check();
  await second.dialog.getByRole('button', { name: 'Save' }).click();
  await second.dialog.waitFor({ state: 'detached' });
  await first.dialog.getByRole('button', { name: 'Save' }).click();
  await first.dialog.getByText('Someone else changed this since').waitFor();
  await first.dialog.getByText('Current value: theirs').waitFor();
  await first.dialog.getByText('Current value: *').waitFor();
  assert.equal(await note.inputValue(), 'mine', 'nothing that was typed is lost');
  await first.window.checkAccessibility();
  await first.dialog.getByRole('button', { name: 'Save' }).click();
  await first.dialog.waitFor({ state: 'detached' });
  const { description, version } = (await owner.get(`${all}/${id}`)).body;
  assert.deepEqual([description, version], ['mine', 3]);
  await owner.delete(`${all}/${id}`);
  first.window.checkClean(/status of 409/);
  for (const { window } of [first, second]) await window.close();
});

test('events and requests are found, and errors are grouped', async () => {
  const { sandbox } = stage();
  const { payment } = await payAt(sandbox, { terminal: sandbox.test.terminal, amount: 3_000_000 });
  const window = await openSignedIn(stage(), 'dashboard/events?type=payment.succeeded', PHONE);
  const { page } = window;
  await page.getByRole('row', { name: payment }).getByRole('link', { name: /^evt_/ }).click();
  await page.getByText(`"id": "${payment}"`).waitFor();
  await window.checkAccessibility();
  await fetch(`${sandbox.base_url}/v1/payments/pay_nothing`, {
    headers: { Authorization: `Bearer ${sandbox.test.secret_key}` },
  });
  await page.getByRole('link', { name: 'Request log', exact: true }).click();
  await page.getByRole('table', { name: 'Requests' }).waitFor();
  await window.checkAccessibility();
  const calls = await page.locator('.row-link').allTextContents();
  const isOwn = (call: string) => /^req_\S+ [A-Z]+ \/(api\/)?v1\//.test(call);
  assert.ok(calls.length > 0 && calls.every(isOwn), `not of a server: ${calls}`);
  await page.getByRole('link', { name: /^req_/ }).first().click();
  await page.getByText('API version').waitFor();
  await window.closeClean();
});

/** Starts a merchant's server that verifies signatures, or accepts everything. */
async function startMerchant() {
  let secret: string | null = null;
  let received = 0;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    received++;
    const header = String(request.headers['service-signature']);
    const [, seconds = '', sent = ''] = /^t=(\d+),v1=([0-9a-f]+)/.exec(header) ?? [];
    const isOld = Math.abs(Date.now() / 1000 - Number(seconds)) > 300;
    const own = (key: string) =>
      createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex');
    const isGood = secret === null || (!isOld && own(secret) === sent);
    response.writeHead(isGood ? 200 : 400).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    checkWith: (next: string | null) => {
      secret = next;
    },
    received: () => received,
    close: () => server.close(),
  };
}

test('a new endpoint is checked for signature verification; events are sent again', async () => {
  const merchant = await startMerchant();
  const window = await openSignedIn(stage(), 'dashboard/webhooks', PHONE);
  const { page } = window;
  await page.getByRole('button', { name: 'Add endpoint' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Address' }).fill(merchant.url);
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  merchant.checkWith(await dialog.getByLabel('Signing secret', { exact: true }).inputValue());
  await dialog.getByRole('button', { name: 'Check signatures' }).click();
  await dialog.getByText('Your server checks signatures').waitFor();
  await window.checkAccessibility();
  await dialog.getByRole('button', { name: 'Done' }).click();
  merchant.checkWith(null);
  await page.getByRole('button', { name: 'Check signatures' }).click();
  await page.getByText('Your server accepts forged events').waitFor();
  await window.checkAccessibility();
  const before = merchant.received();
  await page.getByRole('button', { name: /^Replay events/ }).click();
  await dialog.getByRole('button', { name: 'Replay events' }).click();
  await dialog.getByText('All events are queued').waitFor();
  await eventually('events come again', async () => merchant.received() > before);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
  await window.closeClean(/status of 400/);
  merchant.close();
});
