// Generated from openapi/device.json by `npm run types`. Do not edit.

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

export interface Device {
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
  /** The name of the merchant. */
  merchant_name: string;
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
  /**
   * Show it as a QR code: anybody who opens it can pay with any wallet. null while the payment
   * cannot be paid.
   */
  payment_url: string | null;
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

export interface TestPasses {
  /** Passes of the payer. */
  passes: Array<{
    /** As in sandbox.json. */
    name: string;
    /** What the reader would read: nfc_… */
    credential: string;
  }>;
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

export interface NextPaymentIntentQuery {
  /**
   * Seconds to wait for a change, 0 to 25. Default 0.
   *
   * @default 0
   */
  wait?: number;
}

export interface WatchPaymentIntentQuery {
  /**
   * Seconds to wait for a change, 0 to 25. Default 0.
   *
   * @default 0
   */
  wait?: number;
  /** The status that the terminal shows: answers once it is another. */
  status?:
    | 'requires_payment_method'
    | 'requires_action'
    | 'processing'
    | 'succeeded'
    | 'canceled';
}

export interface CreateCashierPaymentIntentBody {
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  amount: number;
  /**
   * 1 to 8 characters of A-Z a-z 0-9 - _; written on-chain; unique per account and mode; made from
   * the Idempotency-Key when left out.
   */
  order_id?: string;
  /** Up to 500 characters. */
  description?: string;
  /** 1 to 64 characters of A-Z a-z 0-9 - _; the same for all intents of one bill. */
  split_group?: string;
  /** Who is at the till, 1 to 40 characters: `cashier` in `metadata`. */
  cashier?: string;
  /** The tips that the terminal offers its customer. null: none can be given. */
  tipping?: {
    /** 1 to 3 of them, in the order they are shown. */
    percentages: number[];
  } | null;
}

export interface TapPaymentIntentBody {
  /** What the reader of the terminal read. */
  credential: {
    /** What was read: the static chip of a pass, a SUN card, or a code of the wallet app. */
    type: 'nfc_id' | 'nfc_sun' | 'qr';
    /**
     * nfc_id: the credential of the pass (nfc_…). nfc_sun: the URL that the card gave. qr: what
     * the code says.
     */
    value: string;
  };
  /**
   * USDC atoms on top of the amount of the sale, and at most that amount; sale and tip together
   * are at most 1000000000000. Only where the intent has `tipping`.
   */
  tip_amount?: number;
}

export interface ListDevicePaymentsQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
}

export interface CreateDeviceRefundBody {
  /** The id of a payment: pay_… */
  payment: string;
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  amount?: number;
  /** Up to 500 characters. */
  reason?: string;
  /** Who is at the till, 1 to 40 characters: `cashier` in `metadata`. */
  cashier?: string;
}

export interface RetrieveDeviceTotalsQuery {
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

export interface PairDeviceBody {
  /** The code that the dashboard shows, with or without its dash. */
  code: string;
}

export interface PairDeviceResponse {
  /** The id of a terminal: tml_… */
  terminal: string;
  /** The device key (tldk_…). Shown only once. */
  device_key: string;
}

/** Every operation by method and path: what it takes, and what it answers. */
export interface Operations {
  /**
   * This terminal, its merchant and network
   *
   * This terminal, its merchant and network
   */
  'GET /device/v1/terminal': {
    id: 'retrieveDevice';
    response: Device;
  };
  /**
   * The oldest open payment intent addressed to this terminal
   *
   * A long poll: it answers as soon as there is one, or 204 after `wait` seconds.
   */
  'GET /device/v1/payment_intents/next': {
    id: 'nextPaymentIntent';
    query?: NextPaymentIntentQuery;
    response: PaymentIntent | null;
  };
  /**
   * A payment intent of this terminal
   *
   * With `wait` this is a long poll: it answers as soon as the status differs from `status`.
   */
  'GET /device/v1/payment_intents/{id}': {
    id: 'watchPaymentIntent';
    path: { id: string };
    query?: WatchPaymentIntentQuery;
    response: PaymentIntent;
  };
  /**
   * A payment that the cashier starts on this terminal
   *
   * A payment that the cashier starts on this terminal
   */
  'POST /device/v1/payment_intents': {
    id: 'createCashierPaymentIntent';
    idempotencyKey: 'required';
    body: CreateCashierPaymentIntentBody;
    response: PaymentIntent;
  };
  /**
   * Pay an intent of this terminal with the pass that was tapped
   *
   * Pay an intent of this terminal with the pass that was tapped
   */
  'POST /device/v1/payment_intents/{id}/tap': {
    id: 'tapPaymentIntent';
    path: { id: string };
    idempotencyKey: 'required';
    body: TapPaymentIntentBody;
    response: PaymentIntent;
  };
  /**
   * Cancel an unpaid intent of this terminal
   *
   * Cancel an unpaid intent of this terminal
   */
  'POST /device/v1/payment_intents/{id}/cancel': {
    id: 'cancelDevicePaymentIntent';
    path: { id: string };
    idempotencyKey: 'optional';
    response: PaymentIntent;
  };
  /**
   * This terminal's payments, newest first
   *
   * This terminal's payments, newest first
   */
  'GET /device/v1/payments': {
    id: 'listDevicePayments';
    query?: ListDevicePaymentsQuery;
    response: PaymentList;
  };
  /**
   * Refund a payment of this terminal
   *
   * Refund a payment of this terminal
   */
  'POST /device/v1/refunds': {
    id: 'createDeviceRefund';
    idempotencyKey: 'required';
    body: CreateDeviceRefundBody;
    response: Refund;
  };
  /**
   * The passes of the sandbox, to play the customer with
   *
   * In test mode of a sandbox only; 404 anywhere else.
   */
  'GET /device/v1/test_passes': {
    id: 'listTestPasses';
    response: TestPasses;
  };
  /**
   * This terminal's totals by cashier: sales, tips, refunds, declines
   *
   * Of days in the account's time zone, or of a shift. With `format=csv` a CSV file.
   */
  'GET /device/v1/totals': {
    id: 'retrieveDeviceTotals';
    query?: RetrieveDeviceTotalsQuery;
    response: Totals;
  };
  /**
   * Exchange a pairing code for a device key
   *
   * Without authentication. Works once per code; earlier keys of the terminal end.
   */
  'POST /device/v1/pair': {
    id: 'pairDevice';
    body: PairDeviceBody;
    response: PairDeviceResponse;
  };
}
