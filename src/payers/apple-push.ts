import { type ClientHttp2Session, connect } from 'node:http2';
import type { AppleSigner } from '#payers/apple-pass.ts';

/**
 * Time limit for notifying all devices of a pass. It must be shorter than the lease of a pass copy
 * (notify-wallets.ts).
 */
const LIMIT_MS = 10_000;
/**
 * Apple's reasons why a token cannot be used: its device has unregistered, or the token belongs to
 * another pass type.
 */
const BAD_TOKEN: ReadonlySet<string> = new Set(['BadDeviceToken', 'DeviceTokenNotForTopic']);

interface PushAnswer {
  readonly status: number;
  readonly reason: string;
}

function reasonOf(body: string): string {
  try {
    const { reason } = JSON.parse(body) as { readonly reason?: unknown };
    return typeof reason === 'string' ? reason : '';
  } catch {
    return '';
  }
}

/** Sends one notification. Its body is an empty object, as Apple requires for passes. */
function pushOne(session: ClientHttp2Session, topic: string, token: string): Promise<PushAnswer> {
  return new Promise((resolve, reject) => {
    const request = session.request({
      ':method': 'POST',
      ':path': `/3/device/${encodeURIComponent(token)}`,
      'apns-topic': topic,
      'apns-push-type': 'background',
      'apns-priority': '5',
    });
    let status = 0;
    let body = '';
    request.setEncoding('utf8');
    request.on('response', (headers) => {
      status = Number(headers[':status']);
    });
    request.on('data', (part: string) => {
      body += part;
    });
    request.on('error', reject);
    request.on('close', () =>
      status === 0
        ? reject(new Error('Apple did not respond'))
        : resolve({ status, reason: reasonOf(body) }),
    );
    request.end('{}');
  });
}

/**
 * Tells devices to fetch their passes. The pass type's certificate authenticates the connection.
 * @returns the tokens that Apple no longer accepts. @throws if a device could not be notified.
 */
export async function pushToApple(
  signer: AppleSigner,
  tokens: readonly string[],
  server: { readonly url: string; readonly ca?: string },
): Promise<readonly string[]> {
  const { certificate: cert, key, passType } = signer;
  const session = connect(server.url, { cert, key, ...(server.ca ? { ca: server.ca } : {}) });
  const failed = new Promise<never>((_resolve, reject) => session.on('error', reject));
  const timer = setTimeout(() => session.destroy(new Error('Apple took too long')), LIMIT_MS);
  try {
    const told = Promise.all(tokens.map((token) => pushOne(session, passType, token)));
    const answers = await Promise.race([told, failed]);
    const gone = tokens.filter((_token, index) => isGone(answers[index]));
    const refused = answers.find((answer) => answer.status !== 200 && !isGone(answer));
    if (refused !== undefined) {
      throw new Error(`Apple answered ${refused.status} ${refused.reason}`.trim());
    }
    return gone;
  } finally {
    clearTimeout(timer);
    session.destroy();
  }
}

function isGone(answer: PushAnswer | undefined): boolean {
  if (answer === undefined) return false;
  return answer.status === 410 || (answer.status === 400 && BAD_TOKEN.has(answer.reason));
}
