// Generated from openapi/payer.json by `npm run types`. Do not edit.

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

export interface PayerNetwork {
  /** The type of the object. */
  object: 'network';
  /** false on the test network. */
  livemode: boolean;
  /** The network. */
  network: 'testnet' | 'mainnet';
  /** The id of the blockchain. */
  chain_id: number;
  /** A wallet address. */
  usdc: string;
  /** The EIP-712 domain of the token. */
  usdc_domain: {
    /** The name, as people read it. */
    name: string;
    /** Rises with every change: send back the one that you have seen. */
    version: string;
  };
  /** A wallet address. */
  settlement: string;
  /** A public node of the chain, for browsers that ask it themselves; or null. */
  rpc_url: string | null;
  /** The wallets of phones that the operator makes pass files for. */
  pass_files: Array<'apple' | 'google'>;
}

export interface Payer {
  /** The id of a payer: pyr_… */
  id: string;
  /** The type of the object. */
  object: 'payer';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** A wallet address. */
  address: string;
  /** A blocked payer is declined everywhere. */
  status: 'active' | 'blocked';
  /** The limits of the payer, in atoms. */
  limits: {
    /** USDC atoms, 1 to 1000000000000; null: no limit of its own. */
    per_payment: number | null;
    /** USDC atoms, 1 to 1000000000000; null: no limit of its own. */
    per_day: number | null;
    /** Whether each first payment at a merchant has to be confirmed. */
    confirm_first_payment: boolean;
  };
  /** ISO 8601 UTC with milliseconds. */
  created: string;
}

export interface PayerSession {
  /** The type of the object. */
  object: 'payer_session';
  /** Bearer token (tlps_…). Shown only once. */
  token: string;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
  payer: Payer;
}

export interface Pass {
  /** The id of a pass: pass_… */
  id: string;
  /** The type of the object. */
  object: 'pass';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** What the payer calls it. */
  label: string;
  /** A revoked pass pays nothing. */
  status: 'active' | 'revoked';
  /** ISO 8601 UTC with milliseconds. */
  revoked_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
}

export interface PassList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: Pass[];
  /** Whether there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

export interface NewPass {
  /** The id of a pass: pass_… */
  id: string;
  /** The type of the object. */
  object: 'pass';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** What the payer calls it. */
  label: string;
  /** A revoked pass pays nothing. */
  status: 'active' | 'revoked';
  /** ISO 8601 UTC with milliseconds. */
  revoked_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** What the chip says (nfc_…). Shown only once. */
  nfc_id: string;
}

export interface Card {
  /** The id of a card: card_… */
  id: string;
  /** The type of the object. */
  object: 'card';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** What the payer calls it. */
  label: string;
  /** A revoked card pays nothing. */
  status: 'active' | 'revoked';
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  per_payment_limit: number;
  /** ISO 8601 UTC with milliseconds. */
  last_used_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  revoked_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
}

export interface CardList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: Card[];
  /** Whether there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

export interface NewCard {
  /** The id of a card: card_… */
  id: string;
  /** The type of the object. */
  object: 'card';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  /** What the payer calls it. */
  label: string;
  /** A revoked card pays nothing. */
  status: 'active' | 'revoked';
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  per_payment_limit: number;
  /** ISO 8601 UTC with milliseconds. */
  last_used_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  revoked_at: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** SDMMetaReadKey of the chip: an AES-128 key in hex. Shown only once. */
  meta_read_key: string;
  /** SDMFileReadKey of the chip: an AES-128 key in hex. Shown only once. */
  file_read_key: string;
  /**
   * What to write into the chip. It puts its encrypted PICC data over the zeros of `p` and its MAC
   * over those of `c`.
   */
  url_template: string;
}

export interface PassCode {
  /** What the QR code says (tlpc_…). Shown only once. */
  value: string;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
}

export interface SaveLink {
  /** Opens Google Wallet, which asks whether to keep the pass. */
  url: string;
}

export interface Wallet {
  /** The type of the object. */
  object: 'wallet';
  /** false on the test network. */
  livemode: boolean;
  /** The network. */
  network: 'testnet' | 'mainnet';
  /** The id of the blockchain. */
  chain_id: number;
  /** A wallet address. */
  usdc: string;
  /** The EIP-712 domain of the token. */
  usdc_domain: {
    /** The name, as people read it. */
    name: string;
    /** Rises with every change: send back the one that you have seen. */
    version: string;
  };
  /** A wallet address. */
  settlement: string;
  /** A wallet address. */
  address: string;
  /** USDC atoms (6 decimals). */
  balance: number;
  /** USDC atoms (6 decimals). */
  allowance: number;
  /** The spending policy. */
  policy: {
    /** USDC atoms (6 decimals). */
    per_payment: number;
    /** USDC atoms (6 decimals). */
    per_period: number;
    period_seconds: number;
    /** USDC atoms (6 decimals). */
    spent: number;
    /** ISO 8601 UTC with milliseconds. */
    expires_at: string;
    max_fee_rate: number;
  } | null;
  /**
   * What the contract charges the payer on top of a sale, and gives back of it; each is rounded
   * down.
   */
  fee_rates: {
    /** Basis points of the sale. */
    acquirer: number;
    /** Basis points of the sale. */
    protocol: number;
    /** Basis points of the sale. */
    cashback: number;
  };
  /** The next nonces of the wallet, on the chain. */
  nonces: {
    /** An EIP-2612 permit for the settlement contract. */
    permit: number;
    /** The spending policy. */
    policy: number;
  };
  /**
   * Both messages with suggested terms, ready for `eth_signTypedData_v4`. A payment needs both. To
   * change a term, change it in the message and in the body.
   */
  to_sign: {
    /** An EIP-2612 permit for the settlement contract. */
    permit: {
      /** EIP-712: domain, types, primaryType and message. */
      typed_data: Record<string, unknown>;
      /** The same for `POST /approvals`, which also wants its `signature`. */
      body: Record<string, unknown>;
    };
    /** The spending policy. */
    policy: {
      /** EIP-712: domain, types, primaryType and message. */
      typed_data: Record<string, unknown>;
      /** The same for `POST /approvals`, which also wants its `signature`. */
      body: Record<string, unknown>;
    };
  };
}

export interface PayerRequest {
  /** apv_… or fct_… */
  id: string;
  /** What was requested from the chain. */
  object: 'approval' | 'faucet_grant';
  /** true in live mode, false in test mode. */
  livemode: boolean;
  /** The network. */
  network: 'testnet' | 'mainnet';
  /** `pending` resolves by itself. */
  status: 'pending' | 'succeeded' | 'failed';
  /** Why it failed, or null. */
  failure_code: string | null;
  /** The hash of the transaction on the chain, or null. */
  tx_hash: string | null;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  updated: string;
}

export interface Confirmation {
  /** The type of the object. */
  object: 'confirmation';
  /** true in live mode, false in test mode. */
  livemode: boolean;
  /** The network. */
  network: 'testnet' | 'mainnet';
  /** The id of a payment intent: pi_… */
  payment_intent: string;
  /** The status of the payment intent. */
  status: string;
  /** The id of an account: acct_… */
  account: string;
  /** The name of the merchant. */
  merchant_name: string;
  /** What is to be paid, sale and tip: USDC atoms. */
  amount: number;
  /** USDC, always. */
  currency: 'usdc';
  /** USDC atoms (6 decimals). */
  tip: number;
  /** The merchant's own id of the order. */
  order_id: string;
  /** Text that the merchant gave. */
  description: string | null;
  /** The rule or the reason, in capitals. */
  reason_code: string | null;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string | null;
  /** The id of a payment: pay_… */
  payment: string | null;
  /** Why it was declined. */
  decline_code: string | null;
}

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
  /** held: its intent is under way. spent: it has paid. */
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

export interface AgentToken {
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
  /** held: its intent is under way. spent: it has paid. */
  status: 'active' | 'held' | 'spent' | 'expired' | 'revoked';
  /** The id of a payment intent: pi_… */
  payment_intent: string | null;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
}

export interface AgentTokenList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: AgentToken[];
  /** Whether there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

export interface PayerPayment {
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
  /** The name of the merchant. */
  merchant_name: string;
}

export interface PayerPaymentList {
  /** The type of the object. */
  object: 'list';
  /** Newest first. */
  data: PayerPayment[];
  /** Whether there is another page. */
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

export interface PayerPersonalData {
  /** The type of the object. */
  object: 'personal_data';
  /** ISO 8601 UTC with milliseconds. */
  exported_at: string;
  payer: Payer;
  /** Passes of the payer. */
  passes: Pass[];
  cards: Card[];
  /** Tokens that agents pay with. */
  agent_tokens: AgentToken[];
  /** What was requested from the chain. */
  requests: PayerRequest[];
  /** Where the person is signed in. */
  sessions: Array<{
    /** ISO 8601 UTC with milliseconds. */
    created: string;
    /** ISO 8601 UTC with milliseconds. */
    expires_at: string;
  }>;
  /** Payments of the period. */
  payments: PayerPayment[];
  /** Whether there are more than 10000 payments: GET /payments has them all. */
  payments_left_out: boolean;
}

export interface Push {
  /** The type of the object. */
  object: 'push';
  /**
   * The key that a browser subscribes for (`applicationServerKey`, base64url). null: the operator
   * has not set up Web Push.
   */
  public_key: string | null;
  /** Whether the browser of this session is rung. */
  subscribed: boolean;
}

export interface ListPayerNetworksResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: PayerNetwork[];
  /** Whether there is another page. */
  has_more: boolean;
  /** Send it as `cursor` for the next page; null on the last one. */
  next_cursor: null;
}

export interface CreatePayerNonceResponse {
  /** For one EIP-4361 message. */
  nonce: string;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
}

export interface SignInPayerBody {
  /** The EIP-4361 message, exactly as it was signed. */
  message: string;
  /** The signature of the wallet, 64 or 65 bytes in hex. */
  signature: string;
}

export interface ListPassesQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
}

export interface CreatePassBody {
  /** Up to 100 characters: what the payer calls it. */
  label?: string;
}

export interface UpdatePayerLimitsBody {
  /** USDC atoms, 1 to 1000000000000; null: no limit of its own. */
  per_payment?: number | null;
  /** USDC atoms, 1 to 1000000000000; null: no limit of its own. */
  per_day?: number | null;
  /** Whether each first payment at a merchant has to be confirmed. */
  confirm_first_payment?: boolean;
}

export interface ListCardsQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
}

export interface CreateCardBody {
  /** Up to 100 characters: what the payer calls it. */
  label?: string;
  /**
   * The largest payment that this card may make, in USDC atoms, without fees. Default: 50000000.
   *
   * @default 50000000
   */
  per_payment_limit?: number;
}

export interface UpdateCardBody {
  /** Up to 100 characters: what the payer calls it. */
  label?: string;
  /** The largest payment that this card may make, in USDC atoms, without fees. */
  per_payment_limit?: number;
}

export interface CreateApprovalBody {
  /** An EIP-2612 permit. */
  permit?: {
    /** USDC atoms that the settlement contract may take in all. */
    value: number;
    /** Unix seconds. */
    deadline: number;
    /** The signature of the wallet, 64 or 65 bytes in hex. */
    signature: string;
  };
  /** A standing spending policy. */
  policy?: {
    /** USDC atoms. */
    per_payment: number;
    /** USDC atoms. */
    per_period: number;
    /** How long a period is. */
    period_seconds: number;
    /** Unix seconds. */
    expires_at: number;
    /** Basis points of acquirer and protocol fee together. */
    max_fee_rate: number;
    /** Unix seconds. */
    deadline: number;
    /** The signature of the wallet, 64 or 65 bytes in hex. */
    signature: string;
  };
}

export interface AskFaucetBody {
  /** Test USDC atoms, 1 to 1000000000; default 100000000. */
  amount?: number;
}

export interface ListConfirmationsQuery {
  /**
   * Seconds to wait for a change, 0 to 25. Default 0.
   *
   * @default 0
   */
  wait?: number;
  /**
   * With `wait`: the payment intents that the app shows already, separated by commas. Answers as
   * soon as other payments wait.
   */
  known?: string;
}

export interface ListConfirmationsResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Confirmation[];
  /** Whether there is another page. */
  has_more: boolean;
  /** Send it as `cursor` for the next page; null on the last one. */
  next_cursor: null;
}

export interface ListAgentTokensQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
}

export interface CreateAgentTokenBody {
  /** The id of a merchant account: acct_… */
  account: string;
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  amount: number;
  /** Seconds until the token expires: 60 to 86400. */
  expires_in: number;
}

export interface ListPayerPaymentsQuery {
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
  /** `next_cursor` of the previous page, sent with the same filters. */
  cursor?: string;
}

export interface SavePushBody {
  /** The `endpoint` of the browser’s `PushSubscription`. */
  endpoint: string;
}

/** Every operation by method and path: what it takes, and what it answers. */
export interface Operations {
  /**
   * The networks that are served, and the contracts on them
   *
   * Needs no session. The network that a new wallet should open comes first: the test network of a
   * sandbox, the main one in production.
   */
  'GET /payer/v1/networks': {
    id: 'listPayerNetworks';
    response: ListPayerNetworksResponse;
  };
  /**
   * A nonce for one sign-in message
   *
   * A nonce for one sign-in message
   */
  'POST /payer/v1/sign_in/nonce': {
    id: 'createPayerNonce';
    response: CreatePayerNonceResponse;
  };
  /**
   * Sign in with the wallet
   *
   * An EIP-4361 message for this site, signed by the wallet. The chain of the message chooses the
   * network.
   */
  'POST /payer/v1/sign_in': {
    id: 'signInPayer';
    body: SignInPayerBody;
    response: PayerSession;
  };
  /**
   * End this session
   *
   * End this session
   */
  'POST /payer/v1/sign_out': {
    id: 'signOutPayer';
    response: null;
  };
  /**
   * The payer who is signed in
   *
   * The payer who is signed in
   */
  'GET /payer/v1/me': {
    id: 'retrievePayer';
    response: Payer;
  };
  /**
   * The payer's passes: those that work first, then newest first
   *
   * The payer's passes: those that work first, then newest first
   */
  'GET /payer/v1/passes': {
    id: 'listPasses';
    query?: ListPassesQuery;
    response: PassList;
  };
  /**
   * A new pass; its credential is shown only once
   *
   * A new pass; its credential is shown only once
   */
  'POST /payer/v1/passes': {
    id: 'createPass';
    body?: CreatePassBody;
    response: NewPass;
  };
  /**
   * Revoke a pass: no tap with it is accepted from now on
   *
   * Revoke a pass: no tap with it is accepted from now on
   */
  'DELETE /payer/v1/passes/{id}': {
    id: 'revokePass';
    path: { id: string };
    response: Pass;
  };
  /**
   * The payer's own limits
   *
   * Per payment and per UTC day, without fees; null removes a limit.
   */
  'PATCH /payer/v1/limits': {
    id: 'updatePayerLimits';
    body?: UpdatePayerLimitsBody;
    response: Payer;
  };
  /**
   * The payer's cards: those that work first, then newest first
   *
   * The payer's cards: those that work first, then newest first
   */
  'GET /payer/v1/cards': {
    id: 'listCards';
    query?: ListCardsQuery;
    response: CardList;
  };
  /**
   * A new card (NTAG 424 DNA); its keys are shown only once
   *
   * Write `url_template` and both keys into the chip. The first tap that is accepted binds the
   * card to that chip.
   */
  'POST /payer/v1/cards': {
    id: 'createCard';
    body?: CreateCardBody;
    response: NewCard;
  };
  /**
   * A card's label and limit
   *
   * A card's label and limit
   */
  'PATCH /payer/v1/cards/{id}': {
    id: 'updateCard';
    path: { id: string };
    body?: UpdateCardBody;
    response: Card;
  };
  /**
   * Delete a card, such as a lost one: no tap with it is accepted from now on
   *
   * Delete a card, such as a lost one: no tap with it is accepted from now on
   */
  'DELETE /payer/v1/cards/{id}': {
    id: 'deleteCard';
    path: { id: string };
    response: Card;
  };
  /**
   * A code of a pass that pays once, within a minute
   *
   * For the QR code of the wallet app; the terminal sends it as a credential of type `qr`. It is
   * used up by the attempt that presents it.
   */
  'POST /payer/v1/passes/{id}/codes': {
    id: 'createPassCode';
    path: { id: string };
    response: PassCode;
  };
  /**
   * The pass as a file for Apple Wallet
   *
   * Its name and a link to the wallet app, never a credential.
   */
  'GET /payer/v1/passes/{id}/apple': {
    id: 'downloadApplePass';
    path: { id: string };
    response: Blob;
  };
  /**
   * A link that adds the pass to Google Wallet
   *
   * Its name and a link to the wallet app, never a credential.
   */
  'GET /payer/v1/passes/{id}/google': {
    id: 'createGooglePassLink';
    path: { id: string };
    response: SaveLink;
  };
  /**
   * What the wallet holds and allows, and what its next signatures need
   *
   * What the wallet holds and allows, and what its next signatures need
   */
  'GET /payer/v1/approvals': {
    id: 'retrieveWallet';
    response: Wallet;
  };
  /**
   * Relay a signed permit and spending policy: the payer needs no gas
   *
   * Relay a signed permit and spending policy: the payer needs no gas
   */
  'POST /payer/v1/approvals': {
    id: 'createApproval';
    body?: CreateApprovalBody;
    response: PayerRequest;
  };
  /**
   * What became of an approval, or of test funds, that was `pending`
   *
   * What became of an approval, or of test funds, that was `pending`
   */
  'GET /payer/v1/approvals/{id}': {
    id: 'retrieveApproval';
    path: { id: string };
    response: PayerRequest;
  };
  /**
   * Test USDC for the wallet
   *
   * Up to 1000000000 atoms at once. On the test network only, and only where its token is ours:
   * with Circle's USDC the answer is `not_configured` and says where to get it.
   */
  'POST /payer/v1/faucet': {
    id: 'askFaucet';
    body?: AskFaucetBody;
    response: PayerRequest;
  };
  /**
   * Payments that wait for the payer’s confirmation
   *
   * With `wait` this is a long poll: it answers as soon as a payment waits.
   */
  'GET /payer/v1/confirmations': {
    id: 'listConfirmations';
    query?: ListConfirmationsQuery;
    response: ListConfirmationsResponse;
  };
  /**
   * Confirm a payment
   *
   * Within 60 seconds of the tap.
   */
  'POST /payer/v1/confirmations/{intent}/approve': {
    id: 'approveConfirmation';
    path: { intent: string };
    response: Confirmation;
  };
  /**
   * Reject a payment
   *
   * Within 60 seconds of the tap.
   */
  'POST /payer/v1/confirmations/{intent}/reject': {
    id: 'rejectConfirmation';
    path: { intent: string };
    response: Confirmation;
  };
  /**
   * The payer's agent tokens: those that are not revoked first, then newest first
   *
   * The payer's agent tokens: those that are not revoked first, then newest first
   */
  'GET /payer/v1/agent_tokens': {
    id: 'listAgentTokens';
    query?: ListAgentTokensQuery;
    response: AgentTokenList;
  };
  /**
   * A token with which an AI agent pays this merchant this amount, once
   *
   * A token with which an AI agent pays this merchant this amount, once
   */
  'POST /payer/v1/agent_tokens': {
    id: 'createAgentToken';
    body: CreateAgentTokenBody;
    response: NewAgentToken;
  };
  /**
   * Revoke an agent token: it pays nothing more from now on
   *
   * A payment that is on its way with it is not undone.
   */
  'DELETE /payer/v1/agent_tokens/{id}': {
    id: 'revokeAgentToken';
    path: { id: string };
    response: AgentToken;
  };
  /**
   * The payer's payments at all merchants, newest first
   *
   * The payer's payments at all merchants, newest first
   */
  'GET /payer/v1/payments': {
    id: 'listPayerPayments';
    query?: ListPayerPaymentsQuery;
    response: PayerPaymentList;
  };
  /**
   * Everything that is kept about the payer, in one document
   *
   * Credentials and their hashes are left out. Needs a sign-in from the last five minutes.
   */
  'POST /payer/v1/me/export': {
    id: 'exportPayerData';
    response: PayerPersonalData;
  };
  /**
   * Erase passes, tokens, limits, requests and sessions
   *
   * Cannot be undone, and ends this session. Payments keep address and amounts, and the wallet
   * stays known for them; a payment that is on its way is not undone. Allowance and spending
   * policy are on the chain: revoke them with the wallet. Needs a sign-in from the last five
   * minutes.
   */
  'POST /payer/v1/me/erase': {
    id: 'erasePayerData';
    response: null;
  };
  /**
   * Whether this browser is rung while the wallet is closed
   *
   * Whether this browser is rung while the wallet is closed
   */
  'GET /payer/v1/push': {
    id: 'retrievePush';
    response: Push;
  };
  /**
   * Ring this browser when a payment waits for a yes
   *
   * Until the session ends. A ring has no content: the push service learns nothing.
   */
  'PUT /payer/v1/push': {
    id: 'savePush';
    body: SavePushBody;
    response: Push;
  };
  /**
   * Ring this browser no more
   *
   * Ring this browser no more
   */
  'DELETE /payer/v1/push': {
    id: 'deletePush';
    response: Push;
  };
}
