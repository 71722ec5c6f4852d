export const OFFLINE_STATUSES = ['processing', 'succeeded', 'bounced'] as const;
export type OfflineStatus = (typeof OFFLINE_STATUSES)[number];

/** Reasons why an accepted sale cannot be paid. A bounce is final. */
export const BOUNCE_REASONS = [
  'insufficient_funds',
  'authorization_expired',
  'authorization_used',
  'authorization_invalid',
  'rates_changed',
  'blocked',
  'limit_exceeded',
  'already_paid',
  'wallet_refuses',
] as const;
export type BounceReason = (typeof BOUNCE_REASONS)[number];
