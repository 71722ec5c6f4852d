import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiDeps } from '#app/api-dependencies.ts';
import type { ApiDocument } from '#docs/api-document.ts';
import type { SiteOptions } from '#docs/build-docs-site.ts';
import { addDocsRoutes } from '#docs/docs-routes.ts';
import { addPackagesRoutes } from '#docs/packages-routes.ts';
import type { Doc } from '#http/openapi-schemas.ts';
import { memoryRateLimiter, type RateLimiter } from '#http/rate-limit.ts';
import { redisRateLimiter } from '#http/redis-rate-limit.ts';
import { createRequestLines } from '#http/request-lines.ts';
import type { Call } from '#http/request-state.ts';
import { addOperationalRoutes } from '#ops/operational-routes.ts';
import { createProcessHealth } from '#ops/process-health.ts';
import { requestLogSamples } from '#ops/service-samples.ts';
import { packagesIn } from '#packages/build-packages.ts';
import { createRequestLog } from '#request-log/request-log.ts';

/** This signal turns request lines in the log on and off. */
const LINES_SIGNAL = 'SIGUSR2';

/** The parts of an API process besides its surfaces: limits, log, metrics, health and reference. */
export interface ApiOperations {
  readonly limiter: RateLimiter;
  onAnswered(request: FastifyRequest, call: Call, status: number): void;
  /**
   * Adds the paths that belong to no surface, and closes limits and logs together with the server.
   */
  addTo(app: FastifyInstance, documents: Readonly<Record<string, Doc>>): Promise<void>;
}

function createLimiter({ config, log }: ApiDeps): RateLimiter & { close?(): Promise<void> } {
  const { redisUrl, rateLimit } = config;
  if (redisUrl === null) return memoryRateLimiter(rateLimit);
  return redisRateLimiter({ url: redisUrl, limit: rateLimit, log });
}

export function createOperations(deps: ApiDeps): ApiOperations {
  const health = deps.health ?? createProcessHealth(deps);
  const limiter = createLimiter(deps);
  const requestLog = createRequestLog(deps);
  const lines = createRequestLines(deps.config.logRequests);
  // Lets an operator turn request lines on during an incident, without a restart.
  process.on(LINES_SIGNAL, lines.toggle);
  health.metrics.watch(requestLogSamples(requestLog));
  return {
    limiter,
    onAnswered: (request, call, status) => {
      lines.note(request, call, status);
      requestLog.note(request, call, status);
      health.metrics.onAnswered(call, request.method, status);
    },
    addTo: async (app, documents) => {
      addOperationalRoutes(app, health, deps.config);
      const { dataDir, publicUrl } = deps.config;
      addPackagesRoutes(app, { publicUrl, own: packagesIn(dataDir) });
      await addReferenceRoutes(app, documents, { isSandbox: deps.sandboxLinks != null });
      app.addHook('preClose', async () => {
        health.serves = false;
      });
      app.addHook('onClose', async () => {
        process.off(LINES_SIGNAL, lines.toggle);
        await requestLog.close();
        await limiter.close?.();
      });
    },
  };
}

interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly zipped: Buffer;
  readonly tag: string;
}

/** Compresses an asset and computes its ETag, once, because assets change only with the program. */
async function createAsset(text: string, type: string): Promise<Asset> {
  const plain = Buffer.from(text);
  const tag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  return { type, plain, zipped: await promisify(gzip)(plain), tag };
}

function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): FastifyReply {
  reply
    .header('ETag', asset.tag)
    .header('Cache-Control', 'no-cache')
    .header('Vary', 'Accept-Encoding');
  if (request.headers['if-none-match'] === asset.tag) return reply.code(304).send();
  const takesZip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  if (takesZip) reply.header('Content-Encoding', 'gzip');
  return reply.type(asset.type).send(takesZip ? asset.zipped : asset.plain);
}

/** Adds the documentation, `/openapi.json` and the documents of the other surfaces. */
export async function addReferenceRoutes(
  app: FastifyInstance,
  documents: Readonly<Record<string, Doc>>,
  options: SiteOptions,
): Promise<void> {
  addDocsRoutes(app, documents as unknown as Readonly<Record<string, ApiDocument>>, options);
  for (const [name, document] of Object.entries(documents)) {
    const json = await createAsset(JSON.stringify(document), 'application/json; charset=utf-8');
    app.get(`/${name}`, async (request, reply) => sendAsset(request, reply, json));
  }
}
