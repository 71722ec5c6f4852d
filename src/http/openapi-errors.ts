import { ERROR_CODES, type ErrorCode } from '#core/refusal.ts';
import { ERROR_MEANINGS } from '#http/error-meanings.ts';
import type { Doc } from '#http/openapi-schemas.ts';

const REQUEST_ID = 'req_01QzXo0KcV5sVQ2pWm8Tn3';

/** Responses that are the same for most operations stand in the document once. */
const SHARED_NAMES: Readonly<Record<number, string>> = {
  401: 'Unauthenticated',
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
  409: 'The idempotency key or the state of an object is in the way.',
  413: 'The body is too large.',
  415: 'The body is of another type than JSON.',
  429: 'Too many requests.',
  500: 'A fault of the service.',
  503: 'Out of time, or out of service for a moment.',
};

function errorExample(code: ErrorCode): Doc {
  return {
    error: {
      type: ERROR_CODES[code][1],
      code,
      message: ERROR_MEANINGS[code].replaceAll('`', ''),
      param: null,
      request_id: REQUEST_ID,
      doc_url: `/docs#errors/${code}`,
    },
  };
}

/** The error body with the codes that it may carry here. */
function errorSchema(codes: readonly ErrorCode[]): Doc {
  const types = [...new Set(codes.map((code) => ERROR_CODES[code][1]))];
  const error = {
    type: 'object',
    required: ['type', 'code', 'message', 'param', 'request_id', 'doc_url'],
    properties: {
      type: { type: 'string', enum: types, description: 'Handle unknown codes by their type.' },
      code: { type: 'string', enum: [...codes], description: 'Branch on this. The list may grow.' },
      message: { type: 'string', description: 'For people; its text may change.' },
      param: { type: ['string', 'null'], description: 'The parameter it is about.' },
      request_id: { type: 'string', description: 'Name it when you ask for help.' },
      doc_url: { type: 'string', description: 'The code in the reference.' },
    },
  };
  return { type: 'object', required: ['error'], properties: { error } };
}

function errorResponse(status: number, codes: readonly ErrorCode[], headers: Doc): Doc {
  const examples = Object.fromEntries(
    codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
  );
  return {
    description: TITLES[status] ?? 'Refused.',
    headers: status === 429 ? { ...headers, 'Retry-After': header('RetryAfter') } : headers,
    content: { 'application/json': { schema: errorSchema(codes), examples } },
  };
}

export function header(name: string): Doc {
  return { $ref: `#/components/headers/${name}` };
}

/** One example per code that the document mentions. */
export function errorExamples(codes: readonly ErrorCode[]): Doc {
  return Object.fromEntries(
    codes.map((code) => [code, { summary: ERROR_MEANINGS[code], value: errorExample(code) }]),
  );
}

/** Error responses of an operation; equal ones of several operations are shared. */
export function createErrorResponses(headers: Doc) {
  const shared: Record<string, Doc> = {};
  return {
    shared,
    of: (byStatus: ReadonlyMap<number, readonly ErrorCode[]>): Doc => {
      const responses: Doc = {};
      for (const [status, codes] of byStatus) {
        const response = errorResponse(status, codes, headers);
        const name = SHARED_NAMES[status];
        if (name !== undefined) shared[name] ??= response;
        const isShared =
          name !== undefined && JSON.stringify(shared[name]) === JSON.stringify(response);
        responses[status] = isShared ? { $ref: `#/components/responses/${name}` } : response;
      }
      return responses;
    },
  };
}
