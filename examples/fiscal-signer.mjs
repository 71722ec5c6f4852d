// A fiscal signer with a hash chain: each signature covers the receipt and the signature before it, so
// that no receipt can be changed, taken out or put in later. It is an example, and no certified device.
//
//   SIGNER_KEY=<secret> SIGNER_FILE=chain.jsonl node examples/fiscal-signer.mjs
//
// Then name it in the account's settings: fiscal_signer {"url": "http://127.0.0.1:4250/receipts"}.
// `GET /verify` checks the whole chain.
//
// For tills that call it in their own network: fiscal_signer {"url", "called_by": "terminal"}, and
// SIGNER_ORIGIN=https://pay.example.com, the address of the tills' page. Browsers ask it by CORS.
import { createHmac } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';

const key = process.env.SIGNER_KEY;
if (!key) throw new Error('SIGNER_KEY is missing: a secret that only the signer knows.');
const file = process.env.SIGNER_FILE ?? 'chain.jsonl';
const port = Number(process.env.EXAMPLE_PORT ?? 4250);
const origin = process.env.SIGNER_ORIGIN;
/** Lets the tills' page, and no other, read the answers. */
const cors = origin
  ? {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type',
      'access-control-allow-private-network': 'true',
      vary: 'Origin',
    }
  : {};
const LONGEST = 256 * 1024;

/** Entries in their order, and by the id of their request. */
const chain = existsSync(file)
  ? readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  : [];
const known = new Map(chain.map((entry) => [entry.receipt.id, entry]));

function signatureOf(number, previous, receipt) {
  const signed = JSON.stringify([number, previous, receipt]);
  return createHmac('sha256', key).update(signed).digest('base64url');
}

/**
 * Signs a receipt. The same receipt again gets the signature that it has. It is on disk before it
 * is given away.
 */
function sign(receipt) {
  const found = known.get(receipt.id);
  if (found !== undefined) return found;
  const number = chain.length + 1;
  const previous = chain.at(-1)?.signature ?? '';
  const entry = { number, previous, receipt, signature: signatureOf(number, previous, receipt) };
  const disk = openSync(file, 'a', 0o600);
  writeSync(disk, `${JSON.stringify(entry)}\n`);
  fsyncSync(disk);
  closeSync(disk);
  chain.push(entry);
  known.set(receipt.id, entry);
  return entry;
}

/** Returns the number of the first entry that does not fit the chain; null if all do. */
function firstBroken() {
  let previous = '';
  for (const [at, entry] of chain.entries()) {
    const signature = signatureOf(at + 1, previous, entry.receipt);
    if (entry.number !== at + 1 || entry.previous !== previous || entry.signature !== signature) {
      return at + 1;
    }
    previous = entry.signature;
  }
  return null;
}

async function readJson(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > LONGEST) throw new Error('too long');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}

createServer(async (request, response) => {
  const answer = (status, body) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...cors })
      .end(JSON.stringify(body));
  if (origin && request.method === 'OPTIONS') return response.writeHead(204, cors).end();
  if (request.method === 'GET' && request.url === '/verify') {
    return answer(200, { entries: chain.length, first_broken: firstBroken() });
  }
  // Another site's page could not read the answer, but its receipt would be in the chain.
  const { origin: page } = request.headers;
  if (page && page !== origin) return answer(403, { error: 'This page may not sign.' });
  if (request.method !== 'POST') return answer(405, { error: 'POST a receipt, or GET /verify.' });
  try {
    const receipt = await readJson(request);
    if (typeof receipt.id !== 'string') return answer(400, { error: 'id is missing.' });
    const { number, signature } = sign(receipt);
    return answer(200, { signature, text: `Signed as number ${number}` });
  } catch {
    return answer(400, { error: 'This is no receipt.' });
  }
}).listen(port, '127.0.0.1', function ready() {
  console.log(`Signing at http://127.0.0.1:${this.address().port}/receipts`);
});
