import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/**
 * The load generator of bench/api.ts, in its own process. Uses plain sockets, so that it takes
 * little of the two cores. Each connection sends one request at a time.
 */
export interface Job {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** Not measured: caches are filling and code is being compiled. */
  readonly warmUpSeconds: number;
  readonly key: string;
  readonly kind: 'create' | 'get' | 'list' | 'replay';
  readonly terminal: string;
  /** JSON fields that describe the sale in a create request. Default: 2.50 USDC. */
  readonly sale?: string;
  /** Ids to read, or paths of pages to load. */
  readonly targets: readonly string[];
  /** Stops after this many requests instead of after `seconds`. */
  readonly limit?: number;
  /**
   * Sends at this rate, whether or not responses arrive. Default: each request follows the previous
   * response.
   */
  readonly perSecond?: number;
}

export interface Result {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly requests: number;
  /** Number of responses with an unexpected status. */
  readonly failures: number;
  /** Requests per second in the first and in the last tenth of the run. */
  readonly tenths: readonly [first: number, last: number];
  /** Ids of the created objects. */
  readonly ids: readonly string[];
}

const MAX_IDS = 20_000;
const EXPECTED: Readonly<Record<Job['kind'], number>> = {
  create: 201,
  replay: 201,
  get: 200,
  list: 200,
};
const CONTENT_LENGTH = /content-length: (\d+)/i;

function requestText(job: Job, turn: number, replayKey: string): string {
  const head = `Host: 127.0.0.1\r\nAuthorization: Bearer ${job.key}\r\n`;
  if (job.kind === 'get' || job.kind === 'list') {
    const target = job.targets[turn % job.targets.length] ?? '';
    const path = job.kind === 'get' ? `/payment_intents/${target}` : `/payment_intents${target}`;
    return `GET /api/v1${path} HTTP/1.1\r\n${head}\r\n`;
  }
  const key = job.kind === 'create' ? randomUUID() : replayKey;
  const sale = job.sale ?? '"amount":2500000';
  const body = `{${sale},"terminal":"${job.terminal}","metadata":{"table":"7"}}`;
  return (
    `POST /api/v1/payment_intents HTTP/1.1\r\n${head}Idempotency-Key: ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  );
}

interface Tally {
  counting: boolean;
  done: boolean;
  turn: number;
  failures: number;
  readonly latencies: number[];
  /** The time of each response. */
  readonly answeredAt: number[];
  readonly ids: string[];
}

/** Returns the first response's status and body, or `null` until it has arrived completely. */
function completeAnswer(text: string): { status: number; body: string } | null {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const length = Number(CONTENT_LENGTH.exec(text)?.[1] ?? 0);
  if (text.length < end + 4 + length) return null;
  return { status: Number(text.slice(9, 12)), body: text.slice(end + 4) };
}

/**
 * Returns a function that tells when a connection's next request is due. Connections take turns,
 * starting with the first.
 */
function timetable({ connections, perSecond }: Job, connection: number): (turn: number) => number {
  if (perSecond === undefined) return () => 0;
  const gapMs = 1000 / perSecond;
  const first = performance.now() + connection * gapMs;
  return (turn) => first + turn * connections * gapMs;
}

function runConnection(job: Job, tally: Tally, connection: number): Promise<void> {
  const dueAt = timetable(job, connection);
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(job.port, '127.0.0.1');
    const replayKey = randomUUID();
    let text = '';
    let sentAt = 0;
    let sent = 0;
    socket.setNoDelay(true).setEncoding('latin1');
    const send = () => {
      if (tally.done) return socket.end();
      // Measures from the time at which the request was due, even if it was sent late.
      sentAt = dueAt(sent++) || performance.now();
      socket.write(requestText(job, tally.turn++, replayKey));
    };
    const next = () => {
      const waitMs = dueAt(sent) - performance.now();
      if (waitMs > 0) setTimeout(send, waitMs);
      else send();
    };
    socket.on('connect', next);
    socket.on('data', (chunk) => {
      text += chunk;
      const answer = completeAnswer(text);
      if (answer === null) return;
      text = '';
      if (tally.counting) {
        const answeredAt = performance.now();
        tally.latencies.push(answeredAt - sentAt);
        tally.answeredAt.push(answeredAt);
        if (tally.latencies.length === job.limit) tally.done = true;
        if (answer.status !== EXPECTED[job.kind]) tally.failures++;
        if (job.kind === 'create' && tally.ids.length < MAX_IDS) {
          tally.ids.push(answer.body.slice(7, 32));
        }
      }
      next();
    });
    socket.on('close', () => resolve());
    socket.on('error', reject);
  });
}

async function run(job: Job): Promise<Result> {
  const tally: Tally = {
    counting: false,
    done: false,
    turn: 0,
    failures: 0,
    latencies: [],
    answeredAt: [],
    ids: [],
  };
  let startedAt = 0;
  let seconds = 0;
  const begin = () => {
    tally.counting = true;
    startedAt = performance.now();
  };
  if (job.warmUpSeconds === 0) begin();
  else setTimeout(begin, job.warmUpSeconds * 1000);
  const ending = setTimeout(
    () => {
      tally.counting = false;
      tally.done = true;
      seconds = (performance.now() - startedAt) / 1000;
    },
    (job.warmUpSeconds + job.seconds) * 1000,
  );
  await Promise.all(
    Array.from({ length: job.connections }, (_, n) => runConnection(job, tally, n)),
  );
  clearTimeout(ending);
  if (seconds === 0) seconds = (performance.now() - startedAt) / 1000;
  const sorted = tally.latencies.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return {
    perSecond: sorted.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    requests: sorted.length,
    failures: tally.failures,
    tenths: tenthsOf([startedAt, ...tally.answeredAt]),
    ids: tally.ids,
  };
}

/** Returns the requests per second in the first and the last tenth of these times. */
function tenthsOf(times: readonly number[]): [first: number, last: number] {
  const count = Math.max(1, Math.floor((times.length - 1) / 10));
  const rate = (from: number, to: number) =>
    (count * 1000) / ((times[to] ?? Number.NaN) - (times[from] ?? Number.NaN));
  return [rate(0, count), rate(times.length - 1 - count, times.length - 1)];
}

process.on('message', (job: Job) => {
  void run(job).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit());
