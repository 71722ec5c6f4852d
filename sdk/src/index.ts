export type { Answered, Call } from './call-promise.ts';
export { Tapline } from './client.ts';
export { TaplineError } from './error.ts';
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
} from './errors.ts';
export type { List, Page } from './list.ts';
export { orderId } from './order-id.ts';
export type { ClientOptions, RequestOptions } from './send-with-retries.ts';
export type { StreamOptions } from './stream.ts';
export type * from './types.ts';
export { formatUsdc, usdc } from './usdc.ts';
export type { WaitOptions } from './wait.ts';
