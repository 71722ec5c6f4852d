import type { Body } from '#testkit/apis/api-client.ts';

/** Returns the error code of a response; `undefined` if it is not an error. */
export function errorCodeOf(body: Body): string | undefined {
  return body.error?.code;
}

/** Returns the decline code of a payment intent; `undefined` if it was not declined. */
export function declineCodeOf(body: Body): string | undefined {
  return (body.last_payment_error as { readonly decline_code: string } | null)?.decline_code;
}

/**
 * Returns the error code of a response if there is one, else its decline code, else the status of
 * its object.
 */
export function outcomeOf(body: Body): string {
  return errorCodeOf(body) ?? declineCodeOf(body) ?? String(body.status);
}
