import { ERROR_CODES, type Refusal, statusOf } from '#core/refusal.ts';

/** A response as it is sent, stored and replayed: status, exact body, extra headers. */
export interface Answer {
  readonly status: number;
  /** The JSON text. */
  readonly body: string;
  readonly headers?: ResponseHeaders;
}

/** Several values of one name (Set-Cookie) are sent as several headers. */
export type ResponseHeaders = Readonly<Record<string, string | string[]>>;

/** Where `doc_url` points: the reference that this server serves itself. */
const DOC_PATH = '/docs#errors/';

export function answerWith(status: number, object: object): Answer {
  return { status, body: JSON.stringify(object) };
}

/** The error body of decisions.md section 2. */
export function answerRefusal(refusal: Refusal, requestId: string): Answer {
  const error = {
    type: ERROR_CODES[refusal.code][1],
    code: refusal.code,
    message: refusal.message,
    param: refusal.param,
    request_id: requestId,
    doc_url: DOC_PATH + refusal.code,
  };
  const answer = { status: statusOf(refusal.code), body: JSON.stringify({ error }) };
  return refusal.headers === undefined ? answer : { ...answer, headers: refusal.headers };
}
