import { createSecureServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { present } from '#core/assert.ts';
import { PASS_TYPE } from '#testkit/fixtures/payers/wallet-credentials.ts';
import { listen } from '#testkit/network/listen.ts';

/** A server that behaves as Apple documents its push service: HTTP/2, with a client certificate. */
export type ApplePushServer = Awaited<ReturnType<typeof startApplePushServer>>;

function refusalOf(headers: IncomingHttpHeaders, body: string, commonName: unknown) {
  if (commonName !== 'Pass Type ID') return { status: 403, reason: 'BadCertificate' };
  if (headers['apns-topic'] !== PASS_TYPE) return { status: 400, reason: 'BadTopic' };
  if (headers['apns-push-type'] !== 'background') {
    return { status: 400, reason: 'InvalidPushType' };
  }
  return body === '{}' ? null : { status: 400, reason: 'PayloadEmpty' };
}

/** Returns the subject of the client certificate. */
function peerOf(stream: ServerHttp2Stream): PeerCertificate {
  return (present(stream.session, 'session').socket as TLSSocket).getPeerCertificate();
}

export async function startApplePushServer(keys: {
  readonly key: string;
  readonly cert: string;
  readonly ca: string;
}) {
  /** Device tokens that received a notification, in order of arrival. */
  const told: string[] = [];
  /** Responses to send for these device tokens instead of 200. */
  const refusals = new Map<string, { readonly status: number; readonly reason: string }>();
  const server = createSecureServer({ ...keys, requestCert: true, rejectUnauthorized: true });
  server.on('stream', (stream, headers) => {
    let body = '';
    stream.setEncoding('utf8');
    stream.on('data', (part: string) => {
      body += part;
    });
    stream.on('end', () => {
      const token = /^\/3\/device\/([0-9a-f]+)$/.exec(String(headers[':path']))?.[1];
      const { CN } = peerOf(stream).subject;
      const refused =
        token === undefined || headers[':method'] !== 'POST'
          ? { status: 404, reason: 'BadPath' }
          : (refusalOf(headers, body, CN) ?? refusals.get(token));
      if (token !== undefined && refused === undefined) told.push(token);
      stream.respond({ ':status': refused?.status ?? 200 });
      stream.end(refused === undefined ? '' : JSON.stringify({ reason: refused.reason }));
    });
  });
  const { port, close } = await listen(server);
  return { url: `https://localhost:${port}`, told, refusals, close };
}
