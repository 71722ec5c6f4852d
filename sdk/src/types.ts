// Generated from openapi.json by `npm run openapi`. Do not edit.

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
    /** A message in words. Its text may change. */
    message: string;
    /** The parameter that the error concerns. */
    param: string | null;
    /** Quote it when you ask for help. */
    request_id: string;
    /** The reference page of the code. */
    doc_url: string;
  };
}

/** A request to be paid once, and its progress. */
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
  /**
   * The sum in the shop’s currency, and the rate that was locked for it. `total` and `fees` are
   * what a pass would pay now, and `null` while the service does not know the fees. Once the
   * intent is paid, this is the payment’s object. `null` for a sale in USDC.
   */
  presentment: {
    /** An ISO 4217 currency code, in lowercase. */
    currency: string;
    /** Minor units of the currency: cents of EUR, whole JPY, thousandths of KWD. */
    amount: number;
    /** USDC for one unit of the currency, as decimal text. It never changes. */
    rate: string;
    /** The time of the rate: the older of its two sources’ times. */
    quoted_at: string;
    /** The source of the rate. In a sandbox it says that the rate is made up. */
    source: string;
    /**
     * Only of a sale that a till accepted offline: by how many basis points its rate is above the
     * market’s.
     */
    margin?: number;
    /** The quote ends when the payment intent expires. */
    expires_at: string;
    /**
     * What the customer pays, in minor units: the larger of price + tip and the USDC that leave
     * the wallet (`total_charged` − `fees.cashback`) ÷ `rate`, half a unit rounded up.
     */
    total: number | null;
    /** The service fee, in minor units: `total` − `amount` − the tip. */
    fees: number | null;
    /** The tip by the same rate, in minor units on top of `amount`, or 0. */
    tip_amount?: number;
  } | null;
  /**
   * The lines of the sale, as the request sent them. `null` if it sent none, and for a payment
   * that was rebuilt after a loss of data.
   */
  line_items: Array<{
    /** The name of the sold item, 1 to 200 characters. */
    name: string;
    /** As it was sent: an integer, or decimal text. */
    quantity: number | string;
    /**
     * The unit price, in minor units of the presentment currency, or in USDC atoms for a sale
     * without `presentment`. Below 0 for a deposit that is given back, or a voucher; the sum of
     * the sale stays above 0.
     */
    unit_amount: number;
    /** The tax rate in basis points: 700 is 7 %. */
    tax_rate: number;
    /** Whether `unit_amount` includes the tax. If not, the tax is added to the price. */
    tax_inclusive: boolean;
    /** The discount on this line, as a sum. */
    discount: number;
    /** The basis points of the discount; `null` if it is a sum. */
    discount_rate: number | null;
    /** The name of the discount, 1 to 60 characters. */
    discount_name: string | null;
    /** The id of a catalog item: item_… */
    item: string | null;
    /** The category of the item when it was sold. */
    category: string | null;
  }> | null;
  /**
   * The discount on the whole sale, in minor units of the presentment currency, or in USDC atoms
   * for a sale without `presentment`.
   */
  discount: number;
  /** The basis points of the discount; `null` if it is a sum. */
  discount_rate: number | null;
  /** The name of the discount, 1 to 60 characters. */
  discount_name: string | null;
  /** The tips that the terminal offers its customer. `null` if the customer cannot tip. */
  tipping: {
    /** 1 to 3 percentages, in the order they are shown. */
    percentages: number[];
  } | null;
  /** The tip paid on top of the amount; `null` until paid. */
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
  /** The location of the terminal when the sale was created; `null` if it had none. */
  location: string | null;
  /**
   * 1 to 8 characters of A-Z a-z 0-9 - _; written on-chain; unique per account and mode; generated
   * from the Idempotency-Key if omitted.
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
  /** Set only for a sale that a till had accepted offline. */
  offline: {
    /** The id of an offline payment: ofp_… */
    id: string;
    /** By the till’s clock. */
    accepted_at: string;
  } | null;
  /** The id of a payment: pay_… */
  payment: string | null;
  /** Hash of the settlement transaction. */
  tx_hash: string | null;
  /** The step that the customer must take before the payment can continue. */
  next_action: {
    /** The next step. */
    type: 'payer_confirmation';
    /** The rule that asked for confirmation. The list may grow. */
    reason_code: string;
    /** ISO 8601 UTC with milliseconds. */
    expires_at: string;
  } | null;
  /** The reason why the last payment was declined. */
  last_payment_error: {
    /** The type of the error. */
    type: 'payment_error';
    /** See decline_code for the reason. */
    code: 'payment_declined';
    /** The reason. The list may grow. */
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
    /** A message for the customer, in plain words. Its text may change. */
    customer_message: string;
  } | null;
  /** The list may grow. */
  cancellation_reason: 'requested_by_merchant' | 'expired' | 'recovered' | null;
  /** ISO 8601 UTC with milliseconds. */
  canceled_at: string | null;
  /** Intents of one split bill carry the same value. */
  split_group: string | null;
  /** The person signed in at the till (`POST /shift`); `null` if none. */
  cashier: string | null;
  /** ISO 8601 UTC with milliseconds. */
  picked_up_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  tapped_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Only on objects that the service had lost with its database and rebuilt from the chain. Data
   * that is not on the chain (metadata, description, terminal, method) is lost.
   */
  recovered?: true;
}

/** One page of the list. */
export interface PaymentIntentList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: PaymentIntent[];
  /** True if there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** A settled payment. */
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
  /**
   * The sum in the shop’s currency, and the rate that was locked for it, with the tip. `null` for
   * a sale in USDC.
   */
  presentment: {
    /** An ISO 4217 currency code, in lowercase. */
    currency: string;
    /** Minor units of the currency: cents of EUR, whole JPY, thousandths of KWD. */
    amount: number;
    /** USDC for one unit of the currency, as decimal text. It never changes. */
    rate: string;
    /** The time of the rate: the older of its two sources’ times. */
    quoted_at: string;
    /** The source of the rate. In a sandbox it says that the rate is made up. */
    source: string;
    /**
     * Only of a sale that a till accepted offline: by how many basis points its rate is above the
     * market’s.
     */
    margin?: number;
    /** The quote ends when the payment intent expires. */
    expires_at: string;
    /**
     * What the customer pays, in minor units: the larger of price + tip and the USDC that leave
     * the wallet (`total_charged` − `fees.cashback`) ÷ `rate`, half a unit rounded up.
     */
    total: number;
    /** The service fee, in minor units: `total` − `amount` − the tip. */
    fees: number;
    /** The tip by the same rate, in minor units on top of `amount`, or 0. */
    tip_amount: number;
  } | null;
  /**
   * USDC for one unit of the shop’s currency when it was booked, as decimal text. `null` until
   * then, for a shop without a currency, and after a loss of data.
   */
  shop_rate: string | null;
  /**
   * The lines of the sale, as the request sent them. `null` if it sent none, and for a payment
   * that was rebuilt after a loss of data.
   */
  line_items: Array<{
    /** The name of the sold item, 1 to 200 characters. */
    name: string;
    /** As it was sent: an integer, or decimal text. */
    quantity: number | string;
    /**
     * The unit price, in minor units of the presentment currency, or in USDC atoms for a sale
     * without `presentment`. Below 0 for a deposit that is given back, or a voucher; the sum of
     * the sale stays above 0.
     */
    unit_amount: number;
    /** The tax rate in basis points: 700 is 7 %. */
    tax_rate: number;
    /** Whether `unit_amount` includes the tax. If not, the tax is added to the price. */
    tax_inclusive: boolean;
    /** The discount on this line, as a sum. */
    discount: number;
    /** The basis points of the discount; `null` if it is a sum. */
    discount_rate: number | null;
    /** The name of the discount, 1 to 60 characters. */
    discount_name: string | null;
    /** The id of a catalog item: item_… */
    item: string | null;
    /** The category of the item when it was sold. */
    category: string | null;
  }> | null;
  /**
   * The discount on the whole sale, in minor units of the presentment currency, or in USDC atoms
   * for a sale without `presentment`.
   */
  discount: number;
  /** The basis points of the discount; `null` if it is a sum. */
  discount_rate: number | null;
  /** The name of the discount, 1 to 60 characters. */
  discount_name: string | null;
  /**
   * A row for each tax rate, lowest first, in minor units of the presentment currency, or in USDC
   * atoms for a sale without `presentment`. Tips have no tax and are in no row. `null` for a sale
   * without lines.
   */
  taxes: Array<{
    /** The tax rate in basis points: 700 is 7 %. */
    rate: number;
    /** The amount without tax. */
    net: number;
    /** The tax. */
    tax: number;
    /** Net and tax. */
    gross: number;
  }> | null;
  /** The part of the amount that is a tip; 0 without a tip. */
  tip: number;
  /** USDC atoms (6 decimals). */
  amount_refunded: number;
  /** The list may grow. */
  status: 'succeeded' | 'partially_refunded' | 'refunded';
  /** A message for the customer, in plain words. Its text may change. */
  customer_message: string;
  /** Paid by the payer on top of the amount. */
  fees: {
    /** The fee of the acquirer. USDC atoms. */
    acquirer: number;
    /** The fee of the network, including the cashback. USDC atoms. */
    protocol: number;
    /** The part of the protocol fee that the payer gets back. USDC atoms. */
    cashback: number;
  };
  /** The total that the payer paid: amount, acquirer fee and protocol fee. */
  total_charged: number;
  /** Credited to the merchant: the whole amount. */
  net: number;
  /** The status of the cashback in `fees`. */
  cashback_status: 'none' | 'pending' | 'paid';
  /** The payer's address. */
  payer: string;
  /**
   * 1 to 8 characters of A-Z a-z 0-9 - _; written on-chain; unique per account and mode; generated
   * from the Idempotency-Key if omitted.
   */
  order_id: string;
  /** The id of a terminal: tml_… */
  terminal: string;
  /** The location of the terminal when the sale was created; `null` if it had none. */
  location: string | null;
  /** The id of a payment intent: pi_… */
  payment_intent: string;
  /** The means of payment that the customer used. */
  payment_method: {
    /** The way it was paid. The list may grow. */
    type: 'wallet_pass' | 'wallet' | 'agent_token' | 'unknown';
    /** The kind of credential that was presented. The list may grow. */
    credential:
      | 'nfc_id'
      | 'nfc_sun'
      | 'qr'
      | 'rotating_code'
      | 'smart_tap'
      | 'apple_vas'
      | 'authorization'
      | 'chip'
      | 'agent_token'
      | 'unknown';
  };
  /** Intents of one split bill carry the same value. */
  split_group: string | null;
  /** The person signed in at the till (`POST /shift`); `null` if none. */
  cashier: string | null;
  /** A page for the customer, with the on-chain proof. Its address cannot be guessed. */
  receipt_url: string | null;
  /**
   * The number printed on the receipt: the prefix of the terminal’s series, and 1, 2, 3 … without
   * gaps. Refunds have their own series, which begin with R. After a loss of data every series
   * restarts with another prefix. `null` if there is none yet.
   */
  receipt_number: string | null;
  /** The id of the blockchain. */
  chain_id: number;
  /** Hash of the settlement transaction. */
  tx_hash: string;
  /** The block that settled the payment. */
  block_number: number;
  /** The log index of its event in the block. */
  log_index: number;
  /** ISO 8601 UTC with milliseconds. */
  settled_at: string;
  /** ISO 8601 UTC with milliseconds. */
  refundable_until: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Only on objects that the service had lost with its database and rebuilt from the chain. Data
   * that is not on the chain (metadata, description, terminal, method) is lost.
   */
  recovered?: true;
}

/** One page of the list. */
export interface PaymentList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: Payment[];
  /** True if there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** A sale that a till accepted offline, and its result. */
export interface OfflinePayment {
  /** The id of an offline payment: ofp_… */
  id: string;
  /** The type of the object. */
  object: 'offline_payment';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** processing: the chain has not decided. The list may grow. */
  status: 'processing' | 'succeeded' | 'bounced';
  /** Why it was not paid; `null` unless bounced. The list may grow. */
  bounce_reason:
    | 'insufficient_funds'
    | 'authorization_expired'
    | 'authorization_used'
    | 'authorization_invalid'
    | 'rates_changed'
    | 'blocked'
    | 'limit_exceeded'
    | 'already_paid'
    | 'wallet_refuses'
    | null;
  /** The id of a payment intent: pi_… */
  payment_intent: string | null;
  /** The id of a payment: pay_… */
  payment: string | null;
  /** The nonce of the authorization. With network and wallet it is the identity. */
  nonce: string;
  /** The id of a terminal: tml_… */
  terminal: string;
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  amount: number;
  /** The price in the shop’s currency; `null` for a sale in USDC. */
  presentment: {
    /** An ISO 4217 currency code, in lowercase. */
    currency: string;
    /** Minor units of the currency. */
    amount: number;
    /** USDC for one unit of the currency, as decimal text. It never changes. */
    rate: string;
    /** The margin in the rate, in the shop’s favor: basis points. */
    margin: number;
    /** The time of the rate. */
    quoted_at: string;
  } | null;
  /**
   * Why the sale was taken in USDC although the record gave a price: the service has not issued
   * these terms to the account, or they ended more than 72 hours before the signature ends. `null`
   * for all other sales.
   */
  presentment_problem: 'terms_unknown' | 'terms_expired' | null;
  /** When the till accepted it, by its clock. */
  accepted_at: string;
  /** When it was forwarded. */
  created: string;
}

/** One page of the list. */
export interface OfflinePaymentList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: OfflinePayment[];
  /** True if there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** Money on its way back to the payer, or returned. */
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
  /**
   * The sum in the shop’s currency, and the rate that was locked for it. `null` if the price was
   * given in USDC.
   */
  presentment: {
    /** An ISO 4217 currency code, in lowercase. */
    currency: string;
    /** Minor units of the currency: cents of EUR, whole JPY, thousandths of KWD. */
    amount: number;
    /** USDC for one unit of the currency, as decimal text. It never changes. */
    rate: string;
    /** The time of the rate: the older of its two sources’ times. */
    quoted_at: string;
    /** The source of the rate. In a sandbox it says that the rate is made up. */
    source: string;
    /**
     * Only of a sale that a till accepted offline: by how many basis points its rate is above the
     * market’s.
     */
    margin?: number;
    /** The quote ends when the payment intent expires. */
    expires_at: string;
  } | null;
  /**
   * USDC for one unit of the shop’s currency when it was booked, as decimal text. `null` until
   * then, for a shop without a currency, and after a loss of data.
   */
  shop_rate: string | null;
  /** The lines that it returns; `null` for a refund of a sum. */
  line_items: Array<{
    /** The index of the line in `line_items` of the payment, from 0 on. */
    line: number;
    /** How much of the line: an integer, or decimal text. */
    quantity: number | string;
  }> | null;
  /**
   * A row for each tax rate, lowest first, in minor units of the presentment currency, or in USDC
   * atoms for a sale without `presentment`. Tips have no tax and are in no row. `null` for a sale
   * without lines.
   */
  taxes: Array<{
    /** The tax rate in basis points: 700 is 7 %. */
    rate: number;
    /** The amount without tax. */
    net: number;
    /** The tax. */
    tax: number;
    /** Net and tax. */
    gross: number;
  }> | null;
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
  /** The reason it failed, in words. */
  failure_message: string | null;
  /** Hash of its transaction. */
  tx_hash: string | null;
  /** A page for the customer, once the refund has succeeded. Its address cannot be guessed. */
  receipt_url: string | null;
  /**
   * The number printed on the receipt: the prefix of the terminal’s series, and 1, 2, 3 … without
   * gaps. Refunds have their own series, which begin with R. After a loss of data every series
   * restarts with another prefix. `null` if there is none yet.
   */
  receipt_number: string | null;
  /** Who requested it. */
  source: 'api' | 'terminal' | 'dashboard';
  /** The person signed in at the till (`POST /shift`); `null` if none. */
  cashier: string | null;
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
   * Only on objects that the service had lost with its database and rebuilt from the chain. Data
   * that is not on the chain (metadata, description, terminal, method) is lost.
   */
  recovered?: true;
}

/** One page of the list. */
export interface RefundList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: Refund[];
  /** True if there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** A terminal of the account. */
export interface Terminal {
  /** The id of a terminal: tml_… */
  id: string;
  /** The type of the object. */
  object: 'terminal';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** Its name in the dashboard. */
  label: string;
  /** The kind of device. */
  name: string;
  /** The terminal software. The list may grow. */
  platform: string;
  /** As the terminal reported it; `null` if it has not reported it. */
  software_version: string | null;
  /** An inactive terminal takes no payments. */
  status: 'active' | 'inactive';
  /** Location of the terminal; `null` if it has none. */
  location: string | null;
  /**
   * How much the till may sell while it is offline. `null` if it sells nothing offline. Sums that
   * were set in the shop’s currency show their worth in USDC atoms at that time.
   */
  offline: {
    /** The highest sum of one sale, in USDC atoms. */
    per_payment: number;
    /** The highest sum of a wallet per UTC day, in USDC atoms. */
    per_card_per_day: number;
    /** The highest sum of the sales that are not decided yet, in USDC atoms. */
    total: number;
    /** How many sales may be undecided. */
    count: number;
    /** Hours since the till’s last contact, 1 to 72. The till enforces it. */
    hours: number;
    /** The three sums in the shop’s currency, if they were set in it. */
    presentment: {
      /** An ISO 4217 currency code, in lowercase. */
      currency: string;
      /** The highest sum of one sale, in minor units. */
      per_payment: number;
      /** The highest sum of a wallet per UTC day, in minor units. */
      per_card_per_day: number;
      /** The highest sum of the sales that are not decided yet, in minor units. */
      total: number;
    } | null;
    /** How far the till’s rate is above the market’s: basis points. */
    rate_margin: number;
  } | null;
  /**
   * USDC atoms of one sale that it may refund without a signed-in person. If it is `null`, nothing
   * where people have PINs, else as the account’s `till_refund_limit` says.
   */
  refund_limit: number | null;
  /**
   * The limit in the shop’s currency; `null` if it was set in USDC atoms. The field in atoms is
   * then its worth when it was set, rounded down.
   */
  refund_limit_presentment: {
    /** The account’s currency or one of its locations’: ISO 4217, in lowercase. */
    currency: string;
    /** Minor units of the currency: cents of EUR, whole JPY, thousandths of KWD. */
    amount: number;
  } | null;
  /** ISO 8601 UTC with milliseconds. */
  last_seen_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
}

/** One page of the list. */
export interface TerminalList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: Terminal[];
  /** True if there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/**
 * The report of a shift that has ended: everything booked at its terminal since the previous
 * report. It never changes, and cash is not counted.
 */
export interface ShiftReport {
  /** The id of a shift: shf_… */
  id: string;
  /** The type of the object. */
  object: 'shift';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The series that `number` counts in. After a loss of data a new one begins. */
  series: string;
  /** Counts the reports of the terminal from 1, without gaps, in each series. */
  number: number;
  /** True if the series began after a loss of data. */
  after_loss: boolean;
  /** The id of a terminal: tml_… */
  terminal: string;
  /** The id of a location: loc_… */
  location: string | null;
  /** When the shift began. */
  started_at: string;
  /** When it ended. */
  ended_at: string;
  /**
   * The end of the terminal’s previous report, or else when the terminal was created. The report
   * holds everything that was booked from there on.
   */
  covers_from: string;
  /**
   * The sums by the person who was signed in at the till: sales by who made them, refunds by who
   * refunded.
   */
  cashiers: Array<{
    /** The person signed in at the till (`POST /shift`); `null` if none. */
    cashier: string | null;
    /** The name of the person when the shift ended. */
    name: string | null;
    /** The sums, one element per currency. */
    figures: Array<{
      /**
       * The currency of the sums, in lowercase. Sums are in its minor units, or in atoms for
       * `usdc`.
       */
      currency: string;
      /** The number of sales. */
      count: number;
      /** The sum of the sales without tips. */
      sales: number;
      /** The sum of their tips. */
      tips: number;
      /** The sum of their discounts. */
      discounts: number;
      /** The number of refunds. */
      refunds: number;
      /** The sum of the refunds. */
      refunded: number;
      /** The taxes of the sales with lines, by rate. Refunds are not subtracted. */
      taxes: Array<{
        /** The rate in basis points. */
        rate: number;
        /** The price without the tax. */
        net: number;
        /** The tax. */
        tax: number;
        /** Both. */
        gross: number;
      }>;
      /** The part of the taxes that the refunds returned. */
      refunded_taxes: Array<{
        /** The rate in basis points. */
        rate: number;
        /** The price without the tax. */
        net: number;
        /** The tax. */
        tax: number;
        /** Both. */
        gross: number;
      }>;
      /** What the sales brought in USDC atoms, with tips and before refunds. */
      atoms: number;
    }>;
  }>;
  /** The sums, one element per currency. */
  figures: Array<{
    /** The currency of the sums, in lowercase. Sums are in its minor units, or in atoms for `usdc`. */
    currency: string;
    /** The number of sales. */
    count: number;
    /** The sum of the sales without tips. */
    sales: number;
    /** The sum of their tips. */
    tips: number;
    /** The sum of their discounts. */
    discounts: number;
    /** The number of refunds. */
    refunds: number;
    /** The sum of the refunds. */
    refunded: number;
    /** The taxes of the sales with lines, by rate. Refunds are not subtracted. */
    taxes: Array<{
      /** The rate in basis points. */
      rate: number;
      /** The price without the tax. */
      net: number;
      /** The tax. */
      tax: number;
      /** Both. */
      gross: number;
    }>;
    /** The part of the taxes that the refunds returned. */
    refunded_taxes: Array<{
      /** The rate in basis points. */
      rate: number;
      /** The price without the tax. */
      net: number;
      /** The tax. */
      tax: number;
      /** Both. */
      gross: number;
    }>;
    /** What the sales brought in USDC atoms, with tips and before refunds. */
    atoms: number;
  }>;
  /** The sales by what the customers paid with. */
  methods: Array<{
    /** The `payment_method.type` of the sales. */
    type: 'wallet_pass' | 'wallet' | 'agent_token' | 'unknown';
    /** Their `payment_method.credential`. */
    credential:
      | 'nfc_id'
      | 'nfc_sun'
      | 'qr'
      | 'rotating_code'
      | 'smart_tap'
      | 'apple_vas'
      | 'authorization'
      | 'chip'
      | 'agent_token'
      | 'unknown';
    /** The currency of the sums, in lowercase. Sums are in its minor units, or in atoms for `usdc`. */
    currency: string;
    /** The number of sales. */
    count: number;
    /** Their sum with tips. */
    gross: number;
  }>;
  /** The lines of the sales. */
  items: Array<{
    /** The catalog item; `null` for a line without one. */
    item: string | null;
    /** The name of the line. */
    name: string;
    /** The category of the item. */
    category: string | null;
    /** The currency of the sums, in lowercase. Sums are in its minor units, or in atoms for `usdc`. */
    currency: string;
    /** The quantity sold, as a decimal. */
    quantity: string;
    /** What the lines brought, after discounts. */
    gross: number;
  }>;
  /** The number of sales that the till accepted offline. */
  offline: number;
  /** The number of intents that were declined at least once. */
  declines: number;
  /** The number of the first sale’s receipt. */
  first_receipt: string | null;
  /** The number of the last sale’s receipt. */
  last_receipt: string | null;
  /** The number of the first refund’s receipt. */
  first_refund_receipt: string | null;
  /** The number of the last refund’s receipt. */
  last_refund_receipt: string | null;
  /**
   * Payments and refunds that a reorganization of the chain removed after they were booked, with
   * figures below 0; or brought back, with figures above 0.
   */
  corrections: Array<{
    /** The id of a payment: pay_… */
    payment?: string;
    /** The id of a refund: re_… */
    refund?: string;
    /** The shift whose report holds it. */
    of: string;
    /** The sums, one element per currency. */
    figures: Array<{
      /**
       * The currency of the sums, in lowercase. Sums are in its minor units, or in atoms for
       * `usdc`.
       */
      currency: string;
      /** The number of sales. */
      count: number;
      /** The sum of the sales without tips. */
      sales: number;
      /** The sum of their tips. */
      tips: number;
      /** The sum of their discounts. */
      discounts: number;
      /** The number of refunds. */
      refunds: number;
      /** The sum of the refunds. */
      refunded: number;
      /** The taxes of the sales with lines, by rate. Refunds are not subtracted. */
      taxes: Array<{
        /** The rate in basis points. */
        rate: number;
        /** The price without the tax. */
        net: number;
        /** The tax. */
        tax: number;
        /** Both. */
        gross: number;
      }>;
      /** The part of the taxes that the refunds returned. */
      refunded_taxes: Array<{
        /** The rate in basis points. */
        rate: number;
        /** The price without the tax. */
        net: number;
        /** The tax. */
        tax: number;
        /** Both. */
        gross: number;
      }>;
      /** What the sales brought in USDC atoms, with tips and before refunds. */
      atoms: number;
    }>;
  }>;
}

/** One page of the list. */
export interface ShiftReportList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: ShiftReport[];
  /** True if there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** The balance that the settlement contract holds for the account. */
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
   * The approximate value of `available` in the account’s currency now. `null` if the account has
   * none, or if there is no usable rate.
   */
  presentment: {
    /** The account’s currency: ISO 4217, in lowercase. */
    currency: string;
    /** Minor units of that currency. */
    amount: number;
    /** USDC for one unit of the currency, as text. */
    rate: string;
    /** The time of the rate. */
    quoted_at: string;
    /** The source of the rate. */
    source: string;
  } | null;
  /**
   * Nothing can be withdrawn before this time, because the merchant is new on this network. `null`
   * if withdrawals are possible.
   */
  held_until: string | null;
  /** ISO 8601 UTC with milliseconds. */
  as_of: string;
}

/** An event, with the object as it was when the event happened. */
export interface Event {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. The list of types may grow. */
  type: string;
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    /** The resource as it was when the event happened. */
    object: Record<string, unknown>;
    /** On *.updated: the fields that changed, with the values that they had before. */
    previous_attributes?: Record<string, unknown>;
  };
}

/** One page of the list. */
export interface EventList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: Event[];
  /** True if there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** The webhook endpoint, without its secret. */
export interface WebhookEndpoint {
  /** The id of a webhook endpoint: we_… */
  id: string;
  /** The type of the object. */
  object: 'webhook_endpoint';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The URL that events are sent to. */
  url: string;
  /** The event types that it subscribes to. */
  enabled_events: string[];
  /** A note of your own. */
  description: string | null;
  /** Set at creation: events are rendered in this version. */
  api_version: string;
  /** A disabled endpoint receives nothing. */
  status: 'enabled' | 'disabled';
  /**
   * persistent_failure (five days without a success), gone (it responded with 410) or
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

/** The endpoint with its secret, which only this response contains. */
export interface WebhookEndpointWithSecret {
  /** The id of a webhook endpoint: we_… */
  id: string;
  /** The type of the object. */
  object: 'webhook_endpoint';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The URL that events are sent to. */
  url: string;
  /** The event types that it subscribes to. */
  enabled_events: string[];
  /** A note of your own. */
  description: string | null;
  /** Set at creation: events are rendered in this version. */
  api_version: string;
  /** A disabled endpoint receives nothing. */
  status: 'enabled' | 'disabled';
  /**
   * persistent_failure (five days without a success), gone (it responded with 410) or
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

/** An event on its way to an endpoint, over all its attempts. */
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
  /** The type of the event. */
  event_type: string;
  /** pending: another attempt will follow. */
  status: 'pending' | 'succeeded' | 'failed';
  /** Attempts made so far. */
  attempt: number;
  /** HTTP status of the last attempt. */
  response_status: number | null;
  /** The first 1 KiB of its response body, as text. */
  response_body: string | null;
  /**
   * The reason why the last attempt failed: status_not_2xx, redirect_refused, timeout, dns_failed,
   * address_refused, connection_refused, connection_reset, connection_failed, host_unreachable,
   * tls_failed, invalid_response, event_expired, endpoint_disabled, not_sent. The list may grow.
   */
  error: string | null;
  /** The duration of the last attempt. */
  duration_ms: number | null;
  /** ISO 8601 UTC with milliseconds. */
  next_attempt_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  updated: string;
}

/** One page of the list. */
export interface WebhookDeliveryList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: WebhookDelivery[];
  /** True if there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** A request to send past events to an endpoint again. */
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
  /** completed: all of them were queued. */
  status: 'running' | 'completed';
  /** Events queued so far. */
  events_queued: number;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  updated: string;
}

/** The result of the request that was sent with this key. */
export interface IdempotencyKey {
  /** The type of the object. */
  object: 'idempotency_key';
  /** The Idempotency-Key of the request. */
  key: string;
  /** in_progress: the first request is still running. */
  status: 'in_progress' | 'completed';
  /** The HTTP method of the first request. */
  method: string;
  /** The path of the first request. */
  path: string;
  /** The id of the object that the request created or changed. */
  resource: string | null;
  /** The HTTP status of the response. */
  response_status: number | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
}

/** A request and its response, without their bodies. */
export interface LoggedRequest {
  /** The type of the object. */
  object: 'request';
  /** The id of a request: req_… */
  id: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** The id of the API key, terminal or person; `null` if unknown. */
  caller: string | null;
  /** The operation, such as createPaymentIntent; `null` if no route matched. */
  operation: string | null;
  /** The HTTP method. */
  method: string;
  /** The path that was requested, without its query. */
  path: string;
  /** The HTTP status of the response. */
  status: number;
  /** The error code of the response; `null` if it was not an error. */
  code: string | null;
  /** The id of the object that the request concerned, or null. */
  object_id: string | null;
  /** The Idempotency-Key of the request, or null. */
  idempotency_key: string | null;
  /** The API version that was used. */
  api_version: string;
  /** The duration of the request, in milliseconds. */
  duration_ms: number;
  /** The IP address that the request came from. */
  address: string;
  /** How the client identifies itself, or null. */
  user_agent: string | null;
}

/** One page of the list. */
export interface LoggedRequestList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: LoggedRequest[];
  /** True if there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** The new token, which only this response contains. */
export interface NewAgentToken {
  /** The id of an agent token: agtok_… */
  id: string;
  /** The type of the object. */
  object: 'agent_token';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The id of an account: acct_… */
  account: string;
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  amount: number;
  /** USDC, always. */
  currency: 'usdc';
  /** held: its intent is in progress. spent: it has paid. */
  status: 'active' | 'held' | 'spent' | 'expired' | 'revoked';
  /** The id of a payment intent: pi_… */
  payment_intent: string | null;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** The token itself (agt_…). Shown only once. */
  agent_token: string;
}

/** A sale that a till has accepted offline. */
export interface OfflineRecord {
  /** The EIP-3009 `ReceiveWithAuthorization` to the settlement contract. */
  authorization: {
    /** The wallet. */
    from: string;
    /**
     * USDC atoms: the amount, and acquirer and protocol fee less cashback at the rates of
     * `offline_terms`, each rounded down.
     */
    value: number;
    /** Unix seconds, usually 0. */
    valid_after: number;
    /** Unix seconds: at most 72 hours ahead, and not later than `rates_until`. */
    valid_before: number;
    /** The contract’s `authorizationNonce(merchant_number, amount, 0, 0x0000000000000000, salt)`. */
    nonce: string;
    /** 65 bytes, by the key of the wallet. Contract wallets do not sign offline. */
    signature: string;
  };
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  amount: number;
  /** Drawn by the till for this sale alone. */
  salt: string;
  /**
   * When the till accepted it, by its clock. It is never refused for being early or late; for the
   * day of `per_card_per_day` it counts as at most 72 hours before its arrival, and 5 minutes
   * after.
   */
  accepted_at: string;
  /** Up to 500 characters. */
  description?: string;
  /**
   * The lines of the sale, 1 to 100. Their sum must be the price: quantity × unit price per line,
   * rounded half up, less the discounts, plus the tax of lines whose price does not include it,
   * which is rounded half up once per rate. Before discounts and without their signs, they add up
   * to at most 1000000000000000.
   */
  line_items?: Array<{
    /** The name of the sold item, 1 to 200 characters. */
    name: string;
    /**
     * An integer above 0, or decimal text above 0 with up to 12 digits and three decimals: `2`,
     * `"0.350"`.
     */
    quantity: number | string;
    /**
     * The unit price, in minor units of the presentment currency, or in USDC atoms for a sale
     * without `presentment`. Below 0 for a deposit that is given back, or a voucher; the sum of
     * the sale stays above 0.
     */
    unit_amount: number;
    /**
     * The tax rate in basis points, 0 to 10000, or the name of one of the `tax_rates` of the
     * terminal’s location, or of the account if the location has none. Responses have basis
     * points.
     */
    tax_rate: number | string;
    /**
     * Whether `unit_amount` includes the tax. If not, the tax is added to the price. Default: the
     * account’s `prices_include_tax`.
     */
    tax_inclusive?: boolean;
    /**
     * The discount on this line: a sum, at most the amount of the line, or `{"rate"}` of that
     * amount, rounded half up. 0 for a line below 0. Default 0.
     *
     * @default 0
     */
    discount?: number | {
      /** Basis points, 1 to 10000: 1000 is 10 %. */
      rate: number;
    };
    /** The name of the discount, 1 to 60 characters. */
    discount_name?: string | null;
    /**
     * The catalog item that was sold. It may have been deleted since. The line keeps the item’s
     * `category` of this moment.
     */
    item?: string | null;
  }> | null;
  /**
   * The discount on the whole sale, in minor units of the presentment currency, or in USDC atoms
   * for a sale without `presentment`, or `{"rate"}` of the lines above 0 after their own
   * discounts, before tax on top, rounded half up. It is divided among these lines in proportion,
   * rounded down; the last of them gets the rest. Only with `line_items`. Default 0.
   *
   * @default 0
   */
  discount?: number | {
    /** Basis points, 1 to 10000: 1000 is 10 %. */
    rate: number;
  };
  /** The name of the discount, 1 to 60 characters. */
  discount_name?: string | null;
  /**
   * The person who was signed in at the till. An id that the account does not know is stored as
   * null.
   */
  cashier?: string | null;
  /**
   * The price in the shop’s currency. If the terms are unknown or have ended, the sale is taken in
   * USDC, and `presentment_problem` says so.
   */
  presentment?: {
    /** The `id` of the terms: `offline_terms.presentment`. */
    terms: string;
    /** The price in minor units. `amount` is rate × this, rounded up. */
    amount: number;
  } | null;
  /**
   * The payment intent that the terminal canceled for this sale, so that one cart is not paid
   * twice. If it was paid, the record bounces as `already_paid`. If it is still open, it is
   * canceled together with this sale. An id that the account does not know is ignored.
   */
  replaces?: string | null;
}

export interface CardTap {
  /** The URL that the card produces; valid for one attempt. */
  url: string;
}

export interface RotatingCode {
  /** The id of the pass, a period and the current code. */
  value: string;
}

/** The data that a phone with the pass sends to a reader now. */
export interface PhoneTap {
  /** The value that the reader sends; valid for one attempt. */
  value: string;
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
  /** The total since the account was opened. */
  advanced_seconds: number;
}

/**
 * A test of this endpoint was requested. It is sent to this endpoint only, once, whatever it
 * subscribes to.
 */
export interface EventPing {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'ping';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: WebhookEndpoint;
  };
}

/** A payment intent was created, by the API or on a terminal. */
export interface EventPaymentIntentCreated {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'payment_intent.created';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: PaymentIntent;
  };
}

/** The payer has to confirm the payment in the payer app, within 60 seconds. */
export interface EventPaymentIntentRequiresAction {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'payment_intent.requires_action';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: PaymentIntent;
  };
}

/** The settlement was requested. The result follows in another event. */
export interface EventPaymentIntentProcessing {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'payment_intent.processing';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: PaymentIntent;
  };
}

/** The payment is settled on the blockchain. */
export interface EventPaymentIntentSucceeded {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'payment_intent.succeeded';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: PaymentIntent;
  };
}

/** The intent was canceled or expired. Nothing was charged. */
export interface EventPaymentIntentCanceled {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'payment_intent.canceled';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: PaymentIntent;
  };
}

/** A payment was declined; last_payment_error says why. Nothing was charged. */
export interface EventPaymentIntentPaymentFailed {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'payment_intent.payment_failed';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: PaymentIntent;
  };
}

/** A payment is settled and is in the merchant balance. */
export interface EventPaymentSucceeded {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'payment.succeeded';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: Payment;
  };
}

/** A refund of the payment succeeded, in part or in full. */
export interface EventPaymentRefunded {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'payment.refunded';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: Payment;
  };
}

/** The payer received the cashback of the payment. */
export interface EventPaymentCashbackPaid {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'payment.cashback_paid';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: Payment;
  };
}

/** A refund was requested. */
export interface EventRefundCreated {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'refund.created';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: Refund;
  };
}

/** The refund was paid to the payer. */
export interface EventRefundSucceeded {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'refund.succeeded';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: Refund;
  };
}

/** The refund failed. No money moved. */
export interface EventRefundFailed {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'refund.failed';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: Refund;
  };
}

/** A refund changed after it was created. */
export interface EventRefundUpdated {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'refund.updated';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: Refund;
    /** The fields that changed, with the values that they had before. */
    previous_attributes: Record<string, unknown>;
  };
}

/** A sale that a till had accepted offline is settled. */
export interface EventOfflinePaymentSucceeded {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'offline_payment.succeeded';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: OfflinePayment;
  };
}

/**
 * A sale that a till had accepted offline cannot be paid; bounce_reason says why. Nothing was
 * charged, and the merchant bears the loss.
 */
export interface EventOfflinePaymentBounced {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'offline_payment.bounced';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: OfflinePayment;
  };
}

/** A terminal was added in the dashboard. */
export interface EventTerminalCreated {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'terminal.created';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: Terminal;
  };
}

/** A terminal was renamed, activated, deactivated, or got other limits of offline sales. */
export interface EventTerminalUpdated {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'terminal.updated';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: Terminal;
    /** The fields that changed, with the values that they had before. */
    previous_attributes: Record<string, unknown>;
  };
}

export interface Account {
  /** The id of an account: acct_… */
  id: string;
  /** The type of the object. */
  object: 'account';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The list may grow. */
  kyb_status: 'none' | 'pending' | 'approved' | 'rejected';
  /** The reason for the decision. */
  reason: string | null;
  /** ISO 8601 UTC with milliseconds. */
  updated: string;
}

/** The business verification was decided. Sent in both modes. */
export interface EventKybStatusChanged {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'kyb.status_changed';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: Account;
  };
}

export interface Withdrawal {
  /** The id of a withdrawal: wdr_… */
  id: string;
  /** The type of the object. */
  object: 'withdrawal';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  amount: number;
  /** USDC, always. */
  currency: 'usdc';
  /**
   * USDC for one unit of the shop’s currency when it was booked, as decimal text. `null` until
   * then, for a shop without a currency, and after a loss of data.
   */
  shop_rate: string | null;
  /** The amount of the withdrawal. */
  status: 'pending' | 'succeeded' | 'failed';
  /** The settlement wallet. */
  wallet: string;
  /** The reason why it failed. */
  failure_code: string | null;
  /** Hash of the transaction. */
  tx_hash: string | null;
  /** True if the service requested it automatically. */
  automatic: boolean;
  /** The first day of the period that it ends, YYYY-MM-DD. */
  period: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  updated: string;
}

/** A withdrawal has reached the settlement wallet. */
export interface EventBalanceWithdrawalPaid {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'balance.withdrawal_paid';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: Withdrawal;
  };
}

/**
 * The service disabled an endpoint after five days of failures or a 410 Gone response. Sent to the
 * account's other endpoints.
 */
export interface EventWebhookEndpointDisabled {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'webhook_endpoint.disabled';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: WebhookEndpoint;
  };
}

export interface Export {
  /** The type of the object. */
  object: 'export';
  /** Downloads the statement without a session, until `expires_at`. */
  url: string;
  /** The format of the statement. The list may grow. */
  format: string;
  /** The first day, YYYY-MM-DD. */
  from: string;
  /** The last day, YYYY-MM-DD. */
  to: string;
  /** The number of its entries. */
  entries: number;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
}

/** A period of the export schedule has ended: `url` downloads its statement. */
export interface EventExportReady {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'export.ready';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: Export;
  };
}

/** A shift at a terminal has ended. The event carries its report. */
export interface EventShiftEnded {
  /** The id of an event: evt_… */
  id: string;
  /** The type of the object. */
  object: 'event';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** The type of the event. */
  type: 'shift.ended';
  /** The version that the event is rendered in. */
  api_version: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /**
   * Increases with each event about an object (per account and mode): of two events about the same
   * object, the one with the higher sequence is newer.
   */
  sequence: number;
  /** The object that the event is about. */
  data: {
    object: ShiftReport;
  };
}

/** What an endpoint receives: `type` says what `data.object` is. */
export type WebhookEvent =
  | EventPing
  | EventPaymentIntentCreated
  | EventPaymentIntentRequiresAction
  | EventPaymentIntentProcessing
  | EventPaymentIntentSucceeded
  | EventPaymentIntentCanceled
  | EventPaymentIntentPaymentFailed
  | EventPaymentSucceeded
  | EventPaymentRefunded
  | EventPaymentCashbackPaid
  | EventRefundCreated
  | EventRefundSucceeded
  | EventRefundFailed
  | EventRefundUpdated
  | EventOfflinePaymentSucceeded
  | EventOfflinePaymentBounced
  | EventTerminalCreated
  | EventTerminalUpdated
  | EventKybStatusChanged
  | EventBalanceWithdrawalPaid
  | EventWebhookEndpointDisabled
  | EventExportReady
  | EventShiftEnded;

export type EventType = WebhookEvent['type'];

export interface ListPaymentIntentsQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only objects created at or after this time. */
  created_gte?: string;
  /** Only objects created before this time. */
  created_lt?: string;
  /** The id of a terminal: tml_… */
  terminal?: string;
  /** Who created it. */
  source?: 'api' | 'terminal';
  /**
   * 1 to 8 characters of A-Z a-z 0-9 - _; written on-chain; unique per account and mode; generated
   * from the Idempotency-Key if omitted.
   */
  order_id?: string;
  /** The current status: an unpaid, expired intent counts as canceled. */
  status?:
    | 'requires_payment_method'
    | 'requires_action'
    | 'processing'
    | 'succeeded'
    | 'canceled';
}

export interface CreatePaymentIntentBody {
  /** USDC atoms (6 decimals), 1 to 1000000000000. Required without `presentment`. */
  amount?: number;
  /**
   * The price in the shop’s currency, instead of `amount`. The response’s `amount` is its value:
   * rate × amount, rounded down.
   */
  presentment?: {
    /** An ISO 4217 currency code, in lowercase. */
    currency: string;
    /**
     * Minor units of the currency by ISO 4217: cents of EUR, whole JPY, thousandths of KWD. It
     * must be worth 1 to 1000000000000 USDC atoms.
     */
    amount: number;
  } | null;
  /**
   * The lines of the sale, 1 to 100. Their sum must be the price: quantity × unit price per line,
   * rounded half up, less the discounts, plus the tax of lines whose price does not include it,
   * which is rounded half up once per rate. Before discounts and without their signs, they add up
   * to at most 1000000000000000.
   */
  line_items?: Array<{
    /** The name of the sold item, 1 to 200 characters. */
    name: string;
    /**
     * An integer above 0, or decimal text above 0 with up to 12 digits and three decimals: `2`,
     * `"0.350"`.
     */
    quantity: number | string;
    /**
     * The unit price, in minor units of the presentment currency, or in USDC atoms for a sale
     * without `presentment`. Below 0 for a deposit that is given back, or a voucher; the sum of
     * the sale stays above 0.
     */
    unit_amount: number;
    /**
     * The tax rate in basis points, 0 to 10000, or the name of one of the `tax_rates` of the
     * terminal’s location, or of the account if the location has none. Responses have basis
     * points.
     */
    tax_rate: number | string;
    /**
     * Whether `unit_amount` includes the tax. If not, the tax is added to the price. Default: the
     * account’s `prices_include_tax`.
     */
    tax_inclusive?: boolean;
    /**
     * The discount on this line: a sum, at most the amount of the line, or `{"rate"}` of that
     * amount, rounded half up. 0 for a line below 0. Default 0.
     *
     * @default 0
     */
    discount?: number | {
      /** Basis points, 1 to 10000: 1000 is 10 %. */
      rate: number;
    };
    /** The name of the discount, 1 to 60 characters. */
    discount_name?: string | null;
    /**
     * The catalog item that was sold. It may have been deleted since. The line keeps the item’s
     * `category` of this moment.
     */
    item?: string | null;
  }> | null;
  /**
   * The discount on the whole sale, in minor units of the presentment currency, or in USDC atoms
   * for a sale without `presentment`, or `{"rate"}` of the lines above 0 after their own
   * discounts, before tax on top, rounded half up. It is divided among these lines in proportion,
   * rounded down; the last of them gets the rest. Only with `line_items`. Default 0.
   *
   * @default 0
   */
  discount?: number | {
    /** Basis points, 1 to 10000: 1000 is 10 %. */
    rate: number;
  };
  /** The name of the discount, 1 to 60 characters. */
  discount_name?: string | null;
  /** The id of a terminal: tml_… */
  terminal: string;
  /**
   * 1 to 8 characters of A-Z a-z 0-9 - _; written on-chain; unique per account and mode; generated
   * from the Idempotency-Key if omitted.
   */
  order_id?: string;
  /** Up to 500 characters; shown on the terminal. */
  description?: string;
  /**
   * Up to 20 pairs: keys of 1 to 40 characters of A-Z a-z 0-9 _ . -, string values of up to 500
   * characters. No secrets or personal data. Returned unchanged.
   */
  metadata?: Record<string, string>;
  /** The tips that the terminal offers its customer. `null` if the customer cannot tip. */
  tipping?: {
    /** 1 to 3 percentages, in the order they are shown. */
    percentages: number[];
  } | null;
  /**
   * Seconds until an unpaid intent is canceled: 30 to 600, default 120.
   *
   * @default 120
   */
  expires_in?: number;
}

export interface ListPaymentsQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only objects created at or after this time. */
  created_gte?: string;
  /** Only objects created before this time. */
  created_lt?: string;
  /** The id of a terminal: tml_… */
  terminal?: string;
  /** The id of a payment intent: pi_… */
  payment_intent?: string;
  /**
   * 1 to 8 characters of A-Z a-z 0-9 - _; written on-chain; unique per account and mode; generated
   * from the Idempotency-Key if omitted.
   */
  order_id?: string;
  /** The id of a location: loc_… */
  location?: string;
  /** The refund status of the payment. */
  status?: 'succeeded' | 'partially_refunded' | 'refunded';
}

export interface ListOfflinePaymentsQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only objects created at or after this time. */
  created_gte?: string;
  /** Only objects created before this time. */
  created_lt?: string;
  /** Only sales of this status. */
  status?: 'processing' | 'succeeded' | 'bounced';
  /** The id of a terminal: tml_… */
  terminal?: string;
}

export interface ConfirmPaymentIntentBody {
  /** The token of the payer's AI agent (agt_…), passed on unchanged. */
  agent_token: string;
}

export interface ListRefundsQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only objects created at or after this time. */
  created_gte?: string;
  /** Only objects created before this time. */
  created_lt?: string;
  /** The id of a payment: pay_… */
  payment?: string;
  /** The id of a payment intent: pi_… */
  payment_intent?: string;
  /** The status of the refund. */
  status?: 'pending' | 'succeeded' | 'failed';
}

export interface CreateRefundBody {
  /** The id of a payment: pay_… */
  payment: string;
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  amount?: number;
  /**
   * Minor units of the currency of the sale, instead of `amount`: returns that share of the atoms
   * that were paid. Only for a payment with `presentment`.
   */
  presentment_amount?: number;
  /**
   * Parts of lines of the sale, instead of a sum: returns their prices after all discounts, and
   * the tax that was added to them. Lines below 0 only together with others. Only for a payment
   * with `line_items`.
   */
  line_items?: Array<{
    /** The index of the line in `line_items` of the payment, from 0 on. */
    line: number;
    /** How much of the line: an integer, or decimal text. */
    quantity: number | string;
  }>;
  /** Up to 500 characters. */
  reason?: string;
  /**
   * Up to 20 pairs: keys of 1 to 40 characters of A-Z a-z 0-9 _ . -, string values of up to 500
   * characters. No secrets or personal data. Returned unchanged.
   */
  metadata?: Record<string, string>;
}

export interface ListTerminalsQuery {
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

export interface ListShiftsQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only objects created at or after this time. */
  created_gte?: string;
  /** Only objects created before this time. */
  created_lt?: string;
  /** The id of a terminal: tml_… */
  terminal?: string;
}

export interface ListEventsQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only objects created at or after this time. */
  created_gte?: string;
  /** Only objects created before this time. */
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
    | 'offline_payment.succeeded'
    | 'offline_payment.bounced'
    | 'terminal.created'
    | 'terminal.updated'
    | 'kyb.status_changed'
    | 'balance.withdrawal_paid'
    | 'webhook_endpoint.disabled'
    | 'export.ready'
    | 'shift.ended'
    | 'payment_intent.*'
    | 'payment.*'
    | 'refund.*'
    | 'offline_payment.*'
    | 'terminal.*'
    | 'kyb.*'
    | 'balance.*'
    | 'webhook_endpoint.*'
    | 'export.*'
    | 'shift.*';
  /** false: only events with a delivery that is pending or failed; true: only events without one. */
  delivery_success?: boolean;
}

export interface StreamEventsQuery {
  /**
   * The id of the last event that you have seen: the stream continues after it. `start`: it begins
   * with the oldest event of the last 30 days. `Last-Event-ID` takes precedence. Without either,
   * the stream begins now.
   */
  after?: string;
  /** Event types and families with `.*`, separated by commas. Default: all. */
  types?: string;
}

export interface ListWebhookEndpointsResponse {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: WebhookEndpoint[];
  /** Always false: the list has all endpoints. */
  has_more: boolean;
  /** Always null. */
  next_cursor: null;
}

export interface CreateWebhookEndpointBody {
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

export interface UpdateWebhookEndpointBody {
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

export interface DeleteWebhookEndpointResponse {
  /** The id of a webhook endpoint: we_… */
  id: string;
  /** The type of the object. */
  object: 'webhook_endpoint';
  /** The endpoint was deleted. */
  deleted: true;
}

export interface ListWebhookDeliveriesQuery {
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

export interface ReplayWebhookEventsBody {
  /** Events created at or after this time. */
  since: string;
  /** Events created before this time. Default: now. */
  until?: string;
  /** Exact event types, families such as refund.*, or * for all. */
  types?: string[];
}

export interface ListRequestLogQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
  /** Only objects created at or after this time. */
  created_gte?: string;
  /** Only objects created before this time. */
  created_lt?: string;
  /** HTTP status. */
  status?: number;
  /** true: only statuses of 400 and above. */
  failed?: boolean;
  /** The operation, such as createPaymentIntent. */
  operation?: string;
  /** An API key, terminal or person. */
  caller?: string;
  /** Requests that changed this object. */
  object?: string;
}

export interface TestTapTerminalBody {
  /** The pass that the terminal’s reader read. */
  credential?: {
    /**
     * The kind of credential: the static chip of a pass, a SUN card, a code of the wallet app, a
     * code of a pass that changes every half minute, or the pass in Google Wallet or Apple Wallet.
     */
    type: 'nfc_id' | 'nfc_sun' | 'qr' | 'rotating_code' | 'smart_tap' | 'apple_vas';
    /**
     * nfc_id: the credential of the pass (nfc_…). nfc_sun: the URL that the card gave. qr: the
     * text of the code. rotating_code: the id of the pass, a period and eight digits. smart_tap,
     * apple_vas: base64url of a byte 1, the 32 bytes that the phone drew (Smart Tap) or the 4
     * bytes of its Unix time (VAS), and the message of the pass.
     */
    value: string;
  };
  /** The id of a payment intent: pi_… */
  payment_intent?: string;
  /**
   * USDC atoms on top of the amount of the sale, and at most that amount; sale and tip together
   * are at most 1000000000000. Only for an intent with `tipping`.
   */
  tip_amount?: number;
}

export interface TestPayerConfirmBody {
  /** true: the payer approves; false: the payer rejects. */
  approve: boolean;
}

export interface TestCreateAgentTokenBody {
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  amount: number;
  /** Seconds until the token expires: 60 to 86400. */
  expires_in?: number;
  /** A pass (nfc_…) of the payer whose agent gets the token. */
  pass?: string;
}

export interface TestTriggerEventBody {
  /** An event type; not ping. */
  type:
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
    | 'offline_payment.succeeded'
    | 'offline_payment.bounced'
    | 'terminal.created'
    | 'terminal.updated'
    | 'kyb.status_changed'
    | 'balance.withdrawal_paid'
    | 'webhook_endpoint.disabled'
    | 'export.ready'
    | 'shift.ended';
}

export interface TestOfflinePaymentBody {
  /** USDC atoms, 1 to 1000000000000. Required without `presentment_amount`. */
  amount?: number;
  /** The price in minor units of the shop’s currency, at the terminal’s terms. */
  presentment_amount?: number;
  /** A demo pass, by its name in sandbox.json or its credential. Default `ok`. */
  pass?: string;
  /** When the till accepted the sale. Default: now. */
  accepted_at?: string;
}

export interface TestAdvanceClockBody {
  /** How far to advance the clock: 1 second to 366 days. */
  seconds: number;
}

/** Every operation by method and path, with its request and its response. */
export interface Operations {
  /**
   * List payment intents, newest first
   *
   * Needs a key with the scope `payments:read`.
   */
  'GET /v1/payment_intents': {
    id: 'listPaymentIntents';
    query?: ListPaymentIntentsQuery;
    response: PaymentIntentList;
  };
  /**
   * Create a payment intent for a terminal
   *
   * The terminal picks the intent up, shows the amount and waits for a tap until expires_at. When
   * order_id and amount are those of an intent that was rebuilt (`recovered`), the response is
   * that intent, with `Idempotent-Replayed: true`.
   *
   * Needs a key with the scope `payments:write`.
   */
  'POST /v1/payment_intents': {
    id: 'createPaymentIntent';
    idempotencyKey: 'required';
    body: CreatePaymentIntentBody;
    response: PaymentIntent;
  };
  /**
   * Retrieve a payment intent
   *
   * Needs a key with the scope `payments:read`.
   */
  'GET /v1/payment_intents/{id}': {
    id: 'retrievePaymentIntent';
    path: { id: string };
    response: PaymentIntent;
  };
  /**
   * Cancel an unpaid payment intent
   *
   * Possible until the settlement is sent or the payer has confirmed. Canceling a canceled intent
   * returns it unchanged.
   *
   * Needs a key with the scope `payments:write`.
   */
  'POST /v1/payment_intents/{id}/cancel': {
    id: 'cancelPaymentIntent';
    path: { id: string };
    idempotencyKey: 'optional';
    response: PaymentIntent;
  };
  /**
   * List payments, newest first
   *
   * Needs a key with the scope `payments:read`.
   */
  'GET /v1/payments': {
    id: 'listPayments';
    query?: ListPaymentsQuery;
    response: PaymentList;
  };
  /**
   * Retrieve a payment
   *
   * Needs a key with the scope `payments:read`.
   */
  'GET /v1/payments/{id}': {
    id: 'retrievePayment';
    path: { id: string };
    response: Payment;
  };
  /**
   * List the sales that tills accepted offline, newest first
   *
   * Needs a key with the scope `payments:read`.
   */
  'GET /v1/offline_payments': {
    id: 'listOfflinePayments';
    query?: ListOfflinePaymentsQuery;
    response: OfflinePaymentList;
  };
  /**
   * Retrieve a sale that a till accepted offline
   *
   * Needs a key with the scope `payments:read`.
   */
  'GET /v1/offline_payments/{id}': {
    id: 'retrieveOfflinePayment';
    path: { id: string };
    response: OfflinePayment;
  };
  /**
   * Pay a payment intent with an AI agent token
   *
   * The token was minted by the payer for this merchant and amount and pays once. `processing` and
   * `requires_action` are followed by webhooks or by retrieving, never by confirming again. Use a
   * terminal that no device polls for intents.
   *
   * Needs a key with the scope `payments:write`.
   */
  'POST /v1/payment_intents/{id}/confirm': {
    id: 'confirmPaymentIntent';
    path: { id: string };
    idempotencyKey: 'required';
    body: ConfirmPaymentIntentBody;
    response: PaymentIntent;
  };
  /**
   * List refunds, newest first
   *
   * Needs a key with the scope `refunds:read`.
   */
  'GET /v1/refunds': {
    id: 'listRefunds';
    query?: ListRefundsQuery;
    response: RefundList;
  };
  /**
   * Refund a payment, in full or in part
   *
   * Paid from the merchant balance on the payment’s network. Waits up to 60 seconds for the
   * transaction, and not at all while settlement is paused. A `pending` refund resolves by itself:
   * never retry it with a new key. If the refund was rebuilt (`recovered`), the response is that
   * refund, with `Idempotent-Replayed: true`.
   *
   * Needs a key with the scope `refunds:write`.
   */
  'POST /v1/refunds': {
    id: 'createRefund';
    idempotencyKey: 'required';
    body: CreateRefundBody;
    response: Refund;
  };
  /**
   * Retrieve a refund
   *
   * Needs a key with the scope `refunds:read`.
   */
  'GET /v1/refunds/{id}': {
    id: 'retrieveRefund';
    path: { id: string };
    response: Refund;
  };
  /**
   * List the terminals of the key's mode, newest first
   *
   * Needs a key with the scope `terminals:read`.
   */
  'GET /v1/terminals': {
    id: 'listTerminals';
    query?: ListTerminalsQuery;
    response: TerminalList;
  };
  /**
   * Retrieve a terminal
   *
   * Needs a key with the scope `terminals:read`.
   */
  'GET /v1/terminals/{id}': {
    id: 'retrieveTerminal';
    path: { id: string };
    response: Terminal;
  };
  /**
   * List the reports of shifts that have ended, newest first
   *
   * `created_gte` and `created_lt` compare when the shift ended.
   *
   * Needs a key with the scope `payments:read`.
   */
  'GET /v1/shifts': {
    id: 'listShifts';
    query?: ListShiftsQuery;
    response: ShiftReportList;
  };
  /**
   * Retrieve the report of a shift that has ended
   *
   * A shift that is open, or that ended before reports existed, has none: 404.
   *
   * Needs a key with the scope `payments:read`.
   */
  'GET /v1/shifts/{id}': {
    id: 'retrieveShift';
    path: { id: string };
    response: ShiftReport;
  };
  /**
   * Retrieve the balance
   *
   * Settled USDC that the settlement contract of the key’s network holds for the merchant.
   * Withdrawals to the settlement wallet are made in the dashboard.
   *
   * Needs a key with the scope `balance:read`.
   */
  'GET /v1/balance': {
    id: 'retrieveBalance';
    response: Balance;
  };
  /**
   * List the events of the last 30 days, newest first
   *
   * The same objects that webhooks deliver. To catch up after downtime, page through the list with
   * delivery_success=false, or with created_gte set to the time of your last event.
   *
   * Needs a key with the scope `events:read`.
   */
  'GET /v1/events': {
    id: 'listEvents';
    query?: ListEventsQuery;
    response: EventList;
  };
  /**
   * Retrieve an event
   *
   * Byte for byte what webhooks deliver.
   *
   * Needs a key with the scope `events:read`.
   */
  'GET /v1/events/{id}': {
    id: 'retrieveEvent';
    path: { id: string };
    response: Event;
  };
  /**
   * Follow events as they happen, as server-sent events
   *
   * Every event of the account and mode, in the list’s order. The server may end a stream at any
   * time: reconnect with `Last-Event-ID`, and you miss nothing of the last 30 days. An event may
   * come twice: deduplicate on its id. A key has at most 20 open streams, and revoking it ends
   * them. A client that reads too slowly is cut off.
   *
   * Needs a key with the scope `events:read`.
   */
  'GET /v1/events/stream': {
    id: 'streamEvents';
    query?: StreamEventsQuery;
    response: string;
  };
  /**
   * List all webhook endpoints of the mode
   *
   * At most 16, in one list, newest first.
   *
   * Needs a key with the scope `webhooks:read`.
   */
  'GET /v1/webhook_endpoints': {
    id: 'listWebhookEndpoints';
    response: ListWebhookEndpointsResponse;
  };
  /**
   * Create a webhook endpoint
   *
   * The response carries the signing secret, once.
   *
   * Needs a key with the scope `webhooks:write`.
   */
  'POST /v1/webhook_endpoints': {
    id: 'createWebhookEndpoint';
    body: CreateWebhookEndpointBody;
    response: WebhookEndpointWithSecret;
  };
  /**
   * Retrieve a webhook endpoint
   *
   * Needs a key with the scope `webhooks:read`.
   */
  'GET /v1/webhook_endpoints/{id}': {
    id: 'retrieveWebhookEndpoint';
    path: { id: string };
    response: WebhookEndpoint;
  };
  /**
   * Update a webhook endpoint
   *
   * Fields that you leave out stay as they are.
   *
   * Needs a key with the scope `webhooks:write`.
   */
  'PATCH /v1/webhook_endpoints/{id}': {
    id: 'updateWebhookEndpoint';
    path: { id: string };
    body?: UpdateWebhookEndpointBody;
    response: WebhookEndpoint;
  };
  /**
   * Delete a webhook endpoint
   *
   * Deliveries that are still pending are dropped.
   *
   * Needs a key with the scope `webhooks:write`.
   */
  'DELETE /v1/webhook_endpoints/{id}': {
    id: 'deleteWebhookEndpoint';
    path: { id: string };
    response: DeleteWebhookEndpointResponse;
  };
  /**
   * Rotate the signing secret
   *
   * For 24 hours deliveries are signed with both secrets.
   *
   * Needs a key with the scope `webhooks:write`.
   */
  'POST /v1/webhook_endpoints/{id}/rotate_secret': {
    id: 'rotateWebhookSecret';
    path: { id: string };
    response: WebhookEndpointWithSecret;
  };
  /**
   * List the deliveries of an endpoint, newest event first
   *
   * Needs a key with the scope `webhooks:read`.
   */
  'GET /v1/webhook_endpoints/{id}/deliveries': {
    id: 'listWebhookDeliveries';
    path: { id: string };
    query?: ListWebhookDeliveriesQuery;
    response: WebhookDeliveryList;
  };
  /**
   * Retrieve a delivery
   *
   * Needs a key with the scope `webhooks:read`.
   */
  'GET /v1/webhook_deliveries/{id}': {
    id: 'retrieveWebhookDelivery';
    path: { id: string };
    response: WebhookDelivery;
  };
  /**
   * Send a delivery again immediately
   *
   * Works in every status; the count of attempts continues. Read the delivery again to see the
   * result.
   *
   * Needs a key with the scope `webhooks:write`.
   */
  'POST /v1/webhook_deliveries/{id}/retry': {
    id: 'retryWebhookDelivery';
    path: { id: string };
    response: WebhookDelivery;
  };
  /**
   * Send a test event to an endpoint
   *
   * A `ping` event, sent once. The response is its delivery, with the result.
   *
   * Needs a key with the scope `webhooks:write`.
   */
  'POST /v1/webhook_endpoints/{id}/test': {
    id: 'testWebhookEndpoint';
    path: { id: string };
    response: WebhookDelivery;
  };
  /**
   * Send the events of a period again
   *
   * Every event from `since` to `until` of `types` (default: those the endpoint subscribes to) is
   * queued for the endpoint, whether or not it was delivered before. The service does this in
   * batches and resumes after a restart; follow the replay by its id.
   *
   * Needs a key with the scope `webhooks:write`.
   */
  'POST /v1/webhook_endpoints/{id}/replay': {
    id: 'replayWebhookEvents';
    path: { id: string };
    body: ReplayWebhookEventsBody;
    response: WebhookReplay;
  };
  /**
   * Retrieve a replay
   *
   * Needs a key with the scope `webhooks:read`.
   */
  'GET /v1/webhook_replays/{id}': {
    id: 'retrieveWebhookReplay';
    path: { id: string };
    response: WebhookReplay;
  };
  /**
   * Find the result of a request
   *
   * Use it when the response to a request was lost: it says whether the request is still running,
   * and which object it concerns. Percent-encode the key in the path.
   *
   * Needs a key with the scope `payments:read`.
   */
  'GET /v1/idempotency_keys/{key}': {
    id: 'retrieveIdempotencyKey';
    path: { key: string };
    response: IdempotencyKey;
  };
  /**
   * List the requests to this API of the last 30 days, newest first
   *
   * Calls with any key of the account and mode, without their bodies. A request appears about a
   * second after its response.
   *
   * Needs a key with the scope `logs:read`.
   */
  'GET /v1/request_log': {
    id: 'listRequestLog';
    query?: ListRequestLogQuery;
    response: LoggedRequestList;
  };
  /**
   * Simulate a customer who taps a pass on the terminal
   *
   * Default: the demo pass `ok` on the oldest open intent of the terminal.
   *
   * Needs a key with the scope `payments:write`.
   */
  'POST /v1/test_helpers/terminals/{id}/tap': {
    id: 'testTapTerminal';
    path: { id: string };
    idempotencyKey: 'optional';
    body?: TestTapTerminalBody;
    response: PaymentIntent;
  };
  /**
   * Simulate the payer's answer in the payer app's confirmation
   *
   * Needs a key with the scope `payments:write`.
   */
  'POST /v1/test_helpers/payment_intents/{id}/payer_confirm': {
    id: 'testPayerConfirm';
    path: { id: string };
    body: TestPayerConfirmBody;
    response: PaymentIntent;
  };
  /**
   * Simulate the expiry of an unpaid intent
   *
   * Needs a key with the scope `payments:write`.
   */
  'POST /v1/test_helpers/payment_intents/{id}/expire': {
    id: 'testExpirePaymentIntent';
    path: { id: string };
    response: PaymentIntent;
  };
  /**
   * Create an AI agent token of a payer for this account and amount
   *
   * Default: the payer of the demo pass `ok`, one hour.
   *
   * Needs a key with the scope `payments:write`.
   */
  'POST /v1/test_helpers/agent_tokens': {
    id: 'testCreateAgentToken';
    body: TestCreateAgentTokenBody;
    response: NewAgentToken;
  };
  /**
   * Send an event of any type
   *
   * The event is about the newest object of the account that was in such a state, or else about
   * the newest of that kind, shown in that state. The object itself does not change. Only an
   * account without such objects gets an event about a made-up one.
   *
   * Needs a key with the scope `payments:write`.
   */
  'POST /v1/test_helpers/events/trigger': {
    id: 'testTriggerEvent';
    body: TestTriggerEventBody;
    response: Event;
  };
  /**
   * Sign a sale as a customer does at an offline terminal
   *
   * Returns the record that the terminal would keep. Forward it with `POST
   * /api/device/v1/offline_payments`; until then nothing has happened. It is valid for a day,
   * whatever `accepted_at` says.
   *
   * Needs a key with the scope `payments:write`.
   */
  'POST /v1/test_helpers/terminals/{id}/offline_payment': {
    id: 'testOfflinePayment';
    path: { id: string };
    body?: TestOfflinePaymentBody;
    response: OfflineRecord;
  };
  /**
   * Produce the next tap of a SUN card
   *
   * Simulates the chip of a card of the test network, and counts its taps. Send the URL as a
   * credential of type `nfc_sun`.
   *
   * Needs a key with the scope `payments:write`.
   */
  'POST /v1/test_helpers/cards/{id}/taps': {
    id: 'testTapCard';
    path: { id: string };
    response: CardTap;
  };
  /**
   * Produce the current code of a pass
   *
   * Simulates the phone of a pass of the test network. The code changes every 30 seconds of real
   * time, and each code pays once. Send the value as a credential of type `rotating_code`.
   *
   * Needs a key with the scope `payments:write`.
   */
  'POST /v1/test_helpers/passes/{id}/rotating_code': {
    id: 'testRotatingCode';
    path: { id: string };
    response: RotatingCode;
  };
  /**
   * Produce the tap of a phone with the pass in Google Wallet
   *
   * Simulates a tap by Smart Tap of a pass of the test network. Send the value as a credential of
   * type `smart_tap`.
   *
   * Needs a key with the scope `payments:write`.
   */
  'POST /v1/test_helpers/passes/{id}/smart_tap': {
    id: 'testSmartTap';
    path: { id: string };
    response: PhoneTap;
  };
  /**
   * Produce the tap of a phone with the pass in Apple Wallet
   *
   * Simulates a tap by VAS of a pass of the test network. Send the value as a credential of type
   * `apple_vas`.
   *
   * Needs a key with the scope `payments:write`.
   */
  'POST /v1/test_helpers/passes/{id}/apple_vas': {
    id: 'testAppleVas';
    path: { id: string };
    response: PhoneTap;
  };
  /**
   * Retrieve the test clock of this account's test mode
   *
   * Needs a key with the scope `payments:read`.
   */
  'GET /v1/test_helpers/clock': {
    id: 'testReadClock';
    response: TestClock;
  };
  /**
   * Advance the clock of this account's test mode
   *
   * Moves the clock of the account ahead. Everything due by then happens immediately: intents
   * expire, confirmations time out, agent tokens and stored responses expire, events pass their
   * retention, refund windows close. Daily limits and velocity rules count by the new time, and
   * `created` shows it. Other accounts are not affected.
   *
   * Needs a key with the scope `payments:write`.
   */
  'POST /v1/test_helpers/clock/advance': {
    id: 'testAdvanceClock';
    body: TestAdvanceClockBody;
    response: TestClock;
  };
}
