// A terminal without a browser: it uses the till page's own modules, and a file as storage.
// process-till.ts starts it, and kills it at any moment.
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Device } from '../../data/device-api.ts';
import type { Forwarded } from '../../data/forward-offline-payments.ts';
import { type OfflineRequest, offlineNonce, writeRequest } from '../../data/offline-request.ts';
import { verifyAnswer } from '../../data/offline-signature.ts';
import {
  afterAnswer,
  type HeldSale,
  recordOf,
  slipOf,
  toForward,
} from '../../terminal/offline/held-sales.ts';
import {
  cardProblem,
  chargedFor,
  requestProblem,
  type Standing,
  saleProblem,
  validBeforeOf,
} from '../../terminal/offline/till-offline-limits.ts';
import type { TillCommand } from './process-till.ts';

const { TILL_FOLDER: folder = '', TILL_API: api = '', TILL_KEY: deviceKey = '' } = process.env;
/** Number of records per request, the most that the service accepts. */
const MOST_RECORDS = 100;
const AGAIN_MS = 1_000;
/** Time-out, longer than a request with 100 records takes while the service is starting. */
const GIVE_UP_MS = 30_000;

const termsFile = path.join(folder, 'terms.json');
const salesFile = path.join(folder, 'sales.jsonl');
const sales = new Map<string, HeldSale>();
let offlineRequest: OfflineRequest | null = null;
let contact: { readonly device: Device; readonly at: number } | null = null;

/** Reads the sales on the disk. A sale whose line was cut off was never accepted. */
function load(): number {
  if (fs.existsSync(termsFile)) contact = JSON.parse(fs.readFileSync(termsFile, 'utf8'));
  const text = fs.existsSync(salesFile) ? fs.readFileSync(salesFile, 'utf8') : '';
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  for (const line of whole.split('\n').slice(0, -1)) {
    const sale = JSON.parse(line) as HeldSale;
    sales.set(`${sale.from} ${sale.nonce}`, sale);
  }
  const file = fs.openSync(salesFile, 'a');
  fs.ftruncateSync(file, Buffer.byteLength(whole));
  return file;
}

const file = load();

function keep(changed: readonly HeldSale[]): void {
  if (changed.length === 0) return;
  fs.writeSync(file, changed.map((sale) => `${JSON.stringify(sale)}\n`).join(''));
  fs.fsyncSync(file);
  for (const sale of changed) sales.set(`${sale.from} ${sale.nonce}`, sale);
}

function standing(): Standing {
  const { offline: limits = null, offline_terms: terms = null } = contact?.device ?? {};
  if (contact === null || limits === null) throw new Error('this till has no terms');
  const now = Date.now();
  return { limits, terms, contactAt: contact.at, now, sales: [...sales.values()], isSafe: true };
}

function request(sum: number): string {
  const now = standing();
  const amount = BigInt(sum);
  const problem = saleProblem({ amount, presentment: null }, now);
  const validBefore = validBeforeOf(now);
  const { terms } = now;
  if (problem !== null || terms === null || validBefore === null) {
    throw new Error(JSON.stringify(problem));
  }
  offlineRequest = {
    chainId: terms.chain_id,
    usdc: terms.usdc as OfflineRequest['usdc'],
    usdcName: terms.usdc_name,
    usdcVersion: terms.usdc_version,
    settlement: terms.settlement as OfflineRequest['settlement'],
    merchantNumber: terms.merchant_number,
    merchantName: contact?.device.merchant_name ?? '',
    amount,
    value: chargedFor(amount, terms),
    validBefore,
    salt: `0x${randomBytes(32).toString('hex')}`,
  };
  return writeRequest(offlineRequest);
}

async function accept(text: string): Promise<string> {
  if (offlineRequest === null) throw new Error('no sale was requested');
  const answer = await verifyAnswer(offlineRequest, text);
  if (typeof answer === 'string') throw new Error(answer);
  const { amount, value, validBefore, salt } = offlineRequest;
  const { from, signature } = answer;
  const now = standing();
  const reply = { request: offlineRequest };
  const card = { from, amount, presentment: null };
  const problem = requestProblem(reply, now) ?? cardProblem(card, now);
  if (problem !== null) throw new Error(JSON.stringify(problem));
  const sale: HeldSale = {
    ...{ nonce: offlineNonce(offlineRequest), from, amount: Number(amount), value: Number(value) },
    ...{ validBefore, salt, signature, acceptedAt: new Date().toISOString(), lineItems: null },
    state: { is: 'waits' },
  };
  keep([sale]);
  offlineRequest = null;
  return slipOf(sale).code;
}

const headers = { Authorization: `Bearer ${deviceKey}`, 'Content-Type': 'application/json' };

async function learn(): Promise<void> {
  const signal = AbortSignal.timeout(GIVE_UP_MS);
  const response = await fetch(`${api}/terminal`, { headers, signal });
  if (!response.ok) return;
  contact = { device: (await response.json()) as Device, at: Date.now() };
  fs.writeFileSync(`${termsFile}.new`, JSON.stringify(contact));
  fs.renameSync(`${termsFile}.new`, termsFile);
}

async function forward(sent: readonly HeldSale[]): Promise<void> {
  const response = await fetch(`${api}/offline_payments`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ payments: sent.map(recordOf) }),
    signal: AbortSignal.timeout(GIVE_UP_MS),
  });
  if (!response.ok) return;
  const { data } = (await response.json()) as { readonly data: readonly Forwarded[] };
  keep(afterAnswer(sent, data));
}

async function forwardAll(): Promise<void> {
  const waiting = toForward([...sales.values()]);
  for (let at = 0; at < waiting.length; at += MOST_RECORDS) {
    await forward(waiting.slice(at, at + MOST_RECORDS));
  }
}

async function answerTo(command: TillCommand): Promise<unknown> {
  switch (command.do) {
    case 'request':
      return request(command.amount);
    case 'answer':
      return accept(command.text);
    case 'hold':
      return keep([command.sale]);
    case 'sales':
      return [...sales.values()];
  }
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { id, ...command } = JSON.parse(line) as TillCommand & { readonly id: number };
  answerTo(command).then(
    (value = null) => process.stdout.write(`${JSON.stringify({ id, value })}\n`),
    (error) => process.stdout.write(`${JSON.stringify({ id, error: String(error) })}\n`),
  );
});
// Ends with its parent process.
lines.on('close', () => process.exit(0));

while (true) {
  await learn()
    .then(forwardAll)
    .catch(() => {});
  await sleep(AGAIN_MS);
}
