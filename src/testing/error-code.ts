import type { Body } from '#testing/api-client.ts';

/** The error code of a response; `undefined` if it is not an error. */
export function errorCodeOf(body: Body): string | undefined {
  return (body.error as { readonly code: string } | undefined)?.code;
}
