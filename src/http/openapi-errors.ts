import { ERROR_CODES, type ErrorCode } from '#core/error-codes.ts';
import { ERROR_MEANINGS } from '#http/error-meanings.ts';
import type { Doc } from '#http/openapi-schemas.ts';

const REQUEST_ID = 'req_01QzXo0KcV5sVQ2pWm8Tn3';

const NAMES: Readonly<Record<number, string>> = {
  400: 'Invalid',
  401: 'Unauthenticated',
  403: 'Forbidden',
  404: 'Missing',
  409: 'Conflict',
  413: 'BodyTooLarge',
  415: 'ContentTypeUnsupported',
  429: 'RateLimited',
  500: 'InternalError',
  503: 'Unavailable',
};

const TITLES: Readonly<Record<number, string>> = {
  400: 'The request is invalid.',
  401: 'The key is missing, invalid, expired or revoked.',
  403: 'The key, its address or its account may not do this.',
  404: 'There is no such object in this account and mode.',
  409: 'The idempotency key or the state of an object does not allow this.',
  413: 'The body is too large.',
  415: 'The body was not sent as JSON.',
  429: 'Too many requests.',
  500: 'An internal error occurred.',
  503: 'The request timed out, or the service is briefly unavailable.',
};

function errorExample(code: ErrorCode): Doc {
  return {
    error: {
      type: ERROR_CODES[code][1],
      code,
      message: ERROR_MEANINGS[code].replaceAll('`', ''),
      param: null,
      request_id: REQUEST_ID,
      doc_url: `http://127.0.0.1:4242/docs/errors#${code}`,
    },
  };
}

/** The body of every error. The examples of a response list its possible codes. */
export const ERROR_SCHEMA: Doc = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      description: 'What went wrong.',
      required: ['type', 'code', 'message', 'param', 'request_id', 'doc_url'],
      properties: {
        type: {
          type: 'string',
          enum: [...new Set(Object.values(ERROR_CODES).map(([, type]) => type))],
          description: 'Handle unknown codes by their type.',
        },
        code: { type: 'string', minLength: 1, description: 'Branch on this. The list may grow.' },
        message: {
          type: 'string',
          minLength: 1,
          description: 'A message in words. Its text may change.',
        },
        param: {
          type: ['string', 'null'],
          description: 'The parameter that the error concerns.',
        },
        request_id: {
          type: 'string',
          minLength: 1,
          description: 'Quote it when you ask for help.',
        },
        doc_url: {
          type: 'string',
          format: 'uri',
          description: 'The reference page of the code.',
        },
      },
    },
  },
};

function errorResponse(status: number, codes: readonly ErrorCode[], headers: Doc): Doc {
  const examples = Object.fromEntries(
    codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
  );
  return {
    description: TITLES[status] ?? 'Refused.',
    headers:
      status === 429 || status === 503
        ? { ...headers, 'Retry-After': header('RetryAfter') }
        : headers,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, examples } },
  };
}

export function header(name: string): Doc {
  return { $ref: `#/components/headers/${name}` };
}

/** Returns one example for each code that the document mentions. */
export function errorExamples(codes: readonly ErrorCode[]): Doc {
  return Object.fromEntries(
    codes.map((code) => [code, { summary: ERROR_MEANINGS[code], value: errorExample(code) }]),
  );
}

/** Operations with the same codes share one. */
export function createErrorResponses(headers: Doc) {
  const shared: Record<string, Doc> = {};
  const names = new Map<string, string>();
  const nameOf = (status: number, codes: readonly ErrorCode[]): string => {
    const known = names.get(`${status} ${codes.join(' ')}`);
    if (known !== undefined) return known;
    const base = NAMES[status] ?? `Status${status}`;
    const taken = Object.keys(shared).filter((name) => name.startsWith(base)).length;
    const name = taken === 0 ? base : `${base}${taken + 1}`;
    names.set(`${status} ${codes.join(' ')}`, name);
    shared[name] = errorResponse(status, codes, headers);
    return name;
  };
  return {
    shared,
    of: (byStatus: ReadonlyMap<number, readonly ErrorCode[]>): Doc =>
      Object.fromEntries(
        [...byStatus].map(([status, codes]) => {
          return [status, { $ref: `#/components/responses/${nameOf(status, codes)}` }];
        }),
      ),
  };
}
