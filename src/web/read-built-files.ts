import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';

export type Encoding = 'br' | 'gzip';

export interface WebFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly packed: Readonly<Partial<Record<Encoding, Buffer>>>;
  readonly tag: string;
  /** True if its name changes with its content. */
  readonly immutable: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};
const SUFFIXES = { br: '.br', gzip: '.gz' } as const;
const READ: ReadonlySet<string> = new Set([...Object.keys(TYPES), ...Object.values(SUFFIXES)]);
const A_YEAR = 'public, max-age=31536000, immutable';

export function tagOf(content: Buffer): string {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
}

/** @returns the files by their path in the folder, with forward slashes. */
export async function readBuilt(folder: string): Promise<ReadonlyMap<string, WebFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const contents = new Map<string, Buffer>();
  for (const entry of entries) {
    // Skip other files: another process may be compressing, and may rename its temporary files at
    // any time.
    if (!entry.isFile() || !READ.has(path.extname(entry.name))) continue;
    const file = path.join(entry.parentPath, entry.name);
    contents.set(path.relative(folder, file).replaceAll(path.sep, '/'), await readFile(file));
  }
  const files = new Map<string, WebFile>();
  for (const [name, plain] of contents) {
    const type = TYPES[path.extname(name)];
    if (type === undefined) continue;
    const packed = Object.entries(SUFFIXES).flatMap(([encoding, suffix]) => {
      const bytes = contents.get(`${name}${suffix}`);
      return bytes === undefined ? [] : [[encoding, bytes]];
    });
    files.set(name, {
      type,
      plain,
      packed: Object.fromEntries(packed),
      tag: tagOf(plain),
      immutable: name.startsWith('assets/'),
    });
  }
  return files;
}

/**
 * Returns the smallest encoding that the browser accepts. `q=0` means that the browser does not
 * accept the encoding.
 */
function encodingFor(request: FastifyRequest, file: WebFile): Encoding | null {
  const accepted = String(request.headers['accept-encoding'] ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => !/;\s*q=0(\.0*)?$/.test(part))
    .map((part) => part.split(';')[0]);
  const known: readonly Encoding[] = ['br', 'gzip'];
  return known.find((one) => accepted.includes(one) && file.packed[one] !== undefined) ?? null;
}

export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: WebFile,
): FastifyReply {
  const vary = reply.getHeader('Vary');
  reply
    .header('ETag', file.tag)
    .header('Cache-Control', file.immutable ? A_YEAR : 'no-cache')
    .header('Vary', vary === undefined ? 'Accept-Encoding' : `Accept-Encoding, ${String(vary)}`);
  if (request.headers['if-none-match'] === file.tag) return reply.code(304).send();
  const encoding = encodingFor(request, file);
  reply.type(file.type);
  if (encoding === null) return reply.send(file.plain);
  return reply.header('Content-Encoding', encoding).send(file.packed[encoding]);
}
