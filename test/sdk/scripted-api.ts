import type { IncomingMessage } from 'node:http';
import { Tapline } from 'tapline';
import { startReceiver } from '#testing/webhook-receiver.ts';

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** The server's reaction to one request: respond, or break the connection. */
export type Step =
  | {
      readonly status: number;
      readonly body: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | 'cut'
  | 'hang';

/** A service with scripted faults that are too rare on a real one to test. */
export interface ScriptedApi {
  readonly tapline: Tapline;
  readonly baseUrl: string;
  readonly seen: Seen[];
  /** Scripts the next requests; afterwards the last step repeats. */
  script(...steps: Step[]): void;
  close(): Promise<void>;
}

export const KEY = `tlsk_test_${'a'.repeat(30)}`;

export function refusal(status: number, type: string, code: string, headers = {}): Step {
  const error = { type, code, message: `Refused: ${code}.`, param: null, request_id: 'req_1' };
  return { status, body: { error: { ...error, doc_url: '/docs' } }, headers };
}

export async function startScriptedApi(): Promise<ScriptedApi> {
  const seen: Seen[] = [];
  let steps: Step[] = [];
  const { url: origin, answer, close } = await startReceiver();
  answer(({ method, path: url, headers, body }, response) => {
    seen.push({ method, url, headers, body: body.toString() });
    const step = steps.length > 1 ? steps.shift() : steps[0];
    if (step === 'hang') return;
    if (step === undefined || step === 'cut') return void response.destroy();
    const text = typeof step.body === 'string' ? step.body : JSON.stringify(step.body);
    response.writeHead(step.status, { 'Content-Type': 'application/json', ...step.headers });
    response.end(text);
  });
  const baseUrl = `${origin}/api`;
  return {
    tapline: new Tapline(KEY, { baseUrl }),
    baseUrl,
    seen,
    script: (...next) => {
      seen.length = 0;
      steps = next;
    },
    close,
  };
}
