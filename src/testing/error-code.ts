import type { Body } from '#testing/api-client.ts';

/** The code of the error that an answer is; undefined: it is none. */
export function errorCodeOf(body: Body): string | undefined {
  return (body.error as { readonly code: string } | undefined)?.code;
}
