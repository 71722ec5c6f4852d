import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface StreamOf {
  /** URL including the query, such as `http://…/api/v1/events/stream?types=refund.*`. */
  readonly url: string;
  readonly key: string;
  readonly lastEventId?: string;
}

export interface OpenedStream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** The body of the response, if the server refused the request. */
  readonly text: string;
  /** Ids in order of arrival. */
  readonly ids: string[];
  /** The `data:` lines of the same events, unparsed. */
  readonly data: string[];
  /** Time at which the last event arrived, from `performance.now()`. */
  lastAt: number;
  comments: number;
  /** The response stream, which a test can pause and resume. */
  readonly response: IncomingMessage;
  readonly ended: Promise<void>;
  close(): void;
}

function takeBlock(stream: OpenedStream, block: string): void {
  const lines = block.split('\n');
  if (lines.some((line) => line.startsWith(':'))) stream.comments++;
  const id = lines.find((line) => line.startsWith('id: '));
  const data = lines.find((line) => line.startsWith('data: '));
  if (id === undefined || data === undefined) return;
  stream.lastAt = performance.now();
  stream.ids.push(id.slice('id: '.length));
  stream.data.push(data.slice('data: '.length));
}

/**
 * Opens a server-sent event stream and records its events. Resolves once the headers have arrived.
 */
export async function openEventStream(options: StreamOf): Promise<OpenedStream> {
  const { url, key, lastEventId } = options;
  const headers = {
    authorization: `Bearer ${key}`,
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
  };
  const sent = request(url, { headers, agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  sent.on('error', () => {});
  response.setEncoding('utf8');
  const status = response.statusCode ?? 0;
  let rest = '';
  if (status !== 200) for await (const chunk of response) rest += chunk;
  const stream: OpenedStream = {
    ...{ status, headers: response.headers, text: rest, response },
    ...{ ids: [], data: [], comments: 0, lastAt: 0 },
    ended: new Promise((resolve) => {
      response.once('close', resolve);
    }),
    close: () => sent.destroy(),
  };
  response.on('error', () => {});
  response.on('data', (chunk: string) => {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) takeBlock(stream, block);
  });
  return stream;
}

const HEARD_WITHIN_MS = 8_000;

/**
 * Waits until this many events have arrived.
 * @throws if they do not arrive in time
 */
export async function heard({ ids }: OpenedStream, count: number): Promise<void> {
  const end = performance.now() + HEARD_WITHIN_MS;
  while (ids.length < count) {
    if (performance.now() > end) throw new Error(`${ids.length} of ${count} events arrived`);
    await sleep(5);
  }
}
