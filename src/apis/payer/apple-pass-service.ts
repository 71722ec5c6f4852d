import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { equalInConstantTime } from '#core/bearer-secrets.ts';
import { addMs } from '#core/clock.ts';
import { applePassToken, isId } from '#core/ids.ts';
import { limitByAddress } from '#http/address-rate-limit.ts';
import type { RateLimit } from '#http/rate-limit.ts';
import {
  countOtherDevices,
  deleteAppleDevice,
  selectChangedPasses,
  upsertAppleDevice,
} from '#payers/pass-copy-queries.ts';
import type { AppleUpdates } from '#payers/pass-files.ts';
import { readShownPass } from '#payers/shown-pass.ts';
import type { ApiContext } from '#payments/api-context.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';

/**
 * This file has the web service that Apple Wallet calls to update passes. Apple defines its paths,
 * responses and bodies ("Adding a Web Service to Update Passes"), so it is not part of our APIs.
 */

export const PKPASS = 'application/vnd.apple.pkpass';
const ROOT = '/api/apple-wallet';

/**
 * Rate limit per IP address, which many phones may share. A phone sends two requests per change.
 */
const ASKED: RateLimit = { requests: 600, seconds: 60 };
/** Rate limit for the route to which phones report errors. */
const LOGS: RateLimit = { requests: 10, seconds: 60 };
/** Maximum number of devices per pass: phones, watches and tablets. */
const MAX_DEVICES = 32;
const DEVICE = /^[A-Za-z0-9._-]{1,128}$/;
const PUSH_TOKEN = /^[0-9A-Fa-f]{16,200}$/;
const MAX_LOG_LINES = 10;
const MAX_LOG_LINE = 300;
/**
 * Overlap between the times of successive answers. A change has the time at which its transaction
 * began, so it may become visible after later changes. Phones get the changes of the last seconds
 * twice.
 */
const OVERLAP_MS = 10_000;

/**
 * Returns where and how phones fetch updates of a pass; `null` without https, which Apple Wallet
 * requires.
 */
export function appleUpdates({ idKey, webUrl }: ReceiptPages, passId: string): AppleUpdates | null {
  const url = webUrl();
  if (!url.startsWith('https:')) return null;
  return { url: url + ROOT, token: applePassToken(idKey, passId) };
}

interface Named {
  readonly Params: { readonly device: string; readonly type: string; readonly serial: string };
  readonly Querystring: { readonly passesUpdatedSince?: string };
}
type PassRequest = FastifyRequest<Named>;

function isOwner({ keys: { id: idKey } }: ApiContext, request: PassRequest): boolean {
  const shown = /^ApplePass (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const { serial } = request.params;
  const token = Buffer.from(applePassToken(idKey, serial));
  return isId('pass', serial) && equalInConstantTime(Buffer.from(shown), token);
}

function bodyOf(request: PassRequest): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(String(request.body));
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
}

const answer = (reply: FastifyReply, status: number) => reply.code(status).send();

async function register(ctx: ApiContext, request: PassRequest): Promise<number> {
  const { device, serial: passId } = request.params;
  const { pushToken } = bodyOf(request);
  if (!DEVICE.test(device) || typeof pushToken !== 'string' || !PUSH_TOKEN.test(pushToken)) {
    return 400;
  }
  // More devices than one person has. The limit keeps a stolen pass token from filling the table.
  if ((await countOtherDevices(ctx.db, { device, passId })) >= MAX_DEVICES) return 429;
  const now = ctx.clock.now();
  return (await upsertAppleDevice(ctx.db, { device, passId, pushToken, now })) ? 201 : 200;
}

/**
 * Sends only the serial numbers of changed passes, so that a caller who knows a device's ID learns
 * neither credentials nor names.
 */
async function listChanged(ctx: ApiContext, request: PassRequest, reply: FastifyReply) {
  const since = Number(request.query.passesUpdatedSince ?? Number.NaN);
  const from = new Date(since);
  const isTime = !Number.isNaN(from.getTime());
  const now = ctx.clock.now();
  const serialNumbers = await selectChangedPasses(ctx.db, {
    device: request.params.device,
    since: isTime ? addMs(from, -OVERLAP_MS) : null,
  });
  if (serialNumbers.length === 0) return answer(reply, 204);
  return reply.send({ serialNumbers, lastUpdated: String(now.getTime()) });
}

/** True if the pass has not changed since the phone fetched it. HTTP dates have whole seconds. */
function isUnchanged(request: PassRequest, changedAt: Date): boolean {
  const known = Date.parse(request.headers['if-modified-since'] ?? '');
  return Math.floor(changedAt.getTime() / 1000) * 1000 <= known;
}

async function sendPass(ctx: ApiContext, request: PassRequest, reply: FastifyReply) {
  const passId = request.params.serial;
  const {
    db,
    keys: { card: cardKey },
  } = ctx;
  const webUrl = ctx.pages.webUrl();
  const walletUrl = `${webUrl}/wallet`;
  const pass = await readShownPass(db, { passId, wallet: 'apple', cardKey, walletUrl });
  const apple = ctx.outside.passFiles.apple;
  if (pass === undefined || apple == null) return answer(reply, 404);
  if (isUnchanged(request, pass.changedAt)) return answer(reply, 304);
  const file = await apple.make(pass.pass, appleUpdates(ctx.pages, passId));
  return reply
    .header('Last-Modified', pass.changedAt.toUTCString())
    .header('X-Content-Type-Options', 'nosniff')
    .type(PKPASS)
    .send(file);
}

function takeLogs(ctx: ApiContext, request: PassRequest): number {
  const { logs } = bodyOf(request);
  if (!Array.isArray(logs)) return 400;
  for (const line of logs.slice(0, MAX_LOG_LINES)) {
    ctx.log.info('message from Apple Wallet', { line: String(line).slice(0, MAX_LOG_LINE) });
  }
  return 200;
}

/** Adds the routes if the operator has Apple's certificates; otherwise none. */
export function addApplePassService(app: FastifyInstance, ctx: ApiContext): void {
  const apple = ctx.outside.passFiles.apple;
  if (apple == null) return;
  const limits = {
    asked: limitByAddress(ASKED),
    logs: limitByAddress(LOGS),
  };
  type Work = (request: PassRequest, reply: FastifyReply) => Promise<FastifyReply>;
  const ofType = (work: Work): Work => {
    return async (request, reply) =>
      request.params.type === apple.passType ? work(request, reply) : answer(reply, 404);
  };
  const ofOwner = (work: Work) =>
    ofType(async (request, reply) =>
      isOwner(ctx, request) ? work(request, reply) : answer(reply, 401),
    );
  const onRequest = limits.asked;
  const devices = `${ROOT}/v1/devices/:device/registrations/:type`;
  app.post<Named>(
    `${devices}/:serial`,
    { onRequest },
    ofOwner(async (request, reply) => answer(reply, await register(ctx, request))),
  );
  app.delete<Named>(
    `${devices}/:serial`,
    { onRequest },
    ofOwner(async (request, reply) => {
      const { device, serial: passId } = request.params;
      await deleteAppleDevice(ctx.db, { device, passId });
      return answer(reply, 200);
    }),
  );
  app.get<Named>(
    devices,
    { onRequest },
    ofType((request, reply) => listChanged(ctx, request, reply)),
  );
  app.get<Named>(
    `${ROOT}/v1/passes/:type/:serial`,
    { onRequest },
    ofOwner((request, reply) => sendPass(ctx, request, reply)),
  );
  app.post<Named>(`${ROOT}/v1/log`, { onRequest: limits.logs }, async (request, reply) =>
    answer(reply, takeLogs(ctx, request)),
  );
}
