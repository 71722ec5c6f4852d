// "Try it": sends a request from the page to the sandbox, with the demo account's test key. Loaded
// at the first click on a button.

/** Lists whose newest object's ID replaces the ID in an example. */
const LISTS = ['payment_intents', 'payments', 'refunds', 'events', 'webhook_endpoints'];
/** An event stream never ends, so only its first seconds are shown. */
const STREAM_MS = 5_000;
const LAST_KEY = 'tapline docs last idempotency key';

let account;
/** Returns the demo account, whose keys a sandbox reveals to browsers on its own machine. */
async function demo() {
  if (account !== undefined) return account;
  const answer = await fetch('/sandbox-links');
  const { test } = answer.ok ? await answer.json() : {};
  // Never send a live key, whatever the server returned.
  if (test?.secret_key?.startsWith('tlsk_test_') !== true) {
    throw new Error('This page can send requests only to a sandbox on the same computer.');
  }
  account = test;
  return account;
}

/** Whatever the user types, the key is sent only to the merchant API of this origin. */
function urlOf(address) {
  const url = new URL(`/api${address.trim()}`, location.origin);
  if (url.origin !== location.origin || !url.pathname.startsWith('/api/v1/')) {
    throw new Error('The address must begin with /v1/.');
  }
  const [missing] = /\$\w+/.exec(decodeURIComponent(url.pathname)) ?? [];
  if (missing !== undefined) throw new Error(`Replace ${missing} with a value.`);
  return url;
}

async function send({ method, address, body, isKeyed }) {
  const url = urlOf(address);
  const { secret_key: key } = await demo();
  const headers = { Authorization: `Bearer ${key}` };
  if (body !== null) headers['Content-Type'] = 'application/json';
  if (isKeyed) {
    headers['Idempotency-Key'] = crypto.randomUUID();
    sessionStorage.setItem(LAST_KEY, headers['Idempotency-Key']);
  }
  return fetch(url, { method, headers, body, credentials: 'omit' });
}

/** Parses a curl command into a request. */
function requestOf(code) {
  const [, address = ''] = /^curl "\$TAPLINE_BASE_URL([^"]+)"/.exec(code) ?? [];
  const body = / -d '([\s\S]*)'\s*$/.exec(code)?.[1]?.replaceAll("'\\''", "'") ?? null;
  return {
    method: / -X ([A-Z]+)/.exec(code)?.[1] ?? (body === null ? 'GET' : 'POST'),
    address,
    body,
    isKeyed: code.includes('Idempotency-Key'),
  };
}

async function newest(noun) {
  if (!LISTS.includes(noun)) return null;
  const list = { method: 'GET', address: `/v1/${noun}`, body: null, isKeyed: false };
  const { data } = await (await send(list)).json();
  return data?.[0]?.id ?? null;
}

/** Returns the id of an object in the sandbox, such as the newest payment for `payments`. */
async function known(noun) {
  const { terminal, pass } = await demo();
  if (noun === 'idempotency_keys') return sessionStorage.getItem(LAST_KEY);
  return { terminals: terminal, passes: pass }[noun] ?? newest(noun);
}

/**
 * Replaces the order ID in the body (at most 8 characters), because an order can be paid only once.
 */
function withNewOrder(body) {
  const [drawn] = crypto.getRandomValues(new Uint32Array(1));
  return body.replace(/("order_id": )"[^"]*"/, `$1"A-${drawn % 1_000_000}"`);
}

/** Returns the example's request with IDs of existing objects. */
async function filled(request) {
  const [, noun, variable] = /\/(\w+)\/(\$\w+)/.exec(request.address) ?? [];
  const id = variable === undefined ? null : await known(noun);
  const address = id === null ? request.address : request.address.replace(variable, id);
  if (request.body === null) return { ...request, address };
  const body = JSON.parse(request.body);
  for (const [field, noun] of Object.entries({ terminal: 'terminals', payment: 'payments' })) {
    if (field in body) body[field] = (await known(noun)) ?? body[field];
  }
  return { ...request, address, body: withNewOrder(JSON.stringify(body, null, 2)) };
}

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** Returns the response as readable text; for a stream, only the beginning. */
async function textOf(answer) {
  const type = answer.headers.get('content-type') ?? '';
  if (!type.startsWith('text/event-stream')) {
    const text = await answer.text();
    return type.includes('json') ? JSON.stringify(JSON.parse(text), null, 2) : text;
  }
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  const over = setTimeout(() => reader.cancel(), STREAM_MS);
  let text = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
  clearTimeout(over);
  return text;
}

function formOf(request) {
  const address = element('input', { value: request.address, spellcheck: false });
  address.autocomplete = 'off';
  const lines = Math.min(request.body?.split('\n').length ?? 0, 12);
  const body = element('textarea', { value: request.body ?? '', rows: lines, spellcheck: false });
  const button = element('button', { type: 'submit', textContent: 'Send' });
  const outcome = element('span', { role: 'status' });
  const code = element('code');
  const pre = element('pre', { tabIndex: 0, ariaLabel: 'Response' }, code);
  const answer = element('figure', { className: 'code', hidden: true });
  answer.append(element('figcaption', {}, outcome), pre);
  const words = element('span', {}, 'Sends to this sandbox, with the demo account’s test key.');
  const form = element('form', { className: 'try', ariaLabel: 'Try it' });
  form.append(element('label', {}, element('span', { translate: false }, request.method), address));
  if (request.body !== null) form.append(element('label', {}, element('span', {}, 'Body'), body));
  form.append(element('p', {}, button, words), answer);
  return { form, address, body, button, outcome, code, answer };
}

async function onSubmit({ outcome, code, answer, button, ...parts }, request) {
  button.disabled = true;
  const started = performance.now();
  const body = request.body === null ? null : parts.body.value;
  try {
    const came = await send({ ...request, address: parts.address.value, body });
    code.textContent = await textOf(came);
    code.translate = false;
    outcome.textContent = `${came.status} after ${Math.round(performance.now() - started)} ms`;
    if (came.ok && body !== null) parts.body.value = withNewOrder(body);
  } catch (error) {
    outcome.textContent = 'Not sent';
    code.textContent = error.message;
    code.translate = true;
  }
  answer.hidden = false;
  button.disabled = false;
}

/** Replaces the clicked button with a form for the request. */
export async function open(button, text) {
  const asked = requestOf(text);
  // Outside a sandbox, show the request unchanged; sending it then shows why that fails.
  const request = await filled(asked).catch(() => asked);
  const parts = formOf(request);
  parts.form.addEventListener('submit', (event) => {
    event.preventDefault();
    void onSubmit(parts, request);
  });
  button.replaceWith(parts.form);
  parts.button.focus();
}
