export { TaplineError } from './base-error.ts';
export type { Answered, Call } from './call-promise.ts';
export { Tapline } from './client.ts';
export {
  ApiError,
  AuthenticationError,
  ConnectionError,
  IdempotencyError,
  InvalidRequestError,
  OutcomeUnknownError,
  PermissionError,
  RateLimitError,
  UsageError,
  WaitTimeoutError,
} from './error-classes.ts';
export type { StreamOptions } from './event-stream.ts';
export { orderId } from './order-id.ts';
export type { List, Page } from './paged-list.ts';
export type { ClientOptions, RequestOptions } from './send-with-retries.ts';
export type * from './types.ts';
export { formatUsdc, usdc } from './usdc.ts';
export type { WaitOptions } from './wait-for-status.ts';
