export { Tapline } from './client.js';
export { TaplineError } from './error.js';
export { ApiError, AuthenticationError, ConnectionError, IdempotencyError, InvalidRequestError, OutcomeUnknownError, PermissionError, RateLimitError, UsageError, WaitTimeoutError, } from './errors.js';
export { orderId } from './order-id.js';
export { formatUsdc, usdc } from './usdc.js';
