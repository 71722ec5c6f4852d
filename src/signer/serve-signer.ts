import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { keccak256, serializeTransaction } from 'viem';
import { equalInConstantTime, hashSecret } from '#core/bearer-secrets.ts';
import { checkFraming } from '#http/check-framing.ts';
import { describeError } from '#observability/log.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { OFFERS_TOO_LITTLE, requireSame, type SignRequest } from '#settlement/remote-signer.ts';
import { type Memory, openMemory, type Verdict } from '#signer/signed-nonces.ts';
import type { SignerSettings, SigningAccount } from '#signer/signer-settings.ts';
import { check } from '#signer/signing-rules.ts';

/** Size limit of a request, larger than the contract's longest call. */
const MAX_BODY_BYTES = 300_000;
const BAD_REQUEST = 400;
const UNAUTHORIZED = 401;
const REFUSED = 403;
const NOT_FOUND = 404;
const FAILED = 502;

interface Answer {
  readonly status: number;
  readonly body:
    | { readonly signed: Hex }
    | { readonly error: string; readonly code?: string; readonly max_gas?: string };
}

interface Desk {
  readonly account: SigningAccount;
  readonly memory: Memory;
  /** The number of used nonces when the nodes were last queried. */
  used: number;
  /**
   * Makes signatures one after the other, because each is checked against the state that the
   * previous one left.
   */
  turn: Promise<unknown>;
}

const refuse = (status: number, error: string, code?: string): Answer => {
  return { status, body: { error, ...(code === undefined ? {} : { code }) } };
};

/** Serves `POST /sign`. @returns the listening server. */
export async function serveSigner(
  settings: SignerSettings,
  say: (line: string) => void,
): Promise<Server> {
  const desks = new Map<string, Desk>();
  for (const account of settings.accounts) {
    const name = `${account.address}-${account.limits.chainId}`;
    const memory = await openMemory(settings.folder, name);
    const key = account.address.toLowerCase();
    if (desks.has(key)) throw new Error(`${account.address} is listed twice`);
    desks.set(key, { account, memory, used: 0, turn: Promise.resolve() });
  }
  const expected = hashSecret(`Bearer ${settings.token}`);
  const listener: RequestListener = (request, response) => {
    answer(request, { desks, expected })
      .catch((error) => refuse(FAILED, describeError(error)))
      .then((told) => {
        if ('error' in told.body) say(`refused: ${told.body.error}`);
        send(response, told);
      });
  };
  const { tls } = settings;
  const server = tls === null ? createServer(listener) : createTlsServer(tls, listener);
  server.once('close', () => {
    for (const { memory } of desks.values()) memory.close().catch((error) => say(String(error)));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(settings.port, settings.host, resolve);
  });
  return server;
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify(body));
}

async function answer(
  request: IncomingMessage,
  { desks, expected }: { readonly desks: Map<string, Desk>; readonly expected: Buffer },
): Promise<Answer> {
  const malformed = checkFraming(request, request.url ?? '');
  if (malformed !== null) return refuse(BAD_REQUEST, malformed.message);
  if (!equalInConstantTime(hashSecret(request.headers.authorization ?? ''), expected)) {
    return refuse(UNAUTHORIZED, 'the token is wrong');
  }
  if (request.method !== 'POST' || request.url !== '/sign') return refuse(NOT_FOUND, 'POST /sign');
  const length = Number(request.headers['content-length'] ?? Number.NaN);
  if (!(length <= MAX_BODY_BYTES)) return refuse(BAD_REQUEST, 'the body is too long');
  const signingRequest = readRequest(await text(request));
  if (signingRequest === null) return refuse(BAD_REQUEST, 'address and unsigned are required');
  const desk = desks.get(signingRequest.address.toLowerCase());
  if (desk === undefined)
    return refuse(REFUSED, `this signer has no account ${signingRequest.address}`);
  const done = desk.turn.then(() => signAt(desk, signingRequest));
  desk.turn = done.catch(() => null);
  return done;
}

function readRequest(body: string): SignRequest | null {
  try {
    const { address, unsigned } = JSON.parse(body) as Record<string, unknown>;
    const isHex = (value: unknown) => typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value);
    return isHex(address) && isHex(unsigned)
      ? { address: address as Hex, unsigned: (unsigned as string).toLowerCase() as Hex }
      : null;
  } catch {
    return null;
  }
}

/**
 * Judges a nonce. Queries the nodes only if the nonce must wait for the chain.
 * @throws if they do not answer.
 */
async function judge(
  desk: Desk,
  request: Parameters<Memory['judge']>[0],
  now: number,
): Promise<Verdict> {
  const { account, memory } = desk;
  const { limits, usedNonces } = account;
  const limit = { perHour: limits.perHour, now };
  if (usedNonces === null) return memory.judge(request, { ...limit, used: null });
  const verdict = memory.judge(request, { ...limit, used: desk.used });
  if (verdict.kind !== 'far' && !memory.isEmpty()) return verdict;
  desk.used = await usedNonces();
  return memory.judge(request, { ...limit, used: desk.used });
}

async function signAt(desk: Desk, { unsigned }: SignRequest): Promise<Answer> {
  const { account, memory } = desk;
  const { address, limits, source } = account;
  const checked = check(unsigned, address, limits);
  if (!checked.ok) {
    const { status, body } = refuse(REFUSED, checked.reason, checked.code);
    // A check of the settings asks for no transaction. It compares this with what it will need.
    return { status, body: { ...body, max_gas: String(limits.maxGas) } };
  }
  const { nonce = 0, maxFeePerGas = 0n } = checked.transaction;
  const now = Date.now();
  const entry = { nonce, unsigned, maxFeePerGas };
  const verdict = await judge(desk, entry, now);
  if (verdict.kind === 'refused' || verdict.kind === 'far') return refuse(REFUSED, verdict.reason);
  if (verdict.kind === 'outbid') return refuse(REFUSED, verdict.reason, OFFERS_TOO_LITTLE);
  if (verdict.kind === 'again') return { status: 200, body: { signed: verdict.signed } };
  const signature = await source(keccak256(unsigned));
  const signed = serializeTransaction(checked.transaction, signature);
  await requireSame(signed, { address, unsigned });
  await memory.note({ nonce, unsigned, signed, maxFeePerGas: String(maxFeePerGas), at: now });
  return { status: 200, body: { signed } };
}
