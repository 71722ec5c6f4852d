// A kiosk: the customer chooses, scans a QR code and pays with any wallet. Node.js 20 or newer, and
// the package `uqr`, which draws the code.
//
//   npm start                    in one window: the sandbox
//   node examples/kiosk.mjs      in another one; then open http://127.0.0.1:8790
//
// A kiosk is a terminal: it has a device key and calls /api/device/v1. The key stays in this
// server; the browser gets only a picture and a status.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { renderSVG } from 'uqr';

const dataDir = process.env.TAPLINE_DATA_DIR ?? '.tapline';
const sandbox = JSON.parse(await readFile(`${dataDir}/sandbox.json`, 'utf8'));
const MENU = { coffee: 2_500_000, tea: 2_000_000, cake: 4_200_000 };

async function device(method, path, { body, key } = {}) {
  const headers = { Authorization: `Bearer ${sandbox.test.device_key}` };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (key !== undefined) headers['Idempotency-Key'] = key;
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${sandbox.base_url}/device/v1${path}`, {
    method,
    headers,
    ...sent,
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${answer.error.code}: ${answer.error.message}`);
  return answer;
}

/** The browser creates one key per sale, so clicking again after an error repeats the same sale. */
async function order(item, key) {
  const body = { amount: MENU[item], description: item };
  const intent = await device('POST', '/payment_intents', { body, key });
  return { id: intent.id, payment_url: intent.payment_url, qr: renderSVG(intent.payment_url) };
}

/** Responds as soon as the status differs from the one that the browser has seen. */
async function statusOf(id, seen) {
  const query = new URLSearchParams({ wait: '20', status: seen });
  const { status, last_payment_error: declined } = await device(
    'GET',
    `/payment_intents/${id}?${query}`,
  );
  return { status, message: declined?.customer_message ?? null };
}

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Kiosk</title>
<meta name="viewport" content="width=device-width">
<style>body{font:1.5rem system-ui;max-width:30rem;margin:2rem auto;text-align:center}
button{font:inherit;padding:1rem 2rem;margin:.5rem}svg{width:18rem;height:18rem}</style>
<h1>What would you like?</h1>
<div id="menu">${Object.keys(MENU)
  .map((item) => `<button>${item}</button>`)
  .join('')}</div>
<div id="code"></div><p role="status"></p>
<script type="module">
const say = (text) => { document.querySelector('[role=status]').textContent = text; };
const ask = async (path, options) => {
  const response = await fetch(path, options);
  if (!response.ok) throw new Error((await response.json()).error);
  return response.json();
};
const WORDS = { succeeded: 'Paid. Thank you!', canceled: 'Nobody paid in time.' };
document.querySelector('#menu').addEventListener('click', async ({ target }) => {
  if (target.localName !== 'button') return;
  const key = (target.dataset.key ??= crypto.randomUUID());
  try {
    const { id, qr } = await ask('/orders/' + target.textContent + '?key=' + key, { method: 'POST' });
    delete target.dataset.key;
    document.querySelector('#code').innerHTML = qr;
    say('Scan to pay');
    let status = 'requires_payment_method';
    while (!(status in WORDS)) {
      let message;
      ({ status, message } = await ask('/orders/' + id + '?seen=' + status));
      if (message) say(message);
    }
    document.querySelector('#code').innerHTML = '';
    say(WORDS[status]);
  } catch (error) { say('Please press again. ' + error.message); }
});
</script></html>`;

async function answer(method, { pathname, searchParams }) {
  const [, orders, what] = pathname.split('/');
  if (orders !== 'orders' || what === undefined) return [404, { error: 'There is no such page.' }];
  if (method === 'GET') return [200, await statusOf(what, searchParams.get('seen') ?? '')];
  const key = searchParams.get('key');
  if (!Object.hasOwn(MENU, what) || key === null) return [400, { error: 'Not on the menu.' }];
  return [201, await order(what, key)];
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, 'http://kiosk');
  if (url.pathname === '/') {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(PAGE);
    return;
  }
  const [status, body] = await answer(request.method, url).catch((error) => [
    502,
    { error: error.message },
  ]);
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
});
server.listen(Number(process.env.EXAMPLE_PORT ?? 8790), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
process.once('SIGTERM', () => process.exit(0));
