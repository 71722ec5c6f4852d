import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { escapeHtml } from '#core/escape-html.ts';
import { type Archive, archivesOf, sumsOf } from '#docs/package-archives.ts';
import { isAskedAt, isOwnName } from '#http/asked-host.ts';
import { plainPage, sendPage } from '#http/plain-page.ts';

const LISTED = 'SHA512SUMS';

interface Served {
  readonly type: string;
  readonly bytes: Buffer;
  readonly tag: string;
  /** True if the bytes at this URL never change. */
  readonly isFixed: boolean;
}

interface Shelf {
  readonly archives: readonly Archive[];
  readonly files: ReadonlyMap<string, Served>;
}

/**
 * Lists the archives as JSON for programs, such as `tapline doctor`, which compares them with the
 * installed packages.
 */
function indexOf(archives: readonly Archive[]): object {
  return {
    packages: archives.map(({ name, version, install, file, stable, bytes, sha512 }) => ({
      ...{ name, version, install, file, stable },
      bytes: bytes.length,
      integrity: `sha512-${sha512.toString('base64')}`,
    })),
  };
}

async function fill(own?: string): Promise<Shelf> {
  const archives = await archivesOf(own);
  const files = new Map<string, Served>();
  const add = (name: string, about: { bytes: Buffer; type: string; isFixed: boolean }) => {
    const sum = createHash('sha256').update(about.bytes).digest('base64url');
    files.set(name, { ...about, tag: `"${sum.slice(0, 22)}"` });
  };
  for (const { file, stable, type, bytes } of archives) {
    add(file, { type, bytes, isFixed: true });
    if (stable !== null) add(stable, { type, bytes, isFixed: false });
  }
  const text = (type: string, words: string) => {
    return { type: `${type}; charset=utf-8`, bytes: Buffer.from(words), isFixed: false };
  };
  add(LISTED, text('text/plain', sumsOf(archives)));
  add('index.json', text('application/json', `${JSON.stringify(indexOf(archives), null, 2)}\n`));
  return { archives, files };
}

function send(request: FastifyRequest, reply: FastifyReply, file: Served): FastifyReply {
  reply
    .header('ETag', file.tag)
    .header('Cache-Control', file.isFixed ? 'public, max-age=31536000, immutable' : 'no-cache');
  if (request.headers['if-none-match'] === file.tag) return reply.code(304).send();
  return reply.type(file.type).send(file.bytes);
}

/** Lists the packages for people, with the commands that download and install them. */
function listing(archives: readonly Archive[], origin: string): string {
  const items = archives.map(({ description, install, file, stable }) => {
    const name = stable ?? file;
    const download = `curl -O ${origin}/packages/${name}`;
    const command = install === null ? download : `${download} && ${install} ./${name}`;
    return `<li><p>${escapeHtml(description)}</p>
<p><code translate="no">${escapeHtml(command)}</code></p>
<p><a href="/packages/${file}">${file}</a></p></li>`;
  });
  const sums = `<a href="/packages/${LISTED}">${LISTED}</a>`;
  return plainPage(
    'Packages',
    `<p>The packages of this network's release. None of them is published in a registry.</p>
<ul>${items.join('\n')}</ul>
<p>Checksums: ${sums}. A file with a version in its name never changes; files without one change
with the next release. If your lockfile names a package, store the file with the version in your
repository. <a href="/docs/quickstart">Quickstart</a></p>`,
  );
}

/**
 * A request's host is used only if no stranger can choose it: the page's commands would otherwise
 * install what that host serves.
 */
function originOf(request: FastifyRequest, publicUrl: string | null): string {
  if (publicUrl !== null) return new URL(publicUrl).origin;
  const isOwn = isAskedAt(request, isOwnName(null));
  return isOwn ? `${request.protocol}://${request.headers.host}` : 'https://<this network>';
}

interface PackagesOptions {
  readonly publicUrl: string | null;
  /** As in `ensurePackages`. */
  readonly own?: string;
}

/**
 * Adds the routes for the network's own packages, which are built at the first request. Only known
 * names are served: no part of a path reaches the file system.
 */
export function addPackagesRoutes(app: FastifyInstance, { publicUrl, own }: PackagesOptions): void {
  let filled: Promise<Shelf> | undefined;
  const shelf = (): Promise<Shelf> => {
    filled ??= fill(own).catch((error) => {
      filled = undefined;
      throw error;
    });
    return filled;
  };
  app.get('/packages', async (_request, reply) => reply.redirect('/packages/', 308));
  app.get('/packages/', async (request, reply) => {
    const { archives } = await shelf();
    return sendPage(reply, 200, listing(archives, originOf(request, publicUrl)));
  });
  app.get<{ Params: { '*': string } }>('/packages/*', async (request, reply) => {
    const file = (await shelf()).files.get(request.params['*']);
    return file === undefined ? reply.callNotFound() : send(request, reply, file);
  });
}
