import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiDocument } from '#docs/api-document.ts';
import type { SiteOptions } from '#docs/build-docs-site.ts';
import { addDocsRoutes } from '#docs/docs-routes.ts';
import type { Doc } from '#http/openapi-schemas.ts';

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
