import { Readable } from 'node:stream';
import { request } from 'undici';

const WITHOUT_BODY = [204, 205, 304];

/**
 * `fetch` that never decodes a response. Node's own decodes whatever the server compresses, before
 * its caller sees a header, so a hole in a decoder would be open to every server that we call. A
 * compressed response is refused here. Redirects are not followed.
 */
export async function plainFetch(
  input: string | URL | Request,
  init?: RequestInit,
): Promise<Response> {
  const normalized = new Request(input, init);
  const { statusCode, headers, body } = await request(normalized.url, {
    method: normalized.method,
    headers: { ...Object.fromEntries(normalized.headers), 'accept-encoding': 'identity' },
    body: normalized.body === null ? null : Buffer.from(await normalized.arrayBuffer()),
    signal: normalized.signal,
  });
  const encoding = String(headers['content-encoding'] ?? 'identity');
  const isPlain = encoding.toLowerCase() === 'identity';
  const isEmpty = WITHOUT_BODY.includes(statusCode);
  if (!isPlain || isEmpty) await body.dump().catch(() => {});
  if (!isPlain) throw new TypeError(`the response is compressed (${encoding})`);
  const stream = isEmpty ? null : (Readable.toWeb(body) as ReadableStream);
  return new Response(stream, { status: statusCode, headers: headersOf(headers) });
}

function headersOf(raw: Readonly<Record<string, string | readonly string[] | undefined>>): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(raw)) {
    for (const value of [values ?? []].flat()) headers.append(name, value);
  }
  return headers;
}
