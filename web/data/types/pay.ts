// Generated from openapi/pay.json by `npm run types`. Do not edit.

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

/** For eth_signTypedData_v4 (EIP-712). */
export interface PaymentAuthorization {
  /** The token. */
  domain: {
    /** The name of the token. */
    name: string;
    /** The version of the token. */
    version: string;
    /** The chain. */
    chainId: number;
    /** A wallet address. */
    verifyingContract: string;
  };
  /** The fields of the message, as EIP-3009 has them. */
  types: {
    ReceiveWithAuthorization: Array<{
      /** The name of the field. */
      name: string;
      /** Its type. */
      type: string;
    }>;
  };
  /** What is signed. */
  primaryType: 'ReceiveWithAuthorization';
  /**
   * `to` is the settlement contract. `nonce` is the keccak256 of the ABI encoding of the type hash
   * of PaymentAuthorization(uint32 merchant,uint64 amount,uint64 number,bytes8 orderId,bytes32
   * salt) and these five: recompute it before you sign.
   */
  message: {
    /** A wallet address. */
    from: string;
    /** A wallet address. */
    to: string;
    /** What leaves the wallet: `total_charged` less the cashback. */
    value: number;
    /** Valid at once. */
    validAfter: 0;
    /** Unix seconds: not valid from then on. */
    validBefore: number;
    /** 32 bytes in hex. */
    nonce: string;
  };
}

export interface PayLink {
  /** The type of the object. */
  object: 'pay_link';
  /** Of the payment: requires_payment_method while it can be paid. The list may grow. */
  status:
    | 'requires_payment_method'
    | 'requires_action'
    | 'processing'
    | 'succeeded'
    | 'canceled';
  /** Why a canceled payment has ended. The list may grow. */
  cancellation_reason: 'requested_by_merchant' | 'expired' | 'recovered' | null;
  /** Who is paid. */
  merchant: {
    /** Who is paid. */
    name: string;
    /** The merchant on the contract. */
    number: number | null;
  };
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  amount: number;
  /** USDC atoms (6 decimals). */
  tip_amount: number;
  /** The tips that the terminal offers its customer. null: none can be given. */
  tipping: {
    /** 1 to 3 of them, in the order they are shown. */
    percentages: number[];
  } | null;
  /** Paid on top of amount and tip; the cashback comes out of them. */
  fees: {
    /** USDC atoms (6 decimals). */
    acquirer: number;
    /** USDC atoms (6 decimals). */
    protocol: number;
    /** USDC atoms (6 decimals). */
    cashback: number;
  };
  /** Amount, tip, acquirer fee and protocol fee. */
  total_charged: number;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
  /** Where it is paid. */
  network: 'testnet' | 'mainnet';
  /** The id of the blockchain. */
  chain_id: number;
  /** A wallet address. */
  usdc: string;
  /** A wallet address. */
  settlement: string;
  /**
   * 1 to 8 characters of A-Z a-z 0-9 - _; written on-chain; unique per account and mode; made from
   * the Idempotency-Key when left out.
   */
  order_id: string;
  /** Of the payment, on the contract. */
  number: number;
  /** 32 bytes in hex. */
  salt: string | null;
  /** What the wallet signs: EIP-712. */
  typed_data: PaymentAuthorization | null;
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

export interface Receipt {
  /** The type of the object. */
  object: 'receipt';
  /** false in test mode. */
  livemode: boolean;
  /** The network of the mode. */
  network: 'testnet' | 'mainnet';
  merchant: {
    /** Who was paid. */
    name: string;
  };
  /**
   * 1 to 8 characters of A-Z a-z 0-9 - _; written on-chain; unique per account and mode; made from
   * the Idempotency-Key when left out.
   */
  order_id: string;
  /** What was bought, in the merchant’s words. */
  description: string | null;
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  sale: number;
  /** USDC atoms (6 decimals). */
  tip: number;
  /** Sale and tip together: USDC atoms (6 decimals). */
  amount: number;
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
  /** USDC atoms (6 decimals). */
  amount_refunded: number;
  /** Oldest first. */
  refunds: Array<{
    /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
    amount: number;
    /** Failed refunds are left out. */
    status: 'pending' | 'succeeded';
    /** Hash of the settlement transaction. */
    tx_hash: string | null;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  }>;
  /** USDC, always. */
  currency: 'usdc';
  /** The payer’s address, shortened. */
  payer: string;
  /** What the customer paid with. */
  payment_method: {
    /** How it was paid. The list may grow. */
    type: 'wallet_pass' | 'wallet' | 'agent_token' | 'unknown';
    /** What was presented. The list may grow. */
    credential: 'nfc_id' | 'nfc_sun' | 'qr' | 'authorization' | 'agent_token' | 'unknown';
  };
  /** ISO 8601 UTC with milliseconds. */
  settled_at: string;
  /** Where the chain confirms it. `npm run receipt` and the page check it. */
  proof: {
    /** The id of the blockchain. */
    chain_id: number;
    /** On the chain. */
    settlement: string;
    /** Hash of the settlement transaction. */
    tx_hash: string;
    /** The block that settled the payment. */
    block_number: number;
    /** The place of its event in the block. */
    log_index: number;
    /**
     * PaymentSettled(uint64 indexed number, address indexed payer, bytes17 terms, uint256
     * charges). terms: merchant (4 bytes), amount (5), order id (8). charges: batch, acquirer fee,
     * protocol fee and cashback, 8 bytes each.
     */
    event: 'PaymentSettled';
    /** Of the payment, on the contract. */
    number: number;
    /** Of the batch that it was settled in. */
    batch: number;
    /** The merchant’s number on the contract. */
    merchant: number | null;
    /** A node that anybody may ask, if the operator names one. */
    rpc_url: string | null;
    /** The transaction at an explorer, if the operator names one. */
    explorer_url: string | null;
  };
}

export interface RetrievePayLinkQuery {
  /** The wallet that is to pay: with it the answer has `typed_data`. */
  from?: string;
  /**
   * USDC atoms on top of the amount of the sale, and at most that amount; sale and tip together
   * are at most 1000000000000. Only where the intent has `tipping`.
   */
  tip_amount?: number;
}

export interface AuthorizePayLinkBody {
  /** A wallet address. */
  from: string;
  /** Over `typed_data`: 65 bytes of a key, or of any length for a contract wallet (ERC-1271). */
  signature: string;
  /**
   * USDC atoms on top of the amount of the sale, and at most that amount; sale and tip together
   * are at most 1000000000000. Only where the intent has `tipping`.
   */
  tip_amount?: number;
}

/** Every operation by method and path: what it takes, and what it answers. */
export interface Operations {
  /**
   * What a pay link asks for, and what a wallet has to sign for it
   *
   * Without `from`, and on a link that cannot be paid now, `typed_data` is null. Sign only what
   * you have recomputed: `to` is the settlement contract, `value` is `total_charged` less the
   * cashback, and `nonce` binds merchant, amount, number, order and salt.
   */
  'GET /pay/v1/{token}': {
    id: 'retrievePayLink';
    path: { token: string };
    query?: RetrievePayLinkQuery;
    response: PayLink;
  };
  /**
   * Pay with what the wallet has signed
   *
   * Only one authorization is under way at a time. The same `from` and `signature` again get the
   * first answer. The payer needs no gas.
   */
  'POST /pay/v1/{token}/authorization': {
    id: 'authorizePayLink';
    path: { token: string };
    body: AuthorizePayLinkBody;
    response: PaymentIntent;
  };
  /**
   * A paid payment, for anybody who has the address of its receipt
   *
   * The token is the last part of a payment’s `receipt_url`.
   */
  'GET /pay/v1/receipts/{token}': {
    id: 'retrieveReceipt';
    path: { token: string };
    response: Receipt;
  };
}
