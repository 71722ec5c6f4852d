import type { Body } from '#testing/api-client.ts';

/** Returns the error code of a response; `undefined` if it is not an error. */
export function errorCodeOf(body: Body): string | undefined {
  return (body.error as { readonly code: string } | undefined)?.code;
}
