// Generated from openapi/dashboard.json by `npm run types`. Do not edit.

export interface ApiError {
  /** What went wrong. */
  error: {
    /** Handle unknown codes by their type. */
    type:
      | 'invalid_request_error'
      | 'idempotency_error'
      | 'authentication_error'
      | 'permission_error'
      | 'rate_limit_error'
      | 'api_error';
    /** Branch on this. The list may grow. */
    code: string;
    /** For people. Its text may change. */
    message: string;
    /** The parameter that the error is about. */
    param: string | null;
    /** Quote it when you ask for help. */
    request_id: string;
    /** Where the reference explains the code. */
    doc_url: string;
  };
}

/** A webhook endpoint, with the version that an edit names. */
export interface DashboardWebhookEndpoint {
  /** The id of a webhook endpoint: we_… */
  id: string;
  /** The type of the object. */
  object: 'webhook_endpoint';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** Where events are sent. */
  url: string;
  /** What it subscribes to. */
  enabled_events: string[];
  /** A note of your own. */
  description: string | null;
  /** Set at creation: events are rendered in this version. */
  api_version: string;
  /** A disabled endpoint gets nothing. */
  status: 'enabled' | 'disabled';
  /**
   * persistent_failure (five days without a success), gone (it answered 410) or
   * requested_by_merchant. The list may grow.
   */
  disabled_reason: string | null;
  /** ISO 8601 UTC with milliseconds. */
  failing_since: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  updated: string;
  /** Send it back with the next change. */
  version: number;
}

export interface Refund {
  /** The id of a refund: re_… */
  id: string;
  /** The type of the object. */
  object: 'refund';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  amount: number;
  /** USDC, always. */
  currency: 'usdc';
  /** The id of a payment: pay_… */
  payment: string;
  /** `pending` resolves by itself. */
  status: 'pending' | 'succeeded' | 'failed';
  /** Up to 500 characters. */
  reason: string | null;
  /** The list may grow. */
  failure_code:
    | 'insufficient_balance'
    | 'refund_window_expired'
    | 'refund_daily_limit_exceeded'
    | 'transfer_blocked'
    | 'transaction_reverted'
    | null;
  /** Why it failed, for people. */
  failure_message: string | null;
  /** Hash of its transaction. */
  tx_hash: string | null;
  /** Who asked for it. */
  source: 'api' | 'terminal' | 'dashboard';
  /**
   * Up to 20 pairs: keys of 1 to 40 characters of A-Z a-z 0-9 _ . -, string values of up to 500
   * characters. No secrets or personal data. Returned unchanged.
   */
  metadata: Record<string, string>;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  updated: string;
  /**
   * Only on objects that the service had lost with its database and rebuilt from the chain. What
   * the chain does not know (metadata, description, terminal, how it was paid) is gone.
   */
  recovered?: true;
}

/** A refund, and why it waits: USDC is paused, or blocks one of the addresses. */
export interface DashboardRefund {
  /** The id of a refund: re_… */
  id: string;
  /** The type of the object. */
  object: 'refund';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  amount: number;
  /** USDC, always. */
  currency: 'usdc';
  /** The id of a payment: pay_… */
  payment: string;
  /** `pending` resolves by itself. */
  status: 'pending' | 'succeeded' | 'failed';
  /** Up to 500 characters. */
  reason: string | null;
  /** The list may grow. */
  failure_code:
    | 'insufficient_balance'
    | 'refund_window_expired'
    | 'refund_daily_limit_exceeded'
    | 'transfer_blocked'
    | 'transaction_reverted'
    | null;
  /** Why it failed, for people. */
  failure_message: string | null;
  /** Hash of its transaction. */
  tx_hash: string | null;
  /** Who asked for it. */
  source: 'api' | 'terminal' | 'dashboard';
  /**
   * Up to 20 pairs: keys of 1 to 40 characters of A-Z a-z 0-9 _ . -, string values of up to 500
   * characters. No secrets or personal data. Returned unchanged.
   */
  metadata: Record<string, string>;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  updated: string;
  /**
   * Only on objects that the service had lost with its database and rebuilt from the chain. What
   * the chain does not know (metadata, description, terminal, how it was paid) is gone.
   */
  recovered?: true;
  /** The number of waiting entries. */
  waiting: {
    /** What USDC or the settlement contract says. */
    message: string;
    /** ISO 8601 UTC with milliseconds. */
    since: string;
  } | null;
}

export interface Payment {
  /** The id of a payment: pay_… */
  id: string;
  /** The type of the object. */
  object: 'payment';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** Sale and tip together: USDC atoms (6 decimals). */
  amount: number;
  /** USDC, always. */
  currency: 'usdc';
  /** How much of the amount is tip; 0 without. */
  tip: number;
  /** USDC atoms (6 decimals). */
  amount_refunded: number;
  /** The list may grow. */
  status: 'succeeded' | 'partially_refunded' | 'refunded';
  /** What to tell the customer, in plain words. Its text may change. */
  customer_message: string;
  /** Paid by the payer on top of the amount. */
  fees: {
    /** What the acquirer earns. USDC atoms. */
    acquirer: number;
    /** What the network earns, cashback included. USDC atoms. */
    protocol: number;
    /** What the payer gets back out of the protocol fee. USDC atoms. */
    cashback: number;
  };
  /** What the payer paid: amount, acquirer fee and protocol fee. */
  total_charged: number;
  /** Credited to the merchant: the whole amount. */
  net: number;
  /** The status of the cashback in `fees`. */
  cashback_status: 'none' | 'pending' | 'paid';
  /** The payer's address. */
  payer: string;
  /**
   * 1 to 8 characters of A-Z a-z 0-9 - _; written on-chain; unique per account and mode; made from
   * the Idempotency-Key when left out.
   */
  order_id: string;
  /** The id of a terminal: tml_… */
  terminal: string;
  /** The id of a payment intent: pi_… */
  payment_intent: string;
  /** What the customer paid with. */
  payment_method: {
    /** How it was paid. The list may grow. */
    type: 'wallet_pass' | 'wallet' | 'agent_token' | 'unknown';
    /** What was presented. The list may grow. */
    credential: 'nfc_id' | 'nfc_sun' | 'qr' | 'authorization' | 'agent_token' | 'unknown';
  };
  /** Intents of one split bill carry the same value. */
  split_group: string | null;
  /** A page for the customer, with the proof on the chain. Nobody can guess it. */
  receipt_url: string | null;
  /** The id of the blockchain. */
  chain_id: number;
  /** Hash of the settlement transaction. */
  tx_hash: string;
  /** The block that settled the payment. */
  block_number: number;
  /** The place of its event in the block. */
  log_index: number;
  /** ISO 8601 UTC with milliseconds. */
  settled_at: string;
  /** ISO 8601 UTC with milliseconds. */
  refundable_until: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Only on objects that the service had lost with its database and rebuilt from the chain. What
   * the chain does not know (metadata, description, terminal, how it was paid) is gone.
   */
  recovered?: true;
}

export interface PaymentList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: Payment[];
  /** Whether there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

export interface PaymentIntent {
  /** The id of a payment intent: pi_… */
  id: string;
  /** The type of the object. */
  object: 'payment_intent';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  amount: number;
  /** USDC, always. */
  currency: 'usdc';
  /** The tips that the terminal offers its customer. null: none can be given. */
  tipping: {
    /** 1 to 3 of them, in the order they are shown. */
    percentages: number[];
  } | null;
  /** Paid on top of the amount; null until paid. */
  tip: number | null;
  /** The list may grow. */
  status:
    | 'requires_payment_method'
    | 'requires_action'
    | 'processing'
    | 'succeeded'
    | 'canceled';
  /** The id of a terminal: tml_… */
  terminal: string;
  /**
   * 1 to 8 characters of A-Z a-z 0-9 - _; written on-chain; unique per account and mode; made from
   * the Idempotency-Key when left out.
   */
  order_id: string;
  /** Shown on the terminal while waiting. */
  description: string | null;
  /**
   * Up to 20 pairs: keys of 1 to 40 characters of A-Z a-z 0-9 _ . -, string values of up to 500
   * characters. No secrets or personal data. Returned unchanged.
   */
  metadata: Record<string, string>;
  /** Who created it. */
  source: 'api' | 'terminal';
  /** The id of a payment: pay_… */
  payment: string | null;
  /** Hash of the settlement transaction. */
  tx_hash: string | null;
  /** What the customer has to do before the payment can go on. */
  next_action: {
    /** What has to happen next. */
    type: 'payer_confirmation';
    /** The rule that asked. The list may grow. */
    reason_code: string;
    /** ISO 8601 UTC with milliseconds. */
    expires_at: string;
  } | null;
  /** Why the last payment was declined. */
  last_payment_error: {
    /** The type of the error. */
    type: 'payment_error';
    /** See decline_code for the reason. */
    code: 'payment_declined';
    /** Why. The list may grow. */
    decline_code:
      | 'pass_unknown'
      | 'pass_revoked'
      | 'pass_replayed'
      | 'pass_code_expired'
      | 'pass_code_used'
      | 'insufficient_funds'
      | 'approval_insufficient'
      | 'limit_exceeded'
      | 'risk_blocked'
      | 'payer_rejected'
      | 'confirmation_timeout'
      | 'authorization_refused'
      | 'agent_token_unknown'
      | 'agent_token_expired'
      | 'agent_token_used'
      | 'agent_token_mismatch'
      | 'settlement_failed';
    /** The decline code in upper case, or the risk rule's name. The list may grow. */
    reason_code: string;
    /** The reason in words. Its text may change. */
    message: string;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
    /** What to tell the customer, in plain words. Its text may change. */
    customer_message: string;
  } | null;
  /** The list may grow. */
  cancellation_reason: 'requested_by_merchant' | 'expired' | 'recovered' | null;
  /** ISO 8601 UTC with milliseconds. */
  canceled_at: string | null;
  /** Intents of one split bill carry the same value. */
  split_group: string | null;
  /** ISO 8601 UTC with milliseconds. */
  picked_up_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  tapped_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Only on objects that the service had lost with its database and rebuilt from the chain. What
   * the chain does not know (metadata, description, terminal, how it was paid) is gone.
   */
  recovered?: true;
}

export interface PaymentIntentList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: PaymentIntent[];
  /** Whether there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

export interface Totals {
  /** The type of the object. */
  object: 'totals';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** YYYY-MM-DD, a day in the account's time zone. */
  from: string;
  /** YYYY-MM-DD, a day in the account's time zone. */
  to: string;
  /** When the shift began, if that was asked. */
  created_gte: string | null;
  /** When the shift ended, if that was asked. */
  created_lt: string | null;
  /** The account's time zone, whose days these are. */
  time_zone: string;
  /** All of the terminals below. */
  total: {
    /** Paid payments. */
    payments: number;
    /** Their amounts without tips: USDC atoms (6 decimals). */
    sales: number;
    /** Their tips: USDC atoms (6 decimals). */
    tips: number;
    /** Refunds that succeeded, by the terminal that took the payment. */
    refunds: number;
    /** Their amounts: USDC atoms (6 decimals). */
    refunded: number;
    /** Intents of these days that were declined at least once. */
    declines: number;
  };
  /** Terminals with anything in these days. */
  terminals: Array<{
    /** null: payments without a terminal. */
    terminal: string | null;
    /** What the terminal is called. */
    label: string | null;
    /** Paid payments. */
    payments: number;
    /** Their amounts without tips: USDC atoms (6 decimals). */
    sales: number;
    /** Their tips: USDC atoms (6 decimals). */
    tips: number;
    /** Refunds that succeeded, by the terminal that took the payment. */
    refunds: number;
    /** Their amounts: USDC atoms (6 decimals). */
    refunded: number;
    /** Intents of these days that were declined at least once. */
    declines: number;
  }>;
  /**
   * The same by terminal and cashier. Intents and refunds name theirs as `cashier` in `metadata`:
   * terminals write it, and your server may.
   */
  cashiers: Array<{
    /** null: payments without a terminal. */
    terminal: string | null;
    /** What the terminal is called. */
    label: string | null;
    /** null: nobody was named. */
    cashier: string | null;
    /** Paid payments. */
    payments: number;
    /** Their amounts without tips: USDC atoms (6 decimals). */
    sales: number;
    /** Their tips: USDC atoms (6 decimals). */
    tips: number;
    /** Refunds that succeeded, by the terminal that took the payment. */
    refunds: number;
    /** Their amounts: USDC atoms (6 decimals). */
    refunded: number;
    /** Intents of these days that were declined at least once. */
    declines: number;
  }>;
}

/** What happened to a payment intent beyond its own fields. */
export interface Timeline {
  /** The type of the object. */
  object: 'timeline';
  /** The id of a payment intent: pi_… */
  payment_intent: string;
  /** Attempts to settle it, oldest first. */
  settlements: Array<{
    /** How far the attempt is. */
    status: 'queued' | 'submitted' | 'succeeded' | 'failed';
    /** ISO 8601 UTC with milliseconds. */
    decided_at: string;
    /** ISO 8601 UTC with milliseconds. */
    deadline: string | null;
    /** ISO 8601 UTC with milliseconds. */
    signed_at: string | null;
    /** How often it was signed again, for a higher price. */
    times_sent: number;
    /** The block that holds it. */
    block_number: number | null;
    /** ISO 8601 UTC with milliseconds. */
    booked_at: string | null;
    /** ISO 8601 UTC with milliseconds. */
    final_at: string | null;
  }>;
  /** Events of the intent and its payment that are still kept, oldest first. */
  events: Array<{
    /** The id of an event: evt_… */
    id: string;
    /** The type of the event. */
    type: string;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  }>;
  /** The deliveries of these events. */
  deliveries: Array<{
    /** The id of a webhook delivery: wdl_… */
    id: string;
    /** The id of a webhook endpoint: we_… */
    webhook_endpoint: string;
    /** The id of an event: evt_… */
    event: string;
    /** The status of the delivery. */
    status: 'pending' | 'succeeded' | 'failed';
    /** How often it was sent. */
    attempt: number;
    /** HTTP status of the last answer. */
    response_status: number | null;
    /** ISO 8601 UTC with milliseconds. */
    updated: string;
  }>;
}

export interface WebhookDelivery {
  /** The id of a webhook delivery: wdl_… */
  id: string;
  /** The type of the object. */
  object: 'webhook_delivery';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The id of a webhook endpoint: we_… */
  webhook_endpoint: string;
  /** The id of an event: evt_… */
  event: string;
  /** What happened. */
  event_type: string;
  /** pending: will be tried (again). */
  status: 'pending' | 'succeeded' | 'failed';
  /** Attempts made so far. */
  attempt: number;
  /** HTTP status of the last attempt. */
  response_status: number | null;
  /** Its first 1 KiB, as text. */
  response_body: string | null;
  /**
   * Why the last attempt failed: status_not_2xx, redirect_refused, timeout, dns_failed,
   * address_refused, connection_refused, connection_reset, connection_failed, host_unreachable,
   * tls_failed, invalid_response, event_expired, endpoint_disabled, not_sent. The list may grow.
   */
  error: string | null;
  /** How long the last attempt took. */
  duration_ms: number | null;
  /** ISO 8601 UTC with milliseconds. */
  next_attempt_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  updated: string;
}

export interface WebhookDeliveryList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: WebhookDelivery[];
  /** Whether there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

export interface RefundList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: Refund[];
  /** Whether there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

export interface Terminal {
  /** The id of a terminal: tml_… */
  id: string;
  /** The type of the object. */
  object: 'terminal';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** What people call it. */
  label: string;
  /** What the device is. */
  name: string;
  /** The terminal software. The list may grow. */
  platform: string;
  /** An inactive terminal takes no payments. */
  status: 'active' | 'inactive';
  /** ISO 8601 UTC with milliseconds. */
  last_seen_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
}

export interface TerminalList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: Terminal[];
  /** Whether there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

export interface Balance {
  /** The type of the object. */
  object: 'balance';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** Settled and not yet withdrawn, by currency. */
  available: Array<{
    /** USDC atoms (6 decimals). */
    amount: number;
    /** USDC, always. */
    currency: 'usdc';
  }>;
  /**
   * Nothing can be withdrawn before this time, because the merchant is new on this network. null:
   * withdrawals are possible.
   */
  held_until: string | null;
  /** ISO 8601 UTC with milliseconds. */
  as_of: string;
}

export interface Event {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** What happened. The list of types may grow. */
  type: string;
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Rises from event to event of one object (and of one account and mode): of two events about the
   * same object the one with the higher sequence is newer.
   */
  sequence: number;
  /** What the event is about. */
  data: {
    /** The resource as it was when the event happened. */
    object: Record<string, unknown>;
    /** On *.updated: the fields that changed, with the values that they had before. */
    previous_attributes?: Record<string, unknown>;
  };
}

export interface EventList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: Event[];
  /** Whether there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

export interface WebhookEndpoint {
  /** The id of a webhook endpoint: we_… */
  id: string;
  /** The type of the object. */
  object: 'webhook_endpoint';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** Where events are sent. */
  url: string;
  /** What it subscribes to. */
  enabled_events: string[];
  /** A note of your own. */
  description: string | null;
  /** Set at creation: events are rendered in this version. */
  api_version: string;
  /** A disabled endpoint gets nothing. */
  status: 'enabled' | 'disabled';
  /**
   * persistent_failure (five days without a success), gone (it answered 410) or
   * requested_by_merchant. The list may grow.
   */
  disabled_reason: string | null;
  /** ISO 8601 UTC with milliseconds. */
  failing_since: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  updated: string;
}

export interface WebhookEndpointWithSecret {
  /** The id of a webhook endpoint: we_… */
  id: string;
  /** The type of the object. */
  object: 'webhook_endpoint';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** Where events are sent. */
  url: string;
  /** What it subscribes to. */
  enabled_events: string[];
  /** A note of your own. */
  description: string | null;
  /** Set at creation: events are rendered in this version. */
  api_version: string;
  /** A disabled endpoint gets nothing. */
  status: 'enabled' | 'disabled';
  /**
   * persistent_failure (five days without a success), gone (it answered 410) or
   * requested_by_merchant. The list may grow.
   */
  disabled_reason: string | null;
  /** ISO 8601 UTC with milliseconds. */
  failing_since: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  updated: string;
  /** The signing secret. Shown only once: store it now. */
  secret: string;
}

export interface WebhookReplay {
  /** The id of a webhook replay: wrp_… */
  id: string;
  /** The type of the object. */
  object: 'webhook_replay';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The id of a webhook endpoint: we_… */
  webhook_endpoint: string;
  /** ISO 8601 UTC with milliseconds. */
  since: string;
  /** ISO 8601 UTC with milliseconds. */
  until: string;
  /** The event types that are sent again. */
  types: string[];
  /** completed: all of them are queued. */
  status: 'running' | 'completed';
  /** Events queued so far. */
  events_queued: number;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  updated: string;
}

export interface TestClock {
  /** The type of the object. */
  object: 'test_clock';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** ISO 8601 UTC with milliseconds. */
  now: string;
  /** In total, since the account was opened. */
  advanced_seconds: number;
}

export interface MerchantReadSessionResponse {
  /** The type of the object. */
  object: 'session';
  /** The id of a session: ses_… */
  id: string;
  /** Whether the sign-in is complete. */
  status: 'signed_in' | 'second_factor_required';
  /** Send it as the header Csrf-Token with every change. */
  csrf_token: string;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
  /** ISO 8601 UTC with milliseconds. */
  second_factor_at: string | null;
  /** The person. */
  user: {
    /** The id of an user: usr_… */
    id: string;
    /** An e-mail address. */
    email: string;
    /** A name. */
    name: string;
    /** Which factors the session has proven. */
    factors: {
      /** Whether an authenticator app is set up. */
      totp: boolean;
      /** How many there are. */
      passkeys: number;
      /** What to offer first; null: no factor is set up. */
      first_choice: 'passkey' | 'totp' | null;
      /** How many there are. */
      recovery_codes_left: number;
      /** Ask the person to store them; POST /me/recovery_codes/saved ends it. */
      recovery_codes_to_save: boolean;
    };
  };
  /** Of the network's staff: support only looks. null: a merchant's person. */
  staff_role: 'operator' | 'support' | null;
  /** The accounts that the person is a member of. */
  accounts: Array<{
    /** The id of an account: acct_… */
    id: string;
    /** A name. */
    name: string;
    /** viewer, member, admin or owner. */
    role: 'viewer' | 'member' | 'admin' | 'owner';
    /** Whether it can be used. */
    status: 'active' | 'disabled';
    /** Verification. */
    kyb_status: 'none' | 'pending' | 'approved' | 'rejected';
  }>;
}

export interface MerchantSignInBody {
  /** An e-mail address. */
  email: string;
  /** 12 to 256 characters. */
  password: string;
}

export interface MerchantSignInResponse {
  /** The type of the object. */
  object: 'session';
  /** The id of a session: ses_… */
  id: string;
  /** Whether the sign-in is complete. */
  status: 'signed_in' | 'second_factor_required';
  /** Send it as the header Csrf-Token with every change. */
  csrf_token: string;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
  /** ISO 8601 UTC with milliseconds. */
  second_factor_at: string | null;
  /** The person. */
  user: {
    /** The id of an user: usr_… */
    id: string;
    /** An e-mail address. */
    email: string;
    /** A name. */
    name: string;
    /** Which factors the session has proven. */
    factors: {
      /** Whether an authenticator app is set up. */
      totp: boolean;
      /** How many there are. */
      passkeys: number;
      /** What to offer first; null: no factor is set up. */
      first_choice: 'passkey' | 'totp' | null;
      /** How many there are. */
      recovery_codes_left: number;
      /** Ask the person to store them; POST /me/recovery_codes/saved ends it. */
      recovery_codes_to_save: boolean;
    };
  };
  /** Of the network's staff: support only looks. null: a merchant's person. */
  staff_role: 'operator' | 'support' | null;
  /** The accounts that the person is a member of. */
  accounts: Array<{
    /** The id of an account: acct_… */
    id: string;
    /** A name. */
    name: string;
    /** viewer, member, admin or owner. */
    role: 'viewer' | 'member' | 'admin' | 'owner';
    /** Whether it can be used. */
    status: 'active' | 'disabled';
    /** Verification. */
    kyb_status: 'none' | 'pending' | 'approved' | 'rejected';
  }>;
}

export interface MerchantSignOutResponse {
  /** What was done. */
  status:
    | 'accepted'
    | 'blocked'
    | 'disabled'
    | 'enabled'
    | 'erased'
    | 'left'
    | 'lifted'
    | 'mail_sent'
    | 'password_changed'
    | 'removed'
    | 'resolved'
    | 'revoked'
    | 'saved'
    | 'signed_out'
    | 'unblocked';
}

export interface MerchantProveSecondFactorBody {
  /** Six digits of the authenticator app, or a recovery code. */
  code: string;
}

export interface MerchantProveSecondFactorResponse {
  /** The type of the object. */
  object: 'session';
  /** The id of a session: ses_… */
  id: string;
  /** Whether the sign-in is complete. */
  status: 'signed_in' | 'second_factor_required';
  /** Send it as the header Csrf-Token with every change. */
  csrf_token: string;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
  /** ISO 8601 UTC with milliseconds. */
  second_factor_at: string | null;
  /** The person. */
  user: {
    /** The id of an user: usr_… */
    id: string;
    /** An e-mail address. */
    email: string;
    /** A name. */
    name: string;
    /** Which factors the session has proven. */
    factors: {
      /** Whether an authenticator app is set up. */
      totp: boolean;
      /** How many there are. */
      passkeys: number;
      /** What to offer first; null: no factor is set up. */
      first_choice: 'passkey' | 'totp' | null;
      /** How many there are. */
      recovery_codes_left: number;
      /** Ask the person to store them; POST /me/recovery_codes/saved ends it. */
      recovery_codes_to_save: boolean;
    };
  };
  /** Of the network's staff: support only looks. null: a merchant's person. */
  staff_role: 'operator' | 'support' | null;
  /** The accounts that the person is a member of. */
  accounts: Array<{
    /** The id of an account: acct_… */
    id: string;
    /** A name. */
    name: string;
    /** viewer, member, admin or owner. */
    role: 'viewer' | 'member' | 'admin' | 'owner';
    /** Whether it can be used. */
    status: 'active' | 'disabled';
    /** Verification. */
    kyb_status: 'none' | 'pending' | 'approved' | 'rejected';
  }>;
}

/** WebAuthn options: pass them to the browser unchanged. */
export type MerchantBeginPasskeySignInResponse = Record<string, unknown>;

export interface MerchantSignInWithPasskeyBody {
  /** From the authenticator, as the browser returns it. */
  response: {
    /** The id of the object. */
    id: string;
    /** From the authenticator, as the browser returns it. */
    rawId: string;
    /** Its kind. */
    type: 'public-key';
    /** From the authenticator, as the browser returns it. */
    response: {
      /** From the browser, unchanged. */
      clientDataJSON: string;
      /** From the authenticator, as the browser returns it. */
      authenticatorData: string;
      /** From the authenticator, as the browser returns it. */
      signature: string;
    };
    /** From the browser, unchanged. */
    clientExtensionResults?: Record<string, unknown>;
  };
}

export interface MerchantSignInWithPasskeyResponse {
  /** The type of the object. */
  object: 'session';
  /** The id of a session: ses_… */
  id: string;
  /** Whether the sign-in is complete. */
  status: 'signed_in' | 'second_factor_required';
  /** Send it as the header Csrf-Token with every change. */
  csrf_token: string;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
  /** ISO 8601 UTC with milliseconds. */
  second_factor_at: string | null;
  /** The person. */
  user: {
    /** The id of an user: usr_… */
    id: string;
    /** An e-mail address. */
    email: string;
    /** A name. */
    name: string;
    /** Which factors the session has proven. */
    factors: {
      /** Whether an authenticator app is set up. */
      totp: boolean;
      /** How many there are. */
      passkeys: number;
      /** What to offer first; null: no factor is set up. */
      first_choice: 'passkey' | 'totp' | null;
      /** How many there are. */
      recovery_codes_left: number;
      /** Ask the person to store them; POST /me/recovery_codes/saved ends it. */
      recovery_codes_to_save: boolean;
    };
  };
  /** Of the network's staff: support only looks. null: a merchant's person. */
  staff_role: 'operator' | 'support' | null;
  /** The accounts that the person is a member of. */
  accounts: Array<{
    /** The id of an account: acct_… */
    id: string;
    /** A name. */
    name: string;
    /** viewer, member, admin or owner. */
    role: 'viewer' | 'member' | 'admin' | 'owner';
    /** Whether it can be used. */
    status: 'active' | 'disabled';
    /** Verification. */
    kyb_status: 'none' | 'pending' | 'approved' | 'rejected';
  }>;
}

/** WebAuthn options: pass them to the browser unchanged. */
export type MerchantBeginPasskeyFactorResponse = Record<string, unknown>;

export interface MerchantProvePasskeyBody {
  /** From the authenticator, as the browser returns it. */
  response: {
    /** The id of the object. */
    id: string;
    /** From the authenticator, as the browser returns it. */
    rawId: string;
    /** Its kind. */
    type: 'public-key';
    /** From the authenticator, as the browser returns it. */
    response: {
      /** From the browser, unchanged. */
      clientDataJSON: string;
      /** From the authenticator, as the browser returns it. */
      authenticatorData: string;
      /** From the authenticator, as the browser returns it. */
      signature: string;
    };
    /** From the browser, unchanged. */
    clientExtensionResults?: Record<string, unknown>;
  };
}

export interface MerchantProvePasskeyResponse {
  /** The type of the object. */
  object: 'session';
  /** The id of a session: ses_… */
  id: string;
  /** Whether the sign-in is complete. */
  status: 'signed_in' | 'second_factor_required';
  /** Send it as the header Csrf-Token with every change. */
  csrf_token: string;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
  /** ISO 8601 UTC with milliseconds. */
  second_factor_at: string | null;
  /** The person. */
  user: {
    /** The id of an user: usr_… */
    id: string;
    /** An e-mail address. */
    email: string;
    /** A name. */
    name: string;
    /** Which factors the session has proven. */
    factors: {
      /** Whether an authenticator app is set up. */
      totp: boolean;
      /** How many there are. */
      passkeys: number;
      /** What to offer first; null: no factor is set up. */
      first_choice: 'passkey' | 'totp' | null;
      /** How many there are. */
      recovery_codes_left: number;
      /** Ask the person to store them; POST /me/recovery_codes/saved ends it. */
      recovery_codes_to_save: boolean;
    };
  };
  /** Of the network's staff: support only looks. null: a merchant's person. */
  staff_role: 'operator' | 'support' | null;
  /** The accounts that the person is a member of. */
  accounts: Array<{
    /** The id of an account: acct_… */
    id: string;
    /** A name. */
    name: string;
    /** viewer, member, admin or owner. */
    role: 'viewer' | 'member' | 'admin' | 'owner';
    /** Whether it can be used. */
    status: 'active' | 'disabled';
    /** Verification. */
    kyb_status: 'none' | 'pending' | 'approved' | 'rejected';
  }>;
}

export interface MerchantRequestPasswordResetBody {
  /** An e-mail address. */
  email: string;
}

export interface MerchantRequestPasswordResetResponse {
  /** What was done. */
  status:
    | 'accepted'
    | 'blocked'
    | 'disabled'
    | 'enabled'
    | 'erased'
    | 'left'
    | 'lifted'
    | 'mail_sent'
    | 'password_changed'
    | 'removed'
    | 'resolved'
    | 'revoked'
    | 'saved'
    | 'signed_out'
    | 'unblocked';
}

export interface MerchantCompletePasswordResetBody {
  /** The token of the link: the part after #token=. */
  token: string;
  /** 12 to 256 characters. */
  password: string;
}

export interface MerchantCompletePasswordResetResponse {
  /** What was done. */
  status:
    | 'accepted'
    | 'blocked'
    | 'disabled'
    | 'enabled'
    | 'erased'
    | 'left'
    | 'lifted'
    | 'mail_sent'
    | 'password_changed'
    | 'removed'
    | 'resolved'
    | 'revoked'
    | 'saved'
    | 'signed_out'
    | 'unblocked';
}

export interface MerchantChangePasswordBody {
  /** 12 to 256 characters. */
  current_password: string;
  /** 12 to 256 characters. */
  password: string;
}

export interface MerchantChangePasswordResponse {
  /** What was done. */
  status:
    | 'accepted'
    | 'blocked'
    | 'disabled'
    | 'enabled'
    | 'erased'
    | 'left'
    | 'lifted'
    | 'mail_sent'
    | 'password_changed'
    | 'removed'
    | 'resolved'
    | 'revoked'
    | 'saved'
    | 'signed_out'
    | 'unblocked';
}

export interface RequestSignUpBody {
  /** An e-mail address. */
  email: string;
}

export interface RequestSignUpResponse {
  /** What was done. */
  status:
    | 'accepted'
    | 'blocked'
    | 'disabled'
    | 'enabled'
    | 'erased'
    | 'left'
    | 'lifted'
    | 'mail_sent'
    | 'password_changed'
    | 'removed'
    | 'resolved'
    | 'revoked'
    | 'saved'
    | 'signed_out'
    | 'unblocked';
}

export interface CompleteSignUpBody {
  /** The token of the link: the part after #token=. */
  token: string;
  /** A name of 1 to 100 characters. */
  name: string;
  /** A name of 1 to 100 characters. */
  account_name: string;
  /** 12 to 256 characters. */
  password: string;
}

export interface CompleteSignUpResponse {
  /** The type of the object. */
  object: 'session';
  /** The id of a session: ses_… */
  id: string;
  /** Whether the sign-in is complete. */
  status: 'signed_in' | 'second_factor_required';
  /** Send it as the header Csrf-Token with every change. */
  csrf_token: string;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
  /** ISO 8601 UTC with milliseconds. */
  second_factor_at: string | null;
  /** The person. */
  user: {
    /** The id of an user: usr_… */
    id: string;
    /** An e-mail address. */
    email: string;
    /** A name. */
    name: string;
    /** Which factors the session has proven. */
    factors: {
      /** Whether an authenticator app is set up. */
      totp: boolean;
      /** How many there are. */
      passkeys: number;
      /** What to offer first; null: no factor is set up. */
      first_choice: 'passkey' | 'totp' | null;
      /** How many there are. */
      recovery_codes_left: number;
      /** Ask the person to store them; POST /me/recovery_codes/saved ends it. */
      recovery_codes_to_save: boolean;
    };
  };
  /** Of the network's staff: support only looks. null: a merchant's person. */
  staff_role: 'operator' | 'support' | null;
  /** The accounts that the person is a member of. */
  accounts: Array<{
    /** The id of an account: acct_… */
    id: string;
    /** A name. */
    name: string;
    /** viewer, member, admin or owner. */
    role: 'viewer' | 'member' | 'admin' | 'owner';
    /** Whether it can be used. */
    status: 'active' | 'disabled';
    /** Verification. */
    kyb_status: 'none' | 'pending' | 'approved' | 'rejected';
  }>;
}

export interface LookUpInvitationBody {
  /** The token of the link: the part after #token=. */
  token: string;
}

export interface LookUpInvitationResponse {
  account_name: string;
  /** An e-mail address. */
  email: string;
  /** viewer, member, admin or owner. */
  role: 'viewer' | 'member' | 'admin' | 'owner';
  /** true: sign in first, then accept. */
  has_user: boolean;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
}

export interface AcceptInvitationBody {
  /** The token of the link: the part after #token=. */
  token: string;
  /** A name of 1 to 100 characters. */
  name?: string;
  /** 12 to 256 characters. */
  password?: string;
}

export interface AcceptInvitationResponse {
  account: string;
  /** viewer, member, admin or owner. */
  role: 'viewer' | 'member' | 'admin' | 'owner';
}

export interface MerchantUpdateMeBody {
  /** A name of 1 to 100 characters. */
  name: string;
}

export interface MerchantUpdateMeResponse {
  /** A name of 1 to 100 characters. */
  name: string;
}

export interface MerchantListSessionsResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** The id of a session: ses_… */
    id: string;
    /** Whether it is the session of this request. */
    current: boolean;
    /** An address of the chain: 0x and 40 hexadecimal digits. */
    address: string;
    /** How the browser identifies itself. */
    user_agent: string;
    /** Browser and system, such as Firefox on Windows. */
    device: string;
    /** The address, or the kind of network that it belongs to. */
    place: string;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
    /** ISO 8601 UTC with milliseconds. */
    last_seen_at: string;
    /** ISO 8601 UTC with milliseconds. */
    expires_at: string;
  }>;
}

export interface MerchantSignOutEverywhereResponse {
  /** What was done. */
  status:
    | 'accepted'
    | 'blocked'
    | 'disabled'
    | 'enabled'
    | 'erased'
    | 'left'
    | 'lifted'
    | 'mail_sent'
    | 'password_changed'
    | 'removed'
    | 'resolved'
    | 'revoked'
    | 'saved'
    | 'signed_out'
    | 'unblocked';
}

export interface MerchantEndSessionResponse {
  /** What was done. */
  status:
    | 'accepted'
    | 'blocked'
    | 'disabled'
    | 'enabled'
    | 'erased'
    | 'left'
    | 'lifted'
    | 'mail_sent'
    | 'password_changed'
    | 'removed'
    | 'resolved'
    | 'revoked'
    | 'saved'
    | 'signed_out'
    | 'unblocked';
}

export interface MerchantBeginTotpBody {
  /** 12 to 256 characters. */
  current_password?: string;
}

export interface MerchantBeginTotpResponse {
  /** Shown only once. */
  secret: string;
  /** The otpauth: link for the authenticator app. */
  uri: string;
}

export interface MerchantRemoveTotpResponse {
  /** What was done. */
  status:
    | 'accepted'
    | 'blocked'
    | 'disabled'
    | 'enabled'
    | 'erased'
    | 'left'
    | 'lifted'
    | 'mail_sent'
    | 'password_changed'
    | 'removed'
    | 'resolved'
    | 'revoked'
    | 'saved'
    | 'signed_out'
    | 'unblocked';
}

export interface MerchantConfirmTotpBody {
  /** Six digits of the authenticator app, or a recovery code. */
  code: string;
}

export interface MerchantConfirmTotpResponse {
  /** Codes for a lost second factor. Shown only once. */
  recovery_codes: string[];
}

export interface MerchantReplaceRecoveryCodesResponse {
  /** Codes for a lost second factor. Shown only once. */
  recovery_codes: string[];
}

export interface MerchantConfirmRecoveryCodesSavedResponse {
  /** What was done. */
  status:
    | 'accepted'
    | 'blocked'
    | 'disabled'
    | 'enabled'
    | 'erased'
    | 'left'
    | 'lifted'
    | 'mail_sent'
    | 'password_changed'
    | 'removed'
    | 'resolved'
    | 'revoked'
    | 'saved'
    | 'signed_out'
    | 'unblocked';
}

export interface MerchantListPasskeysResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** The id of a passkey: pkey_… */
    id: string;
    /** The name, as people read it. */
    name: string;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
    /** ISO 8601 UTC with milliseconds. */
    last_used_at: string | null;
  }>;
}

export interface MerchantAddPasskeyBody {
  /** A name of 1 to 100 characters. */
  name: string;
  /** From the authenticator, as the browser returns it. */
  response: {
    /** The id of the object. */
    id: string;
    /** From the authenticator, as the browser returns it. */
    rawId: string;
    /** Its kind. */
    type: 'public-key';
    /** From the authenticator, as the browser returns it. */
    response: {
      /** From the browser, unchanged. */
      clientDataJSON: string;
      /** From the authenticator, as the browser returns it. */
      attestationObject: string;
    };
    /** From the browser, unchanged. */
    clientExtensionResults?: Record<string, unknown>;
  };
}

export interface MerchantAddPasskeyResponse {
  /** The id of a passkey: pkey_… */
  id: string;
}

export interface MerchantBeginPasskeyBody {
  /** 12 to 256 characters. */
  current_password?: string;
}

/** WebAuthn options: pass them to the browser unchanged. */
export type MerchantBeginPasskeyResponse = Record<string, unknown>;

export interface MerchantRemovePasskeyResponse {
  /** What was done. */
  status:
    | 'accepted'
    | 'blocked'
    | 'disabled'
    | 'enabled'
    | 'erased'
    | 'left'
    | 'lifted'
    | 'mail_sent'
    | 'password_changed'
    | 'removed'
    | 'resolved'
    | 'revoked'
    | 'saved'
    | 'signed_out'
    | 'unblocked';
}

export interface MerchantExportMyDataBody {
  /** 12 to 256 characters. */
  current_password?: string;
}

export interface MerchantExportMyDataResponse {
  /** The type of the object. */
  object: 'personal_data';
  /** ISO 8601 UTC with milliseconds. */
  exported_at: string;
  /** The person. */
  user: {
    /** The id of an user: usr_… */
    id: string;
    /** An e-mail address. */
    email: string;
    /** The name, as people read it. */
    name: string;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
    /** ISO 8601 UTC with milliseconds. */
    totp_confirmed_at: string | null;
    /** How many recovery codes have not been used. */
    recovery_codes_left: number;
  };
  /** The accounts that the person is a member of. */
  accounts: Array<{
    /** The id of an account: acct_… */
    id: string;
    /** The name, as people read it. */
    name: string;
    /** viewer, member, admin or owner. */
    role: 'viewer' | 'member' | 'admin' | 'owner';
  }>;
  /** Where the person is signed in. */
  sessions: Array<{
    /** The id of a session: ses_… */
    id: string;
    /** An address of the chain: 0x and 40 hexadecimal digits. */
    address: string;
    /** How the browser identifies itself. */
    user_agent: string;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
    /** ISO 8601 UTC with milliseconds. */
    last_seen_at: string;
    /** ISO 8601 UTC with milliseconds. */
    expires_at: string;
  }>;
  /** Devices that the person has signed in from. */
  devices: Array<{
    /** How the browser identifies itself. */
    user_agent: string;
    /** An address of the chain: 0x and 40 hexadecimal digits. */
    address: string;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
    /** ISO 8601 UTC with milliseconds. */
    last_used_at: string;
  }>;
  /** Passkeys of the person. */
  passkeys: Array<{
    /** The id of the object. */
    id: string;
    /** The name, as people read it. */
    name: string;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
    /** ISO 8601 UTC with milliseconds. */
    last_used_at: string | null;
  }>;
  /** Invitations that have not been accepted. */
  invitations: Array<{
    /** The id of an account: acct_… */
    account_id: string;
    /** viewer, member, admin or owner. */
    role: 'viewer' | 'member' | 'admin' | 'owner';
    /** ISO 8601 UTC with milliseconds. */
    created: string;
    /** ISO 8601 UTC with milliseconds. */
    accepted_at: string | null;
  }>;
  /** What you did, from the audit log: the newest 10000 entries. */
  actions: Array<{
    /** ISO 8601 UTC with milliseconds. */
    created: string;
    /** What was done, in the words of the audit log. */
    action: string;
    /** The object that it is about. */
    object_id: string;
    /** The changed fields. */
    before: Record<string, unknown> | null;
    /** The changed fields. */
    after: Record<string, unknown> | null;
    /** An address of the chain: 0x and 40 hexadecimal digits. */
    address: string | null;
  }>;
}

export interface MerchantEraseMyDataBody {
  /** 12 to 256 characters. */
  current_password?: string;
}

export interface MerchantEraseMyDataResponse {
  /** What was done. */
  status:
    | 'accepted'
    | 'blocked'
    | 'disabled'
    | 'enabled'
    | 'erased'
    | 'left'
    | 'lifted'
    | 'mail_sent'
    | 'password_changed'
    | 'removed'
    | 'resolved'
    | 'revoked'
    | 'saved'
    | 'signed_out'
    | 'unblocked';
}

export interface ListAccountsResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** The id of an account: acct_… */
    id: string;
    /** The name, as people read it. */
    name: string;
    /** viewer, member, admin or owner. */
    role: 'viewer' | 'member' | 'admin' | 'owner';
  }>;
}

export interface CreateAccountBody {
  /** A name of 1 to 100 characters. */
  name: string;
}

export interface CreateAccountResponse {
  /** The id of an account: acct_… */
  id: string;
  /** The type of the object. */
  object: 'account';
  /** A name. */
  name: string;
  /** Set by the network operator. */
  status: 'active' | 'disabled';
  /** Why it was disabled, or null. */
  disabled_reason: string | null;
  /** Verification. */
  kyb_status: 'none' | 'pending' | 'approved' | 'rejected';
  /** How many there are. */
  refund_window_days: number;
  /** USDC atoms (6 decimals). */
  refund_daily_limit: number;
  /**
   * IANA name, such as Europe/Berlin: days of statistics, reports and exports are days there.
   * Limits count UTC days.
   */
  time_zone: string;
  /** Send it back with the next change. */
  version: number;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** Test and live, each with what it has. */
  modes: Array<{
    /** The mode. */
    mode: 'test' | 'live';
    /** Its network. */
    network: 'testnet' | 'mainnet';
    /** Registered on the settlement contract. */
    live: boolean;
    /** ISO 8601 UTC with milliseconds. */
    live_at: string | null;
    /** On the contract. */
    merchant_number: number | null;
    /** An EVM address. */
    settlement_wallet: string | null;
  }>;
}

export interface ReadAccountResponse {
  /** The id of an account: acct_… */
  id: string;
  /** The type of the object. */
  object: 'account';
  /** A name. */
  name: string;
  /** Set by the network operator. */
  status: 'active' | 'disabled';
  /** Why it was disabled, or null. */
  disabled_reason: string | null;
  /** Verification. */
  kyb_status: 'none' | 'pending' | 'approved' | 'rejected';
  /** How many there are. */
  refund_window_days: number;
  /** USDC atoms (6 decimals). */
  refund_daily_limit: number;
  /**
   * IANA name, such as Europe/Berlin: days of statistics, reports and exports are days there.
   * Limits count UTC days.
   */
  time_zone: string;
  /** Send it back with the next change. */
  version: number;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** Test and live, each with what it has. */
  modes: Array<{
    /** The mode. */
    mode: 'test' | 'live';
    /** Its network. */
    network: 'testnet' | 'mainnet';
    /** Registered on the settlement contract. */
    live: boolean;
    /** ISO 8601 UTC with milliseconds. */
    live_at: string | null;
    /** On the contract. */
    merchant_number: number | null;
    /** An EVM address. */
    settlement_wallet: string | null;
  }>;
}

export interface UpdateAccountBody {
  /** The version that the change was made from; a stale one answers 409. */
  version: number;
  /** A name of 1 to 100 characters. */
  name?: string;
  /** 0 to 3650 days. */
  refund_window_days?: number;
  /** Atoms that can be refunded per UTC day. */
  refund_daily_limit?: number;
  /**
   * IANA name, such as Europe/Berlin: days of statistics, reports and exports are days there.
   * Limits count UTC days.
   */
  time_zone?: string;
}

export interface UpdateAccountResponse {
  /** The id of an account: acct_… */
  id: string;
  /** The type of the object. */
  object: 'account';
  /** A name. */
  name: string;
  /** Set by the network operator. */
  status: 'active' | 'disabled';
  /** Why it was disabled, or null. */
  disabled_reason: string | null;
  /** Verification. */
  kyb_status: 'none' | 'pending' | 'approved' | 'rejected';
  /** How many there are. */
  refund_window_days: number;
  /** USDC atoms (6 decimals). */
  refund_daily_limit: number;
  /**
   * IANA name, such as Europe/Berlin: days of statistics, reports and exports are days there.
   * Limits count UTC days.
   */
  time_zone: string;
  /** Send it back with the next change. */
  version: number;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** Test and live, each with what it has. */
  modes: Array<{
    /** The mode. */
    mode: 'test' | 'live';
    /** Its network. */
    network: 'testnet' | 'mainnet';
    /** Registered on the settlement contract. */
    live: boolean;
    /** ISO 8601 UTC with milliseconds. */
    live_at: string | null;
    /** On the contract. */
    merchant_number: number | null;
    /** An EVM address. */
    settlement_wallet: string | null;
  }>;
}

export interface ListMembersResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** The id of an user: usr_… */
    user: string;
    /** An e-mail address. */
    email: string;
    /** A name. */
    name: string;
    /** viewer, member, admin or owner. */
    role: 'viewer' | 'member' | 'admin' | 'owner';
    /** Whether the person has a second factor. */
    two_factor: boolean;
    /** Send it back with the next change. */
    version: number;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  }>;
}

export interface ChangeRoleBody {
  /** viewer, member, admin or owner. */
  role: 'viewer' | 'member' | 'admin' | 'owner';
  /** The version that the change was made from; a stale one answers 409. */
  version: number;
}

export interface ChangeRoleResponse {
  /** The id of an user: usr_… */
  user: string;
  /** An e-mail address. */
  email: string;
  /** A name. */
  name: string;
  /** viewer, member, admin or owner. */
  role: 'viewer' | 'member' | 'admin' | 'owner';
  /** Whether the person has a second factor. */
  two_factor: boolean;
  /** Send it back with the next change. */
  version: number;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
}

export interface RemoveMemberResponse {
  /** What was done. */
  status:
    | 'accepted'
    | 'blocked'
    | 'disabled'
    | 'enabled'
    | 'erased'
    | 'left'
    | 'lifted'
    | 'mail_sent'
    | 'password_changed'
    | 'removed'
    | 'resolved'
    | 'revoked'
    | 'saved'
    | 'signed_out'
    | 'unblocked';
}

export interface LeaveTeamResponse {
  /** What was done. */
  status:
    | 'accepted'
    | 'blocked'
    | 'disabled'
    | 'enabled'
    | 'erased'
    | 'left'
    | 'lifted'
    | 'mail_sent'
    | 'password_changed'
    | 'removed'
    | 'resolved'
    | 'revoked'
    | 'saved'
    | 'signed_out'
    | 'unblocked';
}

export interface ListInvitationsResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** The id of an invitation: inv_… */
    id: string;
    /** An e-mail address. */
    email: string;
    /** viewer, member, admin or owner. */
    role: 'viewer' | 'member' | 'admin' | 'owner';
    /** ISO 8601 UTC with milliseconds. */
    created: string;
    /** ISO 8601 UTC with milliseconds. */
    expires_at: string;
  }>;
}

export interface InviteMemberBody {
  /** An e-mail address. */
  email: string;
  /** viewer, member, admin or owner. */
  role: 'viewer' | 'member' | 'admin' | 'owner';
}

export interface InviteMemberResponse {
  /** The id of an invitation: inv_… */
  id: string;
  /** An e-mail address. */
  email: string;
  /** viewer, member, admin or owner. */
  role: 'viewer' | 'member' | 'admin' | 'owner';
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
}

export interface RevokeInvitationResponse {
  /** What was done. */
  status:
    | 'accepted'
    | 'blocked'
    | 'disabled'
    | 'enabled'
    | 'erased'
    | 'left'
    | 'lifted'
    | 'mail_sent'
    | 'password_changed'
    | 'removed'
    | 'resolved'
    | 'revoked'
    | 'saved'
    | 'signed_out'
    | 'unblocked';
}

export interface ListAuditLogQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only what was changed about this id. */
  object?: string;
}

export interface ListAuditLogResponse {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: Array<{
    /** Its place in the log. */
    sequence: number;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
    /** Who did it. */
    actor: Record<string, unknown>;
    /** What was done, in the words of the audit log. */
    action: string;
    /** The object that it is about. */
    object_id: string;
    /** true in live mode, false in test mode. */
    livemode: boolean | null;
    /** What it was before. */
    before: Record<string, unknown> | null;
    /** What it is now. */
    after: Record<string, unknown> | null;
    /** The request that made the change. */
    request_id: string | null;
    /** An address of the chain: 0x and 40 hexadecimal digits. */
    address: string | null;
    /** Of this entry and the one before it, as hex. */
    hash: string;
  }>;
  /** Whether there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

export interface ReadVerificationResponse {
  /** The id of an account: acct_… */
  account: string;
  /** The status of the verification. */
  status: 'none' | 'pending' | 'approved' | 'rejected';
  /** Send it back with the next change. */
  version: number;
  /** What was submitted. */
  details: Record<string, unknown> | null;
  /** Files that were uploaded. */
  documents: Array<{
    /** The id of a document: doc_… */
    id: string;
    /** What it shows. */
    kind: 'registration' | 'ownership' | 'identity' | 'address' | 'other';
    /** The name of the file. */
    file_name: string;
    /** The media type of the file. */
    content_type: string;
    /** In bytes. */
    size: number;
    /** Of its bytes. */
    sha256: string;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  }>;
  /** ISO 8601 UTC with milliseconds. */
  submitted_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  decided_at: string | null;
  /** Why it was decided so, in words for the merchant. */
  decision_reason: string | null;
}

export interface SaveVerificationBody {
  /** The version that you last read; 0 for the first time. */
  version: number;
  details: {
    /** The registered name of the business. */
    legal_name: string;
    /** Its number in the register. */
    registration_number: string;
    /** ISO 3166-1 alpha-2. */
    country: string;
    /** The registered address. */
    address: string;
    /** https://… */
    website?: string;
    /** What is sold. */
    business: string;
    /** Who signs for the business. */
    representative: string;
  };
}

export interface SaveVerificationResponse {
  /** The id of an account: acct_… */
  account: string;
  /** The status of the verification. */
  status: 'none' | 'pending' | 'approved' | 'rejected';
  /** Send it back with the next change. */
  version: number;
  /** What was submitted. */
  details: Record<string, unknown> | null;
  /** Files that were uploaded. */
  documents: Array<{
    /** The id of a document: doc_… */
    id: string;
    /** What it shows. */
    kind: 'registration' | 'ownership' | 'identity' | 'address' | 'other';
    /** The name of the file. */
    file_name: string;
    /** The media type of the file. */
    content_type: string;
    /** In bytes. */
    size: number;
    /** Of its bytes. */
    sha256: string;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  }>;
  /** ISO 8601 UTC with milliseconds. */
  submitted_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  decided_at: string | null;
  /** Why it was decided so, in words for the merchant. */
  decision_reason: string | null;
}

export interface SubmitVerificationResponse {
  /** The id of an account: acct_… */
  account: string;
  /** The status of the verification. */
  status: 'none' | 'pending' | 'approved' | 'rejected';
  /** Send it back with the next change. */
  version: number;
  /** What was submitted. */
  details: Record<string, unknown> | null;
  /** Files that were uploaded. */
  documents: Array<{
    /** The id of a document: doc_… */
    id: string;
    /** What it shows. */
    kind: 'registration' | 'ownership' | 'identity' | 'address' | 'other';
    /** The name of the file. */
    file_name: string;
    /** The media type of the file. */
    content_type: string;
    /** In bytes. */
    size: number;
    /** Of its bytes. */
    sha256: string;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  }>;
  /** ISO 8601 UTC with milliseconds. */
  submitted_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  decided_at: string | null;
  /** Why it was decided so, in words for the merchant. */
  decision_reason: string | null;
}

export interface UploadVerificationDocumentQuery {
  /** What the document shows. */
  kind: 'registration' | 'ownership' | 'identity' | 'address' | 'other';
  /** The name of the file. */
  file_name: string;
}

export interface UploadVerificationDocumentResponse {
  /** The id of a document: doc_… */
  id: string;
  /** What it shows. */
  kind: 'registration' | 'ownership' | 'identity' | 'address' | 'other';
  /** The name of the file. */
  file_name: string;
  /** The media type of the file. */
  content_type: string;
  /** In bytes. */
  size: number;
  /** Of its bytes. */
  sha256: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
}

export type DownloadVerificationDocumentResponse = Record<string, unknown>;

export interface RemoveVerificationDocumentResponse {
  /** What was done. */
  status:
    | 'accepted'
    | 'blocked'
    | 'disabled'
    | 'enabled'
    | 'erased'
    | 'left'
    | 'lifted'
    | 'mail_sent'
    | 'password_changed'
    | 'removed'
    | 'resolved'
    | 'revoked'
    | 'saved'
    | 'signed_out'
    | 'unblocked';
}

export interface ListApiKeysResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** The id of a API key: key_… */
    id: string;
    /** The type of the object. */
    object: 'api_key';
    /** false in test mode. */
    livemode: boolean;
    /** The network of the mode. */
    network: 'testnet' | 'mainnet';
    /** A name. */
    name: string;
    /** The first characters of the key and its last four. */
    hint: string;
    /** What the key may do. */
    scopes: string[];
    /** Addresses and CIDR ranges from which the key may be used; empty: all. */
    ip_allowlist: string[];
    /** The dated version of the API. */
    api_version: string;
    /** Whether the key still works. */
    status: 'active' | 'expired' | 'revoked';
    /** ISO 8601 UTC with milliseconds. */
    created: string;
    /** Who made it. */
    created_by: string | null;
    /** ISO 8601 UTC with milliseconds. */
    expires_at: string | null;
    /** ISO 8601 UTC with milliseconds. */
    revoked_at: string | null;
    /** ISO 8601 UTC with milliseconds. */
    last_used_at: string | null;
    /** The key that this one replaced, or null. */
    rotated_from: string | null;
    /** Send it back with the next change. */
    version: number;
  }>;
}

export interface CreateApiKeyBody {
  /** A name of 1 to 100 characters. */
  name: string;
  /** What the key may do. */
  scopes: Array<
    | 'balance:read'
    | 'events:read'
    | 'payments:read'
    | 'payments:write'
    | 'refunds:read'
    | 'refunds:write'
    | 'terminals:read'
    | 'webhooks:read'
    | 'webhooks:write'>;
  /** Addresses and CIDR ranges from which the key may be used; empty: all. */
  ip_allowlist?: string[];
  /** When it stops working. */
  expires_at?: string | null;
}

export interface CreateApiKeyResponse {
  /** The id of a API key: key_… */
  id: string;
  /** The type of the object. */
  object: 'api_key';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** A name. */
  name: string;
  /** The first characters of the key and its last four. */
  hint: string;
  /** What the key may do. */
  scopes: string[];
  /** Addresses and CIDR ranges from which the key may be used; empty: all. */
  ip_allowlist: string[];
  /** The dated version of the API. */
  api_version: string;
  /** Whether the key still works. */
  status: 'active' | 'expired' | 'revoked';
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** Who made it. */
  created_by: string | null;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  revoked_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  last_used_at: string | null;
  /** The key that this one replaced, or null. */
  rotated_from: string | null;
  /** Send it back with the next change. */
  version: number;
  /** The key itself, shown only once. */
  secret: string;
}

export interface UpdateApiKeyBody {
  /** The version that the change was made from; a stale one answers 409. */
  version: number;
  /** A name of 1 to 100 characters. */
  name?: string;
  /** What the key may do. */
  scopes?: Array<
    | 'balance:read'
    | 'events:read'
    | 'payments:read'
    | 'payments:write'
    | 'refunds:read'
    | 'refunds:write'
    | 'terminals:read'
    | 'webhooks:read'
    | 'webhooks:write'>;
  /** Addresses and CIDR ranges from which the key may be used; empty: all. */
  ip_allowlist?: string[];
  /** When it stops working. */
  expires_at?: string | null;
}

export interface UpdateApiKeyResponse {
  /** The id of a API key: key_… */
  id: string;
  /** The type of the object. */
  object: 'api_key';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** A name. */
  name: string;
  /** The first characters of the key and its last four. */
  hint: string;
  /** What the key may do. */
  scopes: string[];
  /** Addresses and CIDR ranges from which the key may be used; empty: all. */
  ip_allowlist: string[];
  /** The dated version of the API. */
  api_version: string;
  /** Whether the key still works. */
  status: 'active' | 'expired' | 'revoked';
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** Who made it. */
  created_by: string | null;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  revoked_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  last_used_at: string | null;
  /** The key that this one replaced, or null. */
  rotated_from: string | null;
  /** Send it back with the next change. */
  version: number;
}

export interface RotateApiKeyBody {
  /** How long the old key keeps working: 0 (not at all) to 604800 seconds. */
  overlap_seconds: number;
}

export interface RotateApiKeyResponse {
  /** The id of a API key: key_… */
  id: string;
  /** The type of the object. */
  object: 'api_key';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** A name. */
  name: string;
  /** The first characters of the key and its last four. */
  hint: string;
  /** What the key may do. */
  scopes: string[];
  /** Addresses and CIDR ranges from which the key may be used; empty: all. */
  ip_allowlist: string[];
  /** The dated version of the API. */
  api_version: string;
  /** Whether the key still works. */
  status: 'active' | 'expired' | 'revoked';
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** Who made it. */
  created_by: string | null;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  revoked_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  last_used_at: string | null;
  /** The key that this one replaced, or null. */
  rotated_from: string | null;
  /** Send it back with the next change. */
  version: number;
  /** The key itself, shown only once. */
  secret: string;
}

export interface RevokeApiKeyResponse {
  /** The id of a API key: key_… */
  id: string;
  /** The type of the object. */
  object: 'api_key';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** A name. */
  name: string;
  /** The first characters of the key and its last four. */
  hint: string;
  /** What the key may do. */
  scopes: string[];
  /** Addresses and CIDR ranges from which the key may be used; empty: all. */
  ip_allowlist: string[];
  /** The dated version of the API. */
  api_version: string;
  /** Whether the key still works. */
  status: 'active' | 'expired' | 'revoked';
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** Who made it. */
  created_by: string | null;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  revoked_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  last_used_at: string | null;
  /** The key that this one replaced, or null. */
  rotated_from: string | null;
  /** Send it back with the next change. */
  version: number;
}

export interface DashboardListTerminalsQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only terminals of this status. */
  status?: 'active' | 'inactive';
}

export interface CreateTerminalBody {
  /** A name of 1 to 100 characters. */
  label: string;
  /** A name of 1 to 100 characters. */
  name?: string;
  /** What runs on it, such as generic. */
  platform?: string;
}

export interface CreateTerminalResponse {
  /** The id of a terminal: tml_… */
  id: string;
  /** The type of the object. */
  object: 'terminal';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** A name. */
  label: string;
  /** A name. */
  name: string;
  /** A name. */
  platform: string;
  /** Inactive terminals take no payments. */
  status: 'active' | 'inactive';
  /** ISO 8601 UTC with milliseconds. */
  last_seen_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** Send it back with the next change. */
  version: number;
  /** The device key, shown only once. */
  device_key: string;
}

export interface DashboardRetrieveTerminalResponse {
  /** The id of a terminal: tml_… */
  id: string;
  /** The type of the object. */
  object: 'terminal';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** A name. */
  label: string;
  /** A name. */
  name: string;
  /** A name. */
  platform: string;
  /** Inactive terminals take no payments. */
  status: 'active' | 'inactive';
  /** ISO 8601 UTC with milliseconds. */
  last_seen_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** Send it back with the next change. */
  version: number;
}

export interface UpdateTerminalBody {
  /** The version that the change was made from; a stale one answers 409. */
  version: number;
  /** A name of 1 to 100 characters. */
  label?: string;
  /** A name of 1 to 100 characters. */
  name?: string;
}

export interface UpdateTerminalResponse {
  /** The id of a terminal: tml_… */
  id: string;
  /** The type of the object. */
  object: 'terminal';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** A name. */
  label: string;
  /** A name. */
  name: string;
  /** A name. */
  platform: string;
  /** Inactive terminals take no payments. */
  status: 'active' | 'inactive';
  /** ISO 8601 UTC with milliseconds. */
  last_seen_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** Send it back with the next change. */
  version: number;
}

export interface ActivateTerminalResponse {
  /** The id of a terminal: tml_… */
  id: string;
  /** The type of the object. */
  object: 'terminal';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** A name. */
  label: string;
  /** A name. */
  name: string;
  /** A name. */
  platform: string;
  /** Inactive terminals take no payments. */
  status: 'active' | 'inactive';
  /** ISO 8601 UTC with milliseconds. */
  last_seen_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** Send it back with the next change. */
  version: number;
}

export interface DeactivateTerminalResponse {
  /** The id of a terminal: tml_… */
  id: string;
  /** The type of the object. */
  object: 'terminal';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** A name. */
  label: string;
  /** A name. */
  name: string;
  /** A name. */
  platform: string;
  /** Inactive terminals take no payments. */
  status: 'active' | 'inactive';
  /** ISO 8601 UTC with milliseconds. */
  last_seen_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** Send it back with the next change. */
  version: number;
}

export interface RotateDeviceKeyResponse {
  /** The id of a terminal: tml_… */
  id: string;
  /** The type of the object. */
  object: 'terminal';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** A name. */
  label: string;
  /** A name. */
  name: string;
  /** A name. */
  platform: string;
  /** Inactive terminals take no payments. */
  status: 'active' | 'inactive';
  /** ISO 8601 UTC with milliseconds. */
  last_seen_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** Send it back with the next change. */
  version: number;
  /** The device key, shown only once. */
  device_key: string;
}

export interface CreatePairingCodeResponse {
  /** Six digits of the authenticator app, or a recovery code. */
  code: string;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
}

export interface DashboardUpdateWebhookEndpointBody {
  /** The version that the change was made from; a stale one answers 409. */
  version: number;
  /**
   * https (in test mode also http), port 80, 443 or 1024 to 65535, no user name, password or
   * fragment, not at a private or reserved address.
   */
  url?: string;
  /** Exact event types, families such as refund.*, or * for all. */
  enabled_events?: string[];
  /** Up to 500 characters. */
  description?: string | null;
  /** Disabling ends pending deliveries as failed. */
  status?: 'enabled' | 'disabled';
}

export interface DashboardDeleteWebhookEndpointResponse {
  /** The id of a webhook endpoint: we_… */
  id: string;
  /** The type of the object. */
  object: 'webhook_endpoint';
  /** It is gone. */
  deleted: true;
}

export interface ReadGoLiveResponse {
  /** Whether the account is live. */
  live: boolean;
  /** An EVM address. */
  settlement_wallet: string | null;
  /** The request to the authenticator, for the browser. */
  request: {
    /** What the chain answered. */
    status: 'pending' | 'succeeded' | 'failed';
    /** An EVM address. */
    wallet: string;
    failure_reason: string | null;
    /** The transaction. */
    tx_hash: string | null;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  } | null;
  /** What an admin has prepared and an owner can confirm. */
  prepared: {
    /** An EVM address. */
    wallet: string;
    /** An e-mail address. */
    prepared_by: string;
    /** ISO 8601 UTC with milliseconds. */
    expires_at: string;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  } | null;
}

export interface GoLiveBody {
  /** The EVM address that will get the money. */
  wallet: string;
  /** As in the signed message. */
  deadline: number;
  /** The wallet's EIP-712 signature. */
  signature: string;
}

export interface GoLiveResponse {
  /** Whether the account is live. */
  live: boolean;
  /** An EVM address. */
  settlement_wallet: string | null;
  /** The request to the authenticator, for the browser. */
  request: {
    /** What the chain answered. */
    status: 'pending' | 'succeeded' | 'failed';
    /** An EVM address. */
    wallet: string;
    failure_reason: string | null;
    /** The transaction. */
    tx_hash: string | null;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  } | null;
  /** What an admin has prepared and an owner can confirm. */
  prepared: {
    /** An EVM address. */
    wallet: string;
    /** An e-mail address. */
    prepared_by: string;
    /** ISO 8601 UTC with milliseconds. */
    expires_at: string;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  } | null;
}

export interface ReadGoLiveConsentQuery {
  /** The EVM address that gets the money. */
  wallet: string;
}

export interface ReadGoLiveConsentResponse {
  /** Unix seconds; part of what is signed. */
  deadline: number;
  /** What the wallet signs: the argument of eth_signTypedData_v4. */
  typed_data: Record<string, unknown>;
}

export interface ConfirmGoLiveBody {
  /** The wallet that was prepared. */
  wallet: string;
}

export interface ConfirmGoLiveResponse {
  /** Whether the account is live. */
  live: boolean;
  /** An EVM address. */
  settlement_wallet: string | null;
  /** The request to the authenticator, for the browser. */
  request: {
    /** What the chain answered. */
    status: 'pending' | 'succeeded' | 'failed';
    /** An EVM address. */
    wallet: string;
    failure_reason: string | null;
    /** The transaction. */
    tx_hash: string | null;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  } | null;
  /** What an admin has prepared and an owner can confirm. */
  prepared: {
    /** An EVM address. */
    wallet: string;
    /** An e-mail address. */
    prepared_by: string;
    /** ISO 8601 UTC with milliseconds. */
    expires_at: string;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  } | null;
}

export interface ListWithdrawalsQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only objects created at or after. */
  created_gte?: string;
  /** Only objects created before. */
  created_lt?: string;
}

export interface ListWithdrawalsResponse {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: Array<{
    /** The id of a withdrawal: wdr_… */
    id: string;
    /** The type of the object. */
    object: 'withdrawal';
    /** false in test mode. */
    livemode: boolean;
    /** The network of the mode. */
    network: 'testnet' | 'mainnet';
    /** USDC atoms (6 decimals). */
    amount: number;
    /** USDC, always. */
    currency: 'usdc';
    /** An EVM address. */
    wallet: string;
    /** Pending resolves by itself. */
    status: 'pending' | 'succeeded' | 'failed';
    /** The list may grow. */
    failure_code: 'insufficient_balance' | 'wallet_changed' | 'transaction_reverted' | null;
    /** Why it failed, for people. */
    failure_message: string | null;
    /** The transaction. */
    tx_hash: string | null;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
    /** ISO 8601 UTC with milliseconds. */
    updated: string;
    /**
     * Only on objects that the service had lost with its database and rebuilt from the chain. What
     * the chain does not know (metadata, description, terminal, how it was paid) is gone.
     */
    recovered?: true;
  }>;
  /** Whether there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

export interface CreateWithdrawalBody {
  /** USDC atoms, at most the balance minus what is already under way. */
  amount: number;
}

export interface CreateWithdrawalResponse {
  /** The id of a withdrawal: wdr_… */
  id: string;
  /** The type of the object. */
  object: 'withdrawal';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** USDC atoms (6 decimals). */
  amount: number;
  /** USDC, always. */
  currency: 'usdc';
  /** An EVM address. */
  wallet: string;
  /** Pending resolves by itself. */
  status: 'pending' | 'succeeded' | 'failed';
  /** The list may grow. */
  failure_code: 'insufficient_balance' | 'wallet_changed' | 'transaction_reverted' | null;
  /** Why it failed, for people. */
  failure_message: string | null;
  /** The transaction. */
  tx_hash: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  updated: string;
  /**
   * Only on objects that the service had lost with its database and rebuilt from the chain. What
   * the chain does not know (metadata, description, terminal, how it was paid) is gone.
   */
  recovered?: true;
}

export interface ReadWithdrawalResponse {
  /** The id of a withdrawal: wdr_… */
  id: string;
  /** The type of the object. */
  object: 'withdrawal';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** USDC atoms (6 decimals). */
  amount: number;
  /** USDC, always. */
  currency: 'usdc';
  /** An EVM address. */
  wallet: string;
  /** Pending resolves by itself. */
  status: 'pending' | 'succeeded' | 'failed';
  /** The list may grow. */
  failure_code: 'insufficient_balance' | 'wallet_changed' | 'transaction_reverted' | null;
  /** Why it failed, for people. */
  failure_message: string | null;
  /** The transaction. */
  tx_hash: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  updated: string;
  /**
   * Only on objects that the service had lost with its database and rebuilt from the chain. What
   * the chain does not know (metadata, description, terminal, how it was paid) is gone.
   */
  recovered?: true;
}

export interface DashboardListRefundsQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only objects created at or after. */
  created_gte?: string;
  /** Only objects created before. */
  created_lt?: string;
  /** The id of a payment: pay_… */
  payment?: string;
  /** The id of a payment intent: pi_… */
  payment_intent?: string;
  /** Of the refund. */
  status?: 'pending' | 'succeeded' | 'failed';
}

export interface CreateDashboardRefundBody {
  /** The id of a payment: pay_… */
  payment: string;
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  amount?: number;
  /** Up to 500 characters. */
  reason?: string;
  /**
   * Up to 20 pairs: keys of 1 to 40 characters of A-Z a-z 0-9 _ . -, string values of up to 500
   * characters. No secrets or personal data. Returned unchanged.
   */
  metadata?: Record<string, string>;
}

export interface ReadPayoutHoldResponse {
  held: boolean;
  /** The owner whose link was used. */
  held_by: string | null;
  /** ISO 8601 UTC with milliseconds. */
  since: string | null;
}

export interface LiftPayoutHoldResponse {
  /** What was done. */
  status:
    | 'accepted'
    | 'blocked'
    | 'disabled'
    | 'enabled'
    | 'erased'
    | 'left'
    | 'lifted'
    | 'mail_sent'
    | 'password_changed'
    | 'removed'
    | 'resolved'
    | 'revoked'
    | 'saved'
    | 'signed_out'
    | 'unblocked';
}

export interface ReadSettlementWalletResponse {
  /** The settlement wallet. */
  wallet: string | null;
  /** The change that waits, or null. */
  change: {
    wallet: string;
    /** An announced wallet waits until applicable_at. */
    status: 'pending' | 'announced' | 'applied' | 'canceled' | 'failed';
    /** ISO 8601 UTC with milliseconds. */
    applicable_at: string | null;
    failure_reason: string | null;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  } | null;
}

export interface ChangeSettlementWalletBody {
  /** The EVM address that will get the money. */
  wallet: string;
  /** As in the signed message. */
  deadline: number;
  /** The wallet's EIP-712 signature. */
  signature: string;
}

export interface ChangeSettlementWalletResponse {
  /** The settlement wallet. */
  wallet: string | null;
  /** The change that waits, or null. */
  change: {
    wallet: string;
    /** An announced wallet waits until applicable_at. */
    status: 'pending' | 'announced' | 'applied' | 'canceled' | 'failed';
    /** ISO 8601 UTC with milliseconds. */
    applicable_at: string | null;
    failure_reason: string | null;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  } | null;
}

export interface CancelWalletChangeResponse {
  /** The settlement wallet. */
  wallet: string | null;
  /** The change that waits, or null. */
  change: {
    wallet: string;
    /** An announced wallet waits until applicable_at. */
    status: 'pending' | 'announced' | 'applied' | 'canceled' | 'failed';
    /** ISO 8601 UTC with milliseconds. */
    applicable_at: string | null;
    failure_reason: string | null;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  } | null;
}

export interface ReadWalletConsentQuery {
  /** The new EVM address. */
  wallet: string;
}

export interface ReadWalletConsentResponse {
  /** Unix seconds; part of what is signed. */
  deadline: number;
  /** What the wallet signs: the argument of eth_signTypedData_v4. */
  typed_data: Record<string, unknown>;
}

export interface ReadRiskSettingsResponse {
  /** Rises with every change: send back the one that you have seen. */
  version: number;
  /** Atoms; null switches it off. */
  first_payment_confirm_from: number | null;
  /** Atoms; null switches it off. */
  high_amount_confirm_from: number | null;
  /** Payments of one payer within an hour; null switches the rule off. */
  velocity_per_hour: number | null;
}

export interface SaveRiskSettingsBody {
  /** The version that you last read; 0 for the first change. */
  version: number;
  /** Atoms; null switches it off. */
  first_payment_confirm_from: number | null;
  /** Atoms; null switches it off. */
  high_amount_confirm_from: number | null;
  /** Payments of one payer within an hour; null switches the rule off. */
  velocity_per_hour: number | null;
}

export interface SaveRiskSettingsResponse {
  /** Rises with every change: send back the one that you have seen. */
  version: number;
  /** Atoms; null switches it off. */
  first_payment_confirm_from: number | null;
  /** Atoms; null switches it off. */
  high_amount_confirm_from: number | null;
  /** Payments of one payer within an hour; null switches the rule off. */
  velocity_per_hour: number | null;
}

export interface ListBlockedPayersResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** An EVM address. */
    address: string;
    /** A note of the staff. */
    note: string;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  }>;
}

export interface BlockPayerBody {
  /** An EVM address. */
  address: string;
  /** Why. */
  note?: string;
}

export interface BlockPayerResponse {
  /** An EVM address. */
  address: string;
  /** A note of the staff. */
  note: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
}

export interface UnblockPayerResponse {
  /** What was done. */
  status:
    | 'accepted'
    | 'blocked'
    | 'disabled'
    | 'enabled'
    | 'erased'
    | 'left'
    | 'lifted'
    | 'mail_sent'
    | 'password_changed'
    | 'removed'
    | 'resolved'
    | 'revoked'
    | 'saved'
    | 'signed_out'
    | 'unblocked';
}

export interface PreviewRiskSettingsQuery {
  /** Atoms. */
  first_payment_confirm_from?: number;
  /** Atoms. */
  high_amount_confirm_from?: number;
  velocity_per_hour?: number;
}

export interface PreviewRiskSettingsResponse {
  /** ISO 8601 UTC with milliseconds. */
  since: string;
  /** Payments that were looked at. */
  payments: number;
  /** Of them: declined. */
  stopped: number;
  /** Of them: the payer would have been asked to confirm. */
  asked: number;
  /** Name of the rule to number of payments. */
  by_rule: Record<string, unknown>;
  /** There were more: only the newest were looked at. */
  truncated: boolean;
}

export interface SearchQuery {
  /** An id, an order id, a transaction hash, a wallet, or an amount such as 2.50. */
  q: string;
}

export interface SearchResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<Record<string, unknown>>;
}

export interface SearchPaymentsQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only objects created at or after. */
  created_gte?: string;
  /** Only objects created before. */
  created_lt?: string;
  order_id?: string;
  tx_hash?: string;
  payer?: string;
  /** Atoms. */
  amount?: number;
  /** The id of a terminal: tml_… */
  terminal?: string;
}

export interface ListDeclinedPaymentIntentsQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only objects created at or after. */
  created_gte?: string;
  /** Only objects created before. */
  created_lt?: string;
  /** The code of the last decline. */
  decline_code:
    | 'pass_unknown'
    | 'pass_revoked'
    | 'pass_replayed'
    | 'pass_code_expired'
    | 'pass_code_used'
    | 'insufficient_funds'
    | 'approval_insufficient'
    | 'limit_exceeded'
    | 'risk_blocked'
    | 'payer_rejected'
    | 'confirmation_timeout'
    | 'authorization_refused'
    | 'agent_token_unknown'
    | 'agent_token_expired'
    | 'agent_token_used'
    | 'agent_token_mismatch'
    | 'settlement_failed';
  /** The id of a terminal: tml_… */
  terminal?: string;
}

export interface ExportPaymentsQuery {
  /** Only objects created at or after. */
  created_gte?: string;
  /** Only objects created before. */
  created_lt?: string;
  /** YYYY-MM-DD, a day in the account's time zone. */
  from?: string;
  /** YYYY-MM-DD, a day in the account's time zone. */
  to?: string;
  /** Default csv. */
  format?: 'csv' | 'jsonl';
  /** The id of the last row that you have: the rest follows after it. */
  after?: string;
}

export type ExportPaymentsResponse = Record<string, unknown>;

export interface ExportPaymentIntentsQuery {
  /** Only objects created at or after. */
  created_gte?: string;
  /** Only objects created before. */
  created_lt?: string;
  /** YYYY-MM-DD, a day in the account's time zone. */
  from?: string;
  /** YYYY-MM-DD, a day in the account's time zone. */
  to?: string;
  /** Default csv. */
  format?: 'csv' | 'jsonl';
  /** The id of the last row that you have: the rest follows after it. */
  after?: string;
}

export type ExportPaymentIntentsResponse = Record<string, unknown>;

export interface ExportRefundsQuery {
  /** Only objects created at or after. */
  created_gte?: string;
  /** Only objects created before. */
  created_lt?: string;
  /** YYYY-MM-DD, a day in the account's time zone. */
  from?: string;
  /** YYYY-MM-DD, a day in the account's time zone. */
  to?: string;
  /** Default csv. */
  format?: 'csv' | 'jsonl';
  /** The id of the last row that you have: the rest follows after it. */
  after?: string;
}

export type ExportRefundsResponse = Record<string, unknown>;

export interface ExportWithdrawalsQuery {
  /** Only objects created at or after. */
  created_gte?: string;
  /** Only objects created before. */
  created_lt?: string;
  /** YYYY-MM-DD, a day in the account's time zone. */
  from?: string;
  /** YYYY-MM-DD, a day in the account's time zone. */
  to?: string;
  /** Default csv. */
  format?: 'csv' | 'jsonl';
  /** The id of the last row that you have: the rest follows after it. */
  after?: string;
}

export type ExportWithdrawalsResponse = Record<string, unknown>;

export interface ReadStatisticsQuery {
  /** YYYY-MM-DD, a day in the account's time zone. */
  from: string;
  /** YYYY-MM-DD, a day in the account's time zone. */
  to: string;
  /** Also one row per terminal. */
  by_terminal?: boolean;
}

export interface ReadStatisticsResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** YYYY-MM-DD, a day in the account's time zone. */
    day: string;
    /** null: all terminals together. */
    terminal: string | null;
    intents: number;
    succeeded: number;
    canceled: number;
    success_rate: number | null;
    /** Payments of the period. */
    payments: number;
    /** Sales and tips: USDC atoms (6 decimals). */
    volume: number;
    /** USDC atoms (6 decimals). */
    tips: number;
    /** Refunds of the period. */
    refunds: number;
    /** USDC atoms (6 decimals). */
    refunded: number;
    settle_ms_median: number | null;
    settle_ms_p95: number | null;
    /** Decline code to number of intents. */
    declines: Record<string, unknown>;
  }>;
}

export interface ReadDailyReportResponse {
  /** YYYY-MM-DD, a day in the account's time zone. */
  day: string;
  total: {
    /** The terminal. */
    terminal: string | null;
    /** Payments of the period. */
    payments: number;
    /** Sales and tips: USDC atoms (6 decimals). */
    gross: number;
    /** USDC atoms (6 decimals). */
    tips: number;
    /** What the payer pays on top, in atoms. */
    fees: {
      /** USDC atoms (6 decimals). */
      acquirer: number;
      /** USDC atoms (6 decimals). */
      protocol: number;
      /** USDC atoms (6 decimals). */
      cashback: number;
    };
  };
  terminals: Array<{
    /** The terminal. */
    terminal: string | null;
    /** Payments of the period. */
    payments: number;
    /** Sales and tips: USDC atoms (6 decimals). */
    gross: number;
    /** USDC atoms (6 decimals). */
    tips: number;
    /** What the payer pays on top, in atoms. */
    fees: {
      /** USDC atoms (6 decimals). */
      acquirer: number;
      /** USDC atoms (6 decimals). */
      protocol: number;
      /** USDC atoms (6 decimals). */
      cashback: number;
    };
  }>;
  /** Refunds of the period. */
  refunds: number;
  /** USDC atoms (6 decimals). */
  refunded: number;
  withdrawals: number;
  /** USDC atoms (6 decimals). */
  withdrawn: number;
  /** Gross less refunds and withdrawals; may be negative. */
  net: number;
}

export interface ReadHealthQuery {
  /** YYYY-MM-DD, a day in the account's time zone. */
  from: string;
  /** YYYY-MM-DD, a day in the account's time zone. */
  to: string;
}

export interface ReadHealthResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** YYYY-MM-DD, a day in the account's time zone. */
    day: string;
    /** Calls of the merchant API. */
    requests: number;
    /** Of them: answered with a 4xx. */
    refused: number;
    /** Of them: answered with a 5xx. */
    failed: number;
    /** Events of the day that receivers have taken. */
    delivered: number;
    /** Given up, or tried without success so far. */
    undelivered: number;
  }>;
}

export interface ReadTotalsQuery {
  /** The first day, YYYY-MM-DD. Default today. */
  from?: string;
  /** The last day (inclusive). Default `from`. */
  to?: string;
  /** When a shift began. Instead of `from`. */
  created_gte?: string;
  /** When the shift ended. Only with `created_gte`; default: it has not ended. */
  created_lt?: string;
  /** Default json. */
  format?: 'json' | 'csv';
}

export interface FollowEventsQuery {
  /** The id of an event: evt_… */
  last_event_id?: string;
}

export type FollowEventsResponse = Record<string, unknown>;

export interface ListRequestsQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only objects created at or after. */
  created_gte?: string;
  /** Only objects created before. */
  created_lt?: string;
  /** HTTP status. */
  status?: number;
  /** true: only statuses from 400 on. */
  failed?: boolean;
  /** true: only calls of the merchant API, not people or tills. */
  by_servers?: boolean;
  /** The operation, such as createPaymentIntent. */
  operation?: string;
  /** An API key, terminal or person. */
  caller?: string;
  /** Changes of this object. */
  object?: string;
}

export interface ListRequestsResponse {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: Array<{
    /** The id of a request: req_… */
    id: string;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
    caller: string | null;
    operation: string | null;
    method: string;
    path: string;
    /** Its state. The list may grow. */
    status: number;
    /** Six digits of the authenticator app, or a recovery code. */
    code: string | null;
    /** The object that it is about. */
    object_id: string | null;
    idempotency_key: string | null;
    /** The dated version of the API. */
    api_version: string;
    duration_ms: number;
    /** An address of the chain: 0x and 40 hexadecimal digits. */
    address: string;
    /** How the browser identifies itself. */
    user_agent: string | null;
  }>;
  /** Whether there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

export interface ReadRequestResponse {
  /** The id of a request: req_… */
  id: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  caller: string | null;
  operation: string | null;
  method: string;
  path: string;
  /** Its state. The list may grow. */
  status: number;
  /** Six digits of the authenticator app, or a recovery code. */
  code: string | null;
  /** The object that it is about. */
  object_id: string | null;
  idempotency_key: string | null;
  /** The dated version of the API. */
  api_version: string;
  duration_ms: number;
  /** An address of the chain: 0x and 40 hexadecimal digits. */
  address: string;
  /** How the browser identifies itself. */
  user_agent: string | null;
}

export interface CheckReceiverResponse {
  /** The type of the object. */
  object: 'receiver_check';
  /**
   * takes_old: it also takes an event that was signed ten minutes ago. takes_forged: it also takes
   * one that somebody else has signed. not_reached: it did not even take the good one.
   */
  verdict: 'checks_signatures' | 'takes_old' | 'takes_forged' | 'not_reached';
  delivery: WebhookDelivery;
  forged: {
    /** The receiver answered with a 2xx status. */
    taken: boolean;
    response_status: number | null;
    error: string | null;
    duration_ms: number;
  } | null;
  old: {
    /** The receiver answered with a 2xx status. */
    taken: boolean;
    response_status: number | null;
    error: string | null;
    duration_ms: number;
  } | null;
}

export interface ListUndeliveredQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only objects created at or after. */
  created_gte?: string;
  /** Only objects created before. */
  created_lt?: string;
}

export interface DashboardListPaymentIntentsQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only objects created at or after. */
  created_gte?: string;
  /** Only objects created before. */
  created_lt?: string;
  /** The id of a terminal: tml_… */
  terminal?: string;
  /** Who created it. */
  source?: 'api' | 'terminal';
  /**
   * 1 to 8 characters of A-Z a-z 0-9 - _; written on-chain; unique per account and mode; made from
   * the Idempotency-Key when left out.
   */
  order_id?: string;
  /** As it is now: an unpaid, expired one is canceled. */
  status?:
    | 'requires_payment_method'
    | 'requires_action'
    | 'processing'
    | 'succeeded'
    | 'canceled';
}

export interface DashboardListPaymentsQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only objects created at or after. */
  created_gte?: string;
  /** Only objects created before. */
  created_lt?: string;
  /** The id of a terminal: tml_… */
  terminal?: string;
  /** The id of a payment intent: pi_… */
  payment_intent?: string;
  /**
   * 1 to 8 characters of A-Z a-z 0-9 - _; written on-chain; unique per account and mode; made from
   * the Idempotency-Key when left out.
   */
  order_id?: string;
  /** How much was refunded. */
  status?: 'succeeded' | 'partially_refunded' | 'refunded';
}

export interface DashboardListEventsQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only objects created at or after. */
  created_gte?: string;
  /** Only objects created before. */
  created_lt?: string;
  /** An event type, or a family with .*, for example payment_intent.* */
  type?:
    | 'ping'
    | 'payment_intent.created'
    | 'payment_intent.requires_action'
    | 'payment_intent.processing'
    | 'payment_intent.succeeded'
    | 'payment_intent.canceled'
    | 'payment_intent.payment_failed'
    | 'payment.succeeded'
    | 'payment.refunded'
    | 'payment.cashback_paid'
    | 'refund.created'
    | 'refund.succeeded'
    | 'refund.failed'
    | 'refund.updated'
    | 'terminal.created'
    | 'terminal.updated'
    | 'kyb.status_changed'
    | 'balance.withdrawal_paid'
    | 'webhook_endpoint.disabled'
    | 'payment_intent.*'
    | 'payment.*'
    | 'refund.*'
    | 'terminal.*'
    | 'kyb.*'
    | 'balance.*'
    | 'webhook_endpoint.*';
  /** false: only events with a delivery that is pending or failed; true: only events without one. */
  delivery_success?: boolean;
}

export interface DashboardListWebhookEndpointsResponse {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: WebhookEndpoint[];
  /** Always false: the list has all endpoints. */
  has_more: boolean;
  /** Always null. */
  next_cursor: null;
}

export interface DashboardCreateWebhookEndpointBody {
  /**
   * https (in test mode also http), port 80, 443 or 1024 to 65535, no user name, password or
   * fragment, not at a private or reserved address.
   */
  url: string;
  /** Exact event types, families such as refund.*, or * for all. */
  enabled_events: string[];
  /** Up to 500 characters. */
  description?: string | null;
}

export interface DashboardListWebhookDeliveriesQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only deliveries of this status. */
  status?: 'pending' | 'succeeded' | 'failed';
}

export interface DashboardReplayWebhookEventsBody {
  /** Events created at or after. */
  since: string;
  /** Events created before. Default: now. */
  until?: string;
  /** Exact event types, families such as refund.*, or * for all. */
  types?: string[];
}

export interface DashboardTestTapTerminalBody {
  /** What the reader of the terminal read. */
  credential?: {
    /** What was read: the static chip of a pass, a SUN card, or a code of the wallet app. */
    type: 'nfc_id' | 'nfc_sun' | 'qr';
    /**
     * nfc_id: the credential of the pass (nfc_…). nfc_sun: the URL that the card gave. qr: what
     * the code says.
     */
    value: string;
  };
  /** The id of a payment intent: pi_… */
  payment_intent?: string;
  /**
   * USDC atoms on top of the amount of the sale, and at most that amount; sale and tip together
   * are at most 1000000000000. Only where the intent has `tipping`.
   */
  tip_amount?: number;
}

/** Every operation by method and path: what it takes, and what it answers. */
export interface Operations {
  /**
   * My session: user, accounts, CSRF token
   *
   * Needs: half_signed_in.
   */
  'GET /dashboard/v1/session': {
    id: 'merchantReadSession';
    response: MerchantReadSessionResponse;
  };
  /**
   * Sign in with e-mail address and password
   *
   * Sets the session cookie. If a second factor is set up, the status is second_factor_required,
   * and nothing else works before POST /session/second_factor.
   */
  'POST /dashboard/v1/session': {
    id: 'merchantSignIn';
    body: MerchantSignInBody;
    response: MerchantSignInResponse;
  };
  /**
   * Sign out
   *
   * Needs: half_signed_in.
   */
  'DELETE /dashboard/v1/session': {
    id: 'merchantSignOut';
    response: MerchantSignOutResponse;
  };
  /**
   * Prove the second factor with a code
   *
   * At sign-in, and again before a change that moves money or makes that possible: such routes
   * need a proof from the last five minutes.
   *
   * Needs: half_signed_in.
   */
  'POST /dashboard/v1/session/second_factor': {
    id: 'merchantProveSecondFactor';
    body: MerchantProveSecondFactorBody;
    response: MerchantProveSecondFactorResponse;
  };
  /**
   * Begin signing in with a passkey
   *
   * Begin signing in with a passkey
   */
  'POST /dashboard/v1/session/passkey_options': {
    id: 'merchantBeginPasskeySignIn';
    response: MerchantBeginPasskeySignInResponse;
  };
  /**
   * Sign in with a passkey
   *
   * Sign in with a passkey
   */
  'POST /dashboard/v1/session/passkey': {
    id: 'merchantSignInWithPasskey';
    body: MerchantSignInWithPasskeyBody;
    response: MerchantSignInWithPasskeyResponse;
  };
  /**
   * Begin proving the second factor with a passkey
   *
   * Needs: half_signed_in.
   */
  'POST /dashboard/v1/session/second_factor/passkey_options': {
    id: 'merchantBeginPasskeyFactor';
    response: MerchantBeginPasskeyFactorResponse;
  };
  /**
   * Prove the second factor with a passkey
   *
   * Needs: half_signed_in.
   */
  'POST /dashboard/v1/session/second_factor/passkey': {
    id: 'merchantProvePasskey';
    body: MerchantProvePasskeyBody;
    response: MerchantProvePasskeyResponse;
  };
  /**
   * Ask for a link to choose a new password
   *
   * The answer is the same whether or not there is such a user.
   */
  'POST /dashboard/v1/password_reset': {
    id: 'merchantRequestPasswordReset';
    body: MerchantRequestPasswordResetBody;
    response: MerchantRequestPasswordResetResponse;
  };
  /**
   * Choose a new password with the link
   *
   * Ends all sessions. Sign in afterwards; the second factor is still required.
   */
  'POST /dashboard/v1/password_reset/complete': {
    id: 'merchantCompletePasswordReset';
    body: MerchantCompletePasswordResetBody;
    response: MerchantCompletePasswordResetResponse;
  };
  /**
   * Change my password
   *
   * All my other sessions end.
   *
   * Needs: signed_in.
   */
  'POST /dashboard/v1/me/password': {
    id: 'merchantChangePassword';
    body: MerchantChangePasswordBody;
    response: MerchantChangePasswordResponse;
  };
  /**
   * Ask for a link to open an account
   *
   * The answer is the same whether the address is known already or not.
   */
  'POST /dashboard/v1/sign_up': {
    id: 'requestSignUp';
    body: RequestSignUpBody;
    response: RequestSignUpResponse;
  };
  /**
   * Open the account with the link
   *
   * Open the account with the link
   */
  'POST /dashboard/v1/sign_up/complete': {
    id: 'completeSignUp';
    body: CompleteSignUpBody;
    response: CompleteSignUpResponse;
  };
  /**
   * The account and role that an invitation link offers
   *
   * The account and role that an invitation link offers
   */
  'POST /dashboard/v1/invitations/lookup': {
    id: 'lookUpInvitation';
    body: LookUpInvitationBody;
    response: LookUpInvitationResponse;
  };
  /**
   * Join a team with an invitation link
   *
   * Existing users sign in first. For everybody else, name and password create a user.
   */
  'POST /dashboard/v1/invitations/accept': {
    id: 'acceptInvitation';
    body: AcceptInvitationBody;
    response: AcceptInvitationResponse;
  };
  /**
   * Change my name
   *
   * Needs: signed_in.
   */
  'PATCH /dashboard/v1/me': {
    id: 'merchantUpdateMe';
    body: MerchantUpdateMeBody;
    response: MerchantUpdateMeResponse;
  };
  /**
   * Where I am signed in
   *
   * Needs: signed_in.
   */
  'GET /dashboard/v1/sessions': {
    id: 'merchantListSessions';
    response: MerchantListSessionsResponse;
  };
  /**
   * Sign out everywhere, including here
   *
   * Needs: signed_in.
   */
  'DELETE /dashboard/v1/sessions': {
    id: 'merchantSignOutEverywhere';
    response: MerchantSignOutEverywhereResponse;
  };
  /**
   * End one of my sessions
   *
   * Needs: signed_in.
   */
  'DELETE /dashboard/v1/sessions/{id}': {
    id: 'merchantEndSession';
    path: { id: string };
    response: MerchantEndSessionResponse;
  };
  /**
   * Begin the set-up of an authenticator app
   *
   * Needs: signed_in.
   */
  'POST /dashboard/v1/me/totp': {
    id: 'merchantBeginTotp';
    body?: MerchantBeginTotpBody;
    response: MerchantBeginTotpResponse;
  };
  /**
   * Remove the authenticator app
   *
   * Needs: signed_in.
   */
  'DELETE /dashboard/v1/me/totp': {
    id: 'merchantRemoveTotp';
    response: MerchantRemoveTotpResponse;
  };
  /**
   * Confirm the authenticator app with its first code
   *
   * Returns ten recovery codes, only once. Each signs in once without the app.
   *
   * Needs: signed_in.
   */
  'POST /dashboard/v1/me/totp/confirm': {
    id: 'merchantConfirmTotp';
    body: MerchantConfirmTotpBody;
    response: MerchantConfirmTotpResponse;
  };
  /**
   * Ten new recovery codes; the old ones are void
   *
   * Needs: signed_in.
   */
  'POST /dashboard/v1/me/recovery_codes': {
    id: 'merchantReplaceRecoveryCodes';
    response: MerchantReplaceRecoveryCodesResponse;
  };
  /**
   * Confirm that the recovery codes are stored
   *
   * Needs: signed_in.
   */
  'POST /dashboard/v1/me/recovery_codes/saved': {
    id: 'merchantConfirmRecoveryCodesSaved';
    response: MerchantConfirmRecoveryCodesSavedResponse;
  };
  /**
   * My passkeys
   *
   * Needs: signed_in.
   */
  'GET /dashboard/v1/me/passkeys': {
    id: 'merchantListPasskeys';
    response: MerchantListPasskeysResponse;
  };
  /**
   * Add the passkey that the browser made
   *
   * Needs: signed_in.
   */
  'POST /dashboard/v1/me/passkeys': {
    id: 'merchantAddPasskey';
    body: MerchantAddPasskeyBody;
    response: MerchantAddPasskeyResponse;
  };
  /**
   * Begin adding a passkey
   *
   * Needs: signed_in.
   */
  'POST /dashboard/v1/me/passkeys/options': {
    id: 'merchantBeginPasskey';
    body?: MerchantBeginPasskeyBody;
    response: MerchantBeginPasskeyResponse;
  };
  /**
   * Remove a passkey
   *
   * Needs: signed_in.
   */
  'DELETE /dashboard/v1/me/passkeys/{id}': {
    id: 'merchantRemovePasskey';
    path: { id: string };
    response: MerchantRemovePasskeyResponse;
  };
  /**
   * Everything that is kept about me, in one document
   *
   * Secrets and their hashes are left out. Needs a second factor proven in the last five minutes,
   * or current_password as long as no second factor is set up.
   *
   * Needs: signed_in.
   */
  'POST /dashboard/v1/me/export': {
    id: 'merchantExportMyData';
    body?: MerchantExportMyDataBody;
    response: MerchantExportMyDataResponse;
  };
  /**
   * Erase me: name, address, factors, devices, sessions and memberships
   *
   * Cannot be undone. The audit log still says who did what, with the mail address of then. The
   * last owner of an account must first make somebody else owner, and an owner needs a second
   * factor. Needs a second factor proven in the last five minutes, or current_password as long as
   * no second factor is set up.
   *
   * Needs: signed_in.
   */
  'POST /dashboard/v1/me/erase': {
    id: 'merchantEraseMyData';
    body?: MerchantEraseMyDataBody;
    response: MerchantEraseMyDataResponse;
  };
  /**
   * The accounts that I belong to
   *
   * Needs: signed_in.
   */
  'GET /dashboard/v1/accounts': {
    id: 'listAccounts';
    response: ListAccountsResponse;
  };
  /**
   * Open another account, owned by me
   *
   * Needs: signed_in.
   */
  'POST /dashboard/v1/accounts': {
    id: 'createAccount';
    body: CreateAccountBody;
    response: CreateAccountResponse;
  };
  /**
   * The account, its settings and its modes
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}': {
    id: 'readAccount';
    path: { account: string };
    response: ReadAccountResponse;
  };
  /**
   * Change name, refund window, daily refund limit or time zone
   *
   * Needs: admin.
   */
  'PATCH /dashboard/v1/accounts/{account}': {
    id: 'updateAccount';
    path: { account: string };
    body: UpdateAccountBody;
    response: UpdateAccountResponse;
  };
  /**
   * The team
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/members': {
    id: 'listMembers';
    path: { account: string };
    response: ListMembersResponse;
  };
  /**
   * Change a member's role
   *
   * Making somebody an owner, or taking that role away, needs a fresh second factor. All owners
   * get a mail with a link that puts all payouts on hold.
   *
   * Needs: owner.
   */
  'PATCH /dashboard/v1/accounts/{account}/members/{user}': {
    id: 'changeRole';
    path: { account: string; user: string };
    body: ChangeRoleBody;
    response: ChangeRoleResponse;
  };
  /**
   * Remove a member from the team
   *
   * Removing an owner needs a fresh second factor. All owners get a mail.
   *
   * Needs: owner.
   */
  'DELETE /dashboard/v1/accounts/{account}/members/{user}': {
    id: 'removeMember';
    path: { account: string; user: string };
    response: RemoveMemberResponse;
  };
  /**
   * Leave the team
   *
   * An owner who leaves needs a fresh second factor. All owners get a mail.
   *
   * Needs: viewer.
   */
  'POST /dashboard/v1/accounts/{account}/leave': {
    id: 'leaveTeam';
    path: { account: string };
    response: LeaveTeamResponse;
  };
  /**
   * Invitations that are still open
   *
   * Needs: owner.
   */
  'GET /dashboard/v1/accounts/{account}/invitations': {
    id: 'listInvitations';
    path: { account: string };
    response: ListInvitationsResponse;
  };
  /**
   * Invite somebody by e-mail
   *
   * The link is valid for 7 days; a second invitation replaces the first. Inviting an owner needs
   * a fresh second factor.
   *
   * Needs: owner.
   */
  'POST /dashboard/v1/accounts/{account}/invitations': {
    id: 'inviteMember';
    path: { account: string };
    body: InviteMemberBody;
    response: InviteMemberResponse;
  };
  /**
   * Revoke an invitation
   *
   * Needs: owner.
   */
  'DELETE /dashboard/v1/accounts/{account}/invitations/{id}': {
    id: 'revokeInvitation';
    path: { account: string; id: string };
    response: RevokeInvitationResponse;
  };
  /**
   * Who changed what, newest first
   *
   * Needs: admin.
   */
  'GET /dashboard/v1/accounts/{account}/audit_log': {
    id: 'listAuditLog';
    path: { account: string };
    query?: ListAuditLogQuery;
    response: ListAuditLogResponse;
  };
  /**
   * The business verification
   *
   * Needs: admin.
   */
  'GET /dashboard/v1/accounts/{account}/kyb': {
    id: 'readVerification';
    path: { account: string };
    response: ReadVerificationResponse;
  };
  /**
   * Save the details of the business
   *
   * Needs: admin.
   */
  'PUT /dashboard/v1/accounts/{account}/kyb': {
    id: 'saveVerification';
    path: { account: string };
    body: SaveVerificationBody;
    response: SaveVerificationResponse;
  };
  /**
   * Submit the verification to the network operator
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/kyb/submit': {
    id: 'submitVerification';
    path: { account: string };
    response: SubmitVerificationResponse;
  };
  /**
   * Upload a document: the file itself is the body
   *
   * PDF, PNG or JPEG, up to 5 MiB.
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/kyb/documents': {
    id: 'uploadVerificationDocument';
    path: { account: string };
    query: UploadVerificationDocumentQuery;
    body: Blob;
    response: UploadVerificationDocumentResponse;
  };
  /**
   * The file of a document
   *
   * Needs: admin.
   */
  'GET /dashboard/v1/accounts/{account}/kyb/documents/{id}': {
    id: 'downloadVerificationDocument';
    path: { account: string; id: string };
    response: DownloadVerificationDocumentResponse;
  };
  /**
   * Remove a document that was not submitted
   *
   * Needs: admin.
   */
  'DELETE /dashboard/v1/accounts/{account}/kyb/documents/{id}': {
    id: 'removeVerificationDocument';
    path: { account: string; id: string };
    response: RemoveVerificationDocumentResponse;
  };
  /**
   * All API keys of the mode, newest first
   *
   * Needs: admin.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/api_keys': {
    id: 'listApiKeys';
    path: { account: string; mode: string };
    response: ListApiKeysResponse;
  };
  /**
   * Create an API key; it is shown only once
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/api_keys': {
    id: 'createApiKey';
    path: { account: string; mode: string };
    body: CreateApiKeyBody;
    response: CreateApiKeyResponse;
  };
  /**
   * Change name, scopes, allowlist or expiry
   *
   * Needs: admin.
   */
  'PATCH /dashboard/v1/accounts/{account}/{mode}/api_keys/{id}': {
    id: 'updateApiKey';
    path: { account: string; mode: string; id: string };
    body: UpdateApiKeyBody;
    response: UpdateApiKeyResponse;
  };
  /**
   * Replace a key by a new one with the same rights
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/api_keys/{id}/rotate': {
    id: 'rotateApiKey';
    path: { account: string; mode: string; id: string };
    body: RotateApiKeyBody;
    response: RotateApiKeyResponse;
  };
  /**
   * Revoke a key: it stops working within a second
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/api_keys/{id}/revoke': {
    id: 'revokeApiKey';
    path: { account: string; mode: string; id: string };
    response: RevokeApiKeyResponse;
  };
  /**
   * List the terminals of the key's mode, newest first
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/terminals': {
    id: 'dashboardListTerminals';
    path: { account: string; mode: string };
    query?: DashboardListTerminalsQuery;
    response: TerminalList;
  };
  /**
   * Add a terminal; its device key is shown only once
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/terminals': {
    id: 'createTerminal';
    path: { account: string; mode: string };
    body: CreateTerminalBody;
    response: CreateTerminalResponse;
  };
  /**
   * A terminal, with the version that an edit names
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/terminals/{id}': {
    id: 'dashboardRetrieveTerminal';
    path: { account: string; mode: string; id: string };
    response: DashboardRetrieveTerminalResponse;
  };
  /**
   * Change label or name
   *
   * Needs: member.
   */
  'PATCH /dashboard/v1/accounts/{account}/{mode}/terminals/{id}': {
    id: 'updateTerminal';
    path: { account: string; mode: string; id: string };
    body: UpdateTerminalBody;
    response: UpdateTerminalResponse;
  };
  /**
   * Activate a terminal: it takes payments
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/terminals/{id}/activate': {
    id: 'activateTerminal';
    path: { account: string; mode: string; id: string };
    response: ActivateTerminalResponse;
  };
  /**
   * Deactivate a terminal: it takes no payments
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/terminals/{id}/deactivate': {
    id: 'deactivateTerminal';
    path: { account: string; mode: string; id: string };
    response: DeactivateTerminalResponse;
  };
  /**
   * A new device key; the old one is void at once
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/terminals/{id}/rotate_device_key': {
    id: 'rotateDeviceKey';
    path: { account: string; mode: string; id: string };
    response: RotateDeviceKeyResponse;
  };
  /**
   * A short code that the terminal exchanges for a device key
   *
   * Works once, for ten minutes. The terminal’s current key becomes void when the code is used.
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/terminals/{id}/pairing_code': {
    id: 'createPairingCode';
    path: { account: string; mode: string; id: string };
    response: CreatePairingCodeResponse;
  };
  /**
   * A webhook endpoint, with the version that an edit names
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/webhook_endpoints/{id}': {
    id: 'dashboardRetrieveWebhookEndpoint';
    path: { account: string; mode: string; id: string };
    response: DashboardWebhookEndpoint;
  };
  /**
   * Change a webhook endpoint
   *
   * Fields that you leave out stay as they are.
   *
   * Needs: admin.
   */
  'PATCH /dashboard/v1/accounts/{account}/{mode}/webhook_endpoints/{id}': {
    id: 'dashboardUpdateWebhookEndpoint';
    path: { account: string; mode: string; id: string };
    body: DashboardUpdateWebhookEndpointBody;
    response: DashboardWebhookEndpoint;
  };
  /**
   * Delete a webhook endpoint
   *
   * Deliveries that are still pending are dropped.
   *
   * Needs: admin.
   */
  'DELETE /dashboard/v1/accounts/{account}/{mode}/webhook_endpoints/{id}': {
    id: 'dashboardDeleteWebhookEndpoint';
    path: { account: string; mode: string; id: string };
    response: DashboardDeleteWebhookEndpointResponse;
  };
  /**
   * Whether the account is live on this network
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/go_live': {
    id: 'readGoLive';
    path: { account: string; mode: string };
    response: ReadGoLiveResponse;
  };
  /**
   * Register on the settlement contract of the network
   *
   * An owner must have proven a second factor in the last five minutes. The chain answers within
   * seconds: read GET /go_live until the status is succeeded. A request of an admin is only
   * prepared: an owner has to confirm it within the hour. All owners get a mail.
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/go_live': {
    id: 'goLive';
    path: { account: string; mode: string };
    body: GoLiveBody;
    response: GoLiveResponse;
  };
  /**
   * The message that the settlement wallet signs (EIP-712)
   *
   * Needs: admin.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/go_live/consent': {
    id: 'readGoLiveConsent';
    path: { account: string; mode: string };
    query: ReadGoLiveConsentQuery;
    response: ReadGoLiveConsentResponse;
  };
  /**
   * Go live with the wallet that an admin has prepared
   *
   * Needs a second factor proven in the last five minutes.
   *
   * Needs: owner.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/go_live/confirm': {
    id: 'confirmGoLive';
    path: { account: string; mode: string };
    body: ConfirmGoLiveBody;
    response: ConfirmGoLiveResponse;
  };
  /**
   * Withdrawals, newest first
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/withdrawals': {
    id: 'listWithdrawals';
    path: { account: string; mode: string };
    query?: ListWithdrawalsQuery;
    response: ListWithdrawalsResponse;
  };
  /**
   * Pay out to the settlement wallet
   *
   * Needs a second factor proven in the last five minutes. Answers `pending`; the event
   * `balance.withdrawal_paid` follows. Send the same Idempotency-Key when you retry.
   *
   * Needs: owner.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/withdrawals': {
    id: 'createWithdrawal';
    path: { account: string; mode: string };
    idempotencyKey: 'required';
    body: CreateWithdrawalBody;
    response: CreateWithdrawalResponse;
  };
  /**
   * A withdrawal
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/withdrawals/{id}': {
    id: 'readWithdrawal';
    path: { account: string; mode: string; id: string };
    response: ReadWithdrawalResponse;
  };
  /**
   * List refunds, newest first
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/refunds': {
    id: 'dashboardListRefunds';
    path: { account: string; mode: string };
    query?: DashboardListRefundsQuery;
    response: RefundList;
  };
  /**
   * Refund a payment, wholly or in part
   *
   * Needs: member.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/refunds': {
    id: 'createDashboardRefund';
    path: { account: string; mode: string };
    idempotencyKey: 'required';
    body: CreateDashboardRefundBody;
    response: Refund;
  };
  /**
   * A refund, and why it waits
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/refunds/{id}': {
    id: 'dashboardRetrieveRefund';
    path: { account: string; mode: string; id: string };
    response: DashboardRefund;
  };
  /**
   * Give up a waiting refund
   *
   * Only for a refund that USDC currently refuses. It ends as `failed` with `transfer_blocked`,
   * and its amount can be refunded again.
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/refunds/{id}/end': {
    id: 'endRefund';
    path: { account: string; mode: string; id: string };
    response: Refund;
  };
  /**
   * Whether payouts are held after a change of owners
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/payout_hold': {
    id: 'readPayoutHold';
    path: { account: string };
    response: ReadPayoutHoldResponse;
  };
  /**
   * Lift the hold on payouts
   *
   * Needs a second factor proven in the last five minutes. All owners are told.
   *
   * Needs: owner.
   */
  'DELETE /dashboard/v1/accounts/{account}/payout_hold': {
    id: 'liftPayoutHold';
    path: { account: string };
    response: LiftPayoutHoldResponse;
  };
  /**
   * Where withdrawals go, and a change that is under way
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/settlement_wallet': {
    id: 'readSettlementWallet';
    path: { account: string; mode: string };
    response: ReadSettlementWalletResponse;
  };
  /**
   * Announce another settlement wallet
   *
   * Needs a second factor proven in the last five minutes. All owners get a mail. The contract
   * makes the wallet wait, and until then the change can be canceled. Refused for 72 hours after a
   * change of owners, and while payouts are held.
   *
   * Needs: owner.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/settlement_wallet': {
    id: 'changeSettlementWallet';
    path: { account: string; mode: string };
    body: ChangeSettlementWalletBody;
    response: ChangeSettlementWalletResponse;
  };
  /**
   * Cancel an announced change of the settlement wallet
   *
   * Needs: owner.
   */
  'DELETE /dashboard/v1/accounts/{account}/{mode}/settlement_wallet': {
    id: 'cancelWalletChange';
    path: { account: string; mode: string };
    response: CancelWalletChangeResponse;
  };
  /**
   * The message that the new wallet signs (EIP-712)
   *
   * Needs: owner.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/settlement_wallet/consent': {
    id: 'readWalletConsent';
    path: { account: string; mode: string };
    query: ReadWalletConsentQuery;
    response: ReadWalletConsentResponse;
  };
  /**
   * The risk policy of the mode
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/risk_settings': {
    id: 'readRiskSettings';
    path: { account: string; mode: string };
    response: ReadRiskSettingsResponse;
  };
  /**
   * Replace the risk policy of the mode
   *
   * Needs: admin.
   */
  'PUT /dashboard/v1/accounts/{account}/{mode}/risk_settings': {
    id: 'saveRiskSettings';
    path: { account: string; mode: string };
    body: SaveRiskSettingsBody;
    response: SaveRiskSettingsResponse;
  };
  /**
   * Wallets that this account does not sell to
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/blocked_payers': {
    id: 'listBlockedPayers';
    path: { account: string; mode: string };
    response: ListBlockedPayersResponse;
  };
  /**
   * Stop selling to this wallet
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/blocked_payers': {
    id: 'blockPayer';
    path: { account: string; mode: string };
    body: BlockPayerBody;
    response: BlockPayerResponse;
  };
  /**
   * Sell to this wallet again
   *
   * Needs: admin.
   */
  'DELETE /dashboard/v1/accounts/{account}/{mode}/blocked_payers/{address}': {
    id: 'unblockPayer';
    path: { account: string; mode: string; address: string };
    response: UnblockPayerResponse;
  };
  /**
   * What a risk policy would have done to the payments of the last seven days
   *
   * A rule that is left out is switched off. Payments are replayed in their order: one that would
   * have been stopped does not count for later ones. That some payers always want to confirm their
   * first payment is left out.
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/risk_settings/preview': {
    id: 'previewRiskSettings';
    path: { account: string; mode: string };
    query?: PreviewRiskSettingsQuery;
    response: PreviewRiskSettingsResponse;
  };
  /**
   * Find objects by id, order id, transaction, wallet or amount
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/search': {
    id: 'search';
    path: { account: string; mode: string };
    query: SearchQuery;
    response: SearchResponse;
  };
  /**
   * Payments by order id, transaction, wallet, amount, terminal and time, newest first
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/payments/search': {
    id: 'searchPayments';
    path: { account: string; mode: string };
    query?: SearchPaymentsQuery;
    response: PaymentList;
  };
  /**
   * Payment intents by the code of their last decline, newest first
   *
   * Includes intents that were paid after the decline.
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/declined_payment_intents': {
    id: 'listDeclinedPaymentIntents';
    path: { account: string; mode: string };
    query: ListDeclinedPaymentIntentsQuery;
    response: PaymentIntentList;
  };
  /**
   * All payments of a period, newest first, as a file
   *
   * The period is the days `from` to `to`, or from `created_gte` until before `created_lt`. CSV
   * (RFC 4180; a cell that a spreadsheet would run as a formula gets an apostrophe in front) or
   * JSON Lines. Streams any number of rows. If the answer breaks off, send the id of the last
   * whole row as `after`: the rest follows, without a header. The header `Oldest-Row` is the id of
   * the last row of the file (`none` if it has no rows), `Oldest-Row-Created` its time.
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/exports/payments': {
    id: 'export_payments';
    path: { account: string; mode: string };
    query?: ExportPaymentsQuery;
    response: ExportPaymentsResponse;
  };
  /**
   * All payment intents of a period, newest first, as a file
   *
   * The period is the days `from` to `to`, or from `created_gte` until before `created_lt`. CSV
   * (RFC 4180; a cell that a spreadsheet would run as a formula gets an apostrophe in front) or
   * JSON Lines. Streams any number of rows. If the answer breaks off, send the id of the last
   * whole row as `after`: the rest follows, without a header. The header `Oldest-Row` is the id of
   * the last row of the file (`none` if it has no rows), `Oldest-Row-Created` its time.
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/exports/payment_intents': {
    id: 'export_payment_intents';
    path: { account: string; mode: string };
    query?: ExportPaymentIntentsQuery;
    response: ExportPaymentIntentsResponse;
  };
  /**
   * All refunds of a period, newest first, as a file
   *
   * The period is the days `from` to `to`, or from `created_gte` until before `created_lt`. CSV
   * (RFC 4180; a cell that a spreadsheet would run as a formula gets an apostrophe in front) or
   * JSON Lines. Streams any number of rows. If the answer breaks off, send the id of the last
   * whole row as `after`: the rest follows, without a header. The header `Oldest-Row` is the id of
   * the last row of the file (`none` if it has no rows), `Oldest-Row-Created` its time.
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/exports/refunds': {
    id: 'export_refunds';
    path: { account: string; mode: string };
    query?: ExportRefundsQuery;
    response: ExportRefundsResponse;
  };
  /**
   * All withdrawals of a period, newest first, as a file
   *
   * The period is the days `from` to `to`, or from `created_gte` until before `created_lt`. CSV
   * (RFC 4180; a cell that a spreadsheet would run as a formula gets an apostrophe in front) or
   * JSON Lines. Streams any number of rows. If the answer breaks off, send the id of the last
   * whole row as `after`: the rest follows, without a header. The header `Oldest-Row` is the id of
   * the last row of the file (`none` if it has no rows), `Oldest-Row-Created` its time.
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/exports/withdrawals': {
    id: 'export_withdrawals';
    path: { account: string; mode: string };
    query?: ExportWithdrawalsQuery;
    response: ExportWithdrawalsResponse;
  };
  /**
   * Volume, counts, success rate, declines and time to settle, by day and terminal
   *
   * Days without activity are left out. At most 367 days. Times to settle are rounded to three
   * significant digits.
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/statistics': {
    id: 'readStatistics';
    path: { account: string; mode: string };
    query: ReadStatisticsQuery;
    response: ReadStatisticsResponse;
  };
  /**
   * What one day added to the balance and took out of it
   *
   * The day is one in the account's time zone.
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/reports/daily/{day}': {
    id: 'readDailyReport';
    path: { account: string; mode: string; day: string };
    response: ReadDailyReportResponse;
  };
  /**
   * Failure rates of the API and of webhooks, by day
   *
   * Days without activity are left out. At most 31 days.
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/health': {
    id: 'readHealth';
    path: { account: string; mode: string };
    query: ReadHealthQuery;
    response: ReadHealthResponse;
  };
  /**
   * Totals by terminal and cashier: sales, tips, refunds, declines
   *
   * Of days in the account's time zone, or of a shift. With `format=csv` a CSV file.
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/totals': {
    id: 'readTotals';
    path: { account: string; mode: string };
    query?: ReadTotalsQuery;
    response: Totals;
  };
  /**
   * Events as they happen, as server-sent events
   *
   * After a lost connection the browser sends Last-Event-ID and misses nothing of the last 30
   * days. Without it the feed begins now. Ends every five minutes, and within a second when the
   * session or the membership ends; browsers reconnect by themselves.
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/feed': {
    id: 'followEvents';
    path: { account: string; mode: string };
    query?: FollowEventsQuery;
    response: FollowEventsResponse;
  };
  /**
   * Requests of the last 30 days, newest first
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/request_log': {
    id: 'listRequests';
    path: { account: string; mode: string };
    query?: ListRequestsQuery;
    response: ListRequestsResponse;
  };
  /**
   * One request
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/request_log/{id}': {
    id: 'readRequest';
    path: { account: string; mode: string; id: string };
    response: ReadRequestResponse;
  };
  /**
   * What happened to a payment intent on the chain, its events, and their deliveries
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/payment_intents/{id}/timeline': {
    id: 'readTimeline';
    path: { account: string; mode: string; id: string };
    response: Timeline;
  };
  /**
   * Find out whether the receiver verifies signatures
   *
   * Sends a ping that is signed as always. If the receiver accepts it, two more follow: one is
   * signed with another secret, the other ten minutes ago. The receiver should refuse both. The
   * check takes at most 20 s.
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/webhook_endpoints/{id}/check_receiver': {
    id: 'checkReceiver';
    path: { account: string; mode: string; id: string };
    response: CheckReceiverResponse;
  };
  /**
   * Deliveries that no receiver has taken, over all endpoints, newest event first
   *
   * Those that were given up, and those that were tried without success so far. `created_gte` and
   * `created_lt` are times of the events.
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/undelivered': {
    id: 'listUndelivered';
    path: { account: string; mode: string };
    query?: ListUndeliveredQuery;
    response: WebhookDeliveryList;
  };
  /**
   * List payment intents, newest first
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/payment_intents': {
    id: 'dashboardListPaymentIntents';
    path: { account: string; mode: string };
    query?: DashboardListPaymentIntentsQuery;
    response: PaymentIntentList;
  };
  /**
   * Retrieve a payment intent
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/payment_intents/{id}': {
    id: 'dashboardRetrievePaymentIntent';
    path: { account: string; mode: string; id: string };
    response: PaymentIntent;
  };
  /**
   * Cancel an unpaid payment intent
   *
   * Possible until the settlement is sent or the payer has confirmed. Canceling a canceled intent
   * returns it unchanged.
   *
   * Needs: member.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/payment_intents/{id}/cancel': {
    id: 'dashboardCancelPaymentIntent';
    path: { account: string; mode: string; id: string };
    idempotencyKey: 'optional';
    response: PaymentIntent;
  };
  /**
   * List payments, newest first
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/payments': {
    id: 'dashboardListPayments';
    path: { account: string; mode: string };
    query?: DashboardListPaymentsQuery;
    response: PaymentList;
  };
  /**
   * Retrieve a payment
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/payments/{id}': {
    id: 'dashboardRetrievePayment';
    path: { account: string; mode: string; id: string };
    response: Payment;
  };
  /**
   * Retrieve the balance
   *
   * Settled USDC that the settlement contract of the key’s network holds for the merchant.
   * Withdrawals to the settlement wallet are made in the dashboard.
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/balance': {
    id: 'dashboardRetrieveBalance';
    path: { account: string; mode: string };
    response: Balance;
  };
  /**
   * List the events of the last 30 days, newest first
   *
   * The same objects that webhooks deliver. To catch up after downtime, walk the list with
   * delivery_success=false, or with created_gte from your last event on.
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/events': {
    id: 'dashboardListEvents';
    path: { account: string; mode: string };
    query?: DashboardListEventsQuery;
    response: EventList;
  };
  /**
   * Retrieve an event
   *
   * Byte for byte what webhooks deliver.
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/events/{id}': {
    id: 'dashboardRetrieveEvent';
    path: { account: string; mode: string; id: string };
    response: Event;
  };
  /**
   * List all webhook endpoints of the mode
   *
   * At most 16, in one list, newest first.
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/webhook_endpoints': {
    id: 'dashboardListWebhookEndpoints';
    path: { account: string; mode: string };
    response: DashboardListWebhookEndpointsResponse;
  };
  /**
   * Create a webhook endpoint
   *
   * The answer carries the signing secret, once.
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/webhook_endpoints': {
    id: 'dashboardCreateWebhookEndpoint';
    path: { account: string; mode: string };
    body: DashboardCreateWebhookEndpointBody;
    response: WebhookEndpointWithSecret;
  };
  /**
   * Rotate the signing secret
   *
   * For 24 hours deliveries are signed with both secrets.
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/webhook_endpoints/{id}/rotate_secret': {
    id: 'dashboardRotateWebhookSecret';
    path: { account: string; mode: string; id: string };
    response: WebhookEndpointWithSecret;
  };
  /**
   * List the deliveries of an endpoint, newest event first
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/webhook_endpoints/{id}/deliveries': {
    id: 'dashboardListWebhookDeliveries';
    path: { account: string; mode: string; id: string };
    query?: DashboardListWebhookDeliveriesQuery;
    response: WebhookDeliveryList;
  };
  /**
   * Retrieve a delivery
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/webhook_deliveries/{id}': {
    id: 'dashboardRetrieveWebhookDelivery';
    path: { account: string; mode: string; id: string };
    response: WebhookDelivery;
  };
  /**
   * Send a delivery again at once
   *
   * Works in every status; the count of attempts continues. Read the delivery again to see the
   * result.
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/webhook_deliveries/{id}/retry': {
    id: 'dashboardRetryWebhookDelivery';
    path: { account: string; mode: string; id: string };
    response: WebhookDelivery;
  };
  /**
   * Send a test event to an endpoint
   *
   * A `ping` event, sent once; the answer is its delivery, with the result.
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/webhook_endpoints/{id}/test': {
    id: 'dashboardTestWebhookEndpoint';
    path: { account: string; mode: string; id: string };
    response: WebhookDelivery;
  };
  /**
   * Send the events of a period again
   *
   * Every event from `since` to `until` of `types` (default: what the endpoint listens to) is
   * queued for the endpoint, whether or not it was delivered before. The service does this in
   * portions and goes on after a restart; follow the replay by its id.
   *
   * Needs: admin.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/webhook_endpoints/{id}/replay': {
    id: 'dashboardReplayWebhookEvents';
    path: { account: string; mode: string; id: string };
    body: DashboardReplayWebhookEventsBody;
    response: WebhookReplay;
  };
  /**
   * Retrieve a replay
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/webhook_replays/{id}': {
    id: 'dashboardRetrieveWebhookReplay';
    path: { account: string; mode: string; id: string };
    response: WebhookReplay;
  };
  /**
   * As if a customer tapped a pass on the terminal
   *
   * Default: the demo pass `ok` on the oldest open intent of the terminal.
   *
   * Needs: member.
   */
  'POST /dashboard/v1/accounts/{account}/{mode}/test_helpers/terminals/{id}/tap': {
    id: 'dashboardTestTapTerminal';
    path: { account: string; mode: string; id: string };
    idempotencyKey: 'optional';
    body?: DashboardTestTapTerminalBody;
    response: PaymentIntent;
  };
  /**
   * The test clock of this account's test mode
   *
   * Needs: viewer.
   */
  'GET /dashboard/v1/accounts/{account}/{mode}/test_helpers/clock': {
    id: 'dashboardTestReadClock';
    path: { account: string; mode: string };
    response: TestClock;
  };
}
