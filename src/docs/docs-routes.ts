import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiDocument } from '#docs/api-document.ts';
import { buildSite, type SiteFile, type SiteOptions } from '#docs/build-docs-site.ts';

/** Allows the site's own files only; no inline script or style. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Pages that were published under another name. Browsers keep the anchor of the old address. */
const MOVED: ReadonlyMap<string, string> = new Map([
  ['/docs/operating', '/docs/operate'],
  ['/docs/operating.md', '/docs/operate.md'],
]);

const IMAGES = path.join(import.meta.dirname, '../../docs/images');
const IMAGE_NAME = /^[a-z-]+\.png$/;

interface Kept extends SiteFile {
  readonly tag: string;
  readonly zipped: Buffer;
}

async function pack(file: SiteFile): Promise<Kept> {
  const tag = `"${createHash('sha256').update(file.text).digest('base64url').slice(0, 22)}"`;
  return { ...file, tag, zipped: await promisify(gzip)(file.text) };
}

function sendPage(request: FastifyRequest, reply: FastifyReply, file: Kept): FastifyReply {
  const isNamed = request.url.includes('?v=');
  reply
    .header('Content-Security-Policy', POLICY)
    .header('ETag', file.tag)
    .header('Cache-Control', isNamed ? 'public, max-age=31536000, immutable' : 'no-cache')
    .header('Vary', 'Accept-Encoding');
  if (request.headers['if-none-match'] === file.tag) return reply.code(304).send();
  const takesZip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  if (takesZip) reply.header('Content-Encoding', 'gzip');
  return reply.type(file.type).send(takesZip ? file.zipped : file.text);
}

/** Serves the screenshots that guides show. */
function addImageRoute(app: FastifyInstance): void {
  app.get<{ Params: { name: string } }>('/docs/images/:name', async (request, reply) => {
    const { name } = request.params;
    const image = IMAGE_NAME.test(name)
      ? await readFile(path.join(IMAGES, name)).catch(() => null)
      : null;
    if (image === null) return reply.callNotFound();
    return reply.header('Cache-Control', 'public, max-age=3600').type('image/png').send(image);
  });
}

/** The site is built at the first request of a page, so that it does not delay the start. */
export function addDocsRoutes(
  app: FastifyInstance,
  documents: Readonly<Record<string, ApiDocument>>,
  options: SiteOptions,
): void {
  let built: Promise<ReadonlyMap<string, SiteFile>> | undefined;
  const packed = new Map<string, Promise<Kept>>();
  const find = async (path: string): Promise<Kept | undefined> => {
    built ??= buildSite(documents, options)
      .then((site) => new Map(site.map((file) => [file.path, file])))
      .catch((error) => {
        // The next request builds it again, for example when files can be opened again.
        built = undefined;
        throw error;
      });
    const file = (await built).get(path);
    if (file === undefined) return undefined;
    const known = packed.get(path) ?? pack(file);
    packed.set(path, known);
    return known;
  };
  addImageRoute(app);
  for (const pattern of ['/docs', '/docs/*', '/llms.txt', '/llms-full.txt']) {
    app.get(pattern, async (request, reply) => {
      const [path = ''] = request.url.split('?');
      const moved = MOVED.get(path.replace(/\/$/, ''));
      if (moved !== undefined) return reply.redirect(moved, 301);
      const file = await find(path.length > 1 ? path.replace(/\/$/, '') : path);
      return file === undefined ? reply.callNotFound() : sendPage(request, reply, file);
    });
  }
}
