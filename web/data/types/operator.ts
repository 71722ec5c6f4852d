// Generated from openapi/operator.json by `npm run types`. Do not edit.

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

export interface OperatorReadSessionResponse {
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

export interface OperatorSignInBody {
  /** An e-mail address. */
  email: string;
  /** 12 to 256 characters. */
  password: string;
}

export interface OperatorSignInResponse {
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

export interface OperatorSignOutResponse {
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

export interface OperatorProveSecondFactorBody {
  /** Six digits of the authenticator app, or a recovery code. */
  code: string;
}

export interface OperatorProveSecondFactorResponse {
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
export type OperatorBeginPasskeySignInResponse = Record<string, unknown>;

export interface OperatorSignInWithPasskeyBody {
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

export interface OperatorSignInWithPasskeyResponse {
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
export type OperatorBeginPasskeyFactorResponse = Record<string, unknown>;

export interface OperatorProvePasskeyBody {
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

export interface OperatorProvePasskeyResponse {
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

export interface OperatorRequestPasswordResetBody {
  /** An e-mail address. */
  email: string;
}

export interface OperatorRequestPasswordResetResponse {
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

export interface OperatorCompletePasswordResetBody {
  /** The token of the link: the part after #token=. */
  token: string;
  /** 12 to 256 characters. */
  password: string;
}

export interface OperatorCompletePasswordResetResponse {
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

export interface OperatorChangePasswordBody {
  /** 12 to 256 characters. */
  current_password: string;
  /** 12 to 256 characters. */
  password: string;
}

export interface OperatorChangePasswordResponse {
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

export interface OperatorUpdateMeBody {
  /** A name of 1 to 100 characters. */
  name: string;
}

export interface OperatorUpdateMeResponse {
  /** A name of 1 to 100 characters. */
  name: string;
}

export interface OperatorListSessionsResponse {
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

export interface OperatorSignOutEverywhereResponse {
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

export interface OperatorEndSessionResponse {
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

export interface OperatorBeginTotpBody {
  /** 12 to 256 characters. */
  current_password?: string;
}

export interface OperatorBeginTotpResponse {
  /** Shown only once. */
  secret: string;
  /** The otpauth: link for the authenticator app. */
  uri: string;
}

export interface OperatorRemoveTotpResponse {
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

export interface OperatorConfirmTotpBody {
  /** Six digits of the authenticator app, or a recovery code. */
  code: string;
}

export interface OperatorConfirmTotpResponse {
  /** Codes for a lost second factor. Shown only once. */
  recovery_codes: string[];
}

export interface OperatorReplaceRecoveryCodesResponse {
  /** Codes for a lost second factor. Shown only once. */
  recovery_codes: string[];
}

export interface OperatorConfirmRecoveryCodesSavedResponse {
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

export interface OperatorListPasskeysResponse {
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

export interface OperatorAddPasskeyBody {
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

export interface OperatorAddPasskeyResponse {
  /** The id of a passkey: pkey_… */
  id: string;
}

export interface OperatorBeginPasskeyBody {
  /** 12 to 256 characters. */
  current_password?: string;
}

/** WebAuthn options: pass them to the browser unchanged. */
export type OperatorBeginPasskeyResponse = Record<string, unknown>;

export interface OperatorRemovePasskeyResponse {
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

export interface OperatorExportMyDataBody {
  /** 12 to 256 characters. */
  current_password?: string;
}

export interface OperatorExportMyDataResponse {
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

export interface OperatorEraseMyDataBody {
  /** 12 to 256 characters. */
  current_password?: string;
}

export interface OperatorEraseMyDataResponse {
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

export interface ListVerificationQueueResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** The id of an account: acct_… */
    account: string;
    /** The name, as people read it. */
    name: string;
    /** ISO 8601 UTC with milliseconds. */
    submitted_at: string;
    /** Files that were uploaded. */
    documents: number;
  }>;
}

export interface ReadSubmissionResponse {
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

export type DownloadSubmittedDocumentResponse = Record<string, unknown>;

export interface DecideVerificationBody {
  /** A rejection needs a reason. */
  decision: 'approved' | 'rejected';
  /** Shown to the merchant. */
  reason?: string;
}

export interface DecideVerificationResponse {
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

export interface SearchAccountsQuery {
  /** An id, an e-mail address or the beginning of a name. */
  text?: string;
  /** The id of an account: acct_… */
  before?: string;
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
}

export interface SearchAccountsResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** The id of an account: acct_… */
    id: string;
    /** The name, as people read it. */
    name: string;
    /** Whether it can be used. */
    status: 'active' | 'disabled';
    /** The status of the business verification. */
    kyb_status: string;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  }>;
}

export interface ReadAnyAccountResponse {
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
  /** The people of the account. */
  members: Array<{
    /** The id of an user: usr_… */
    user?: string;
    /** An e-mail address. */
    email?: string;
    /** A name. */
    name?: string;
    /** viewer, member, admin or owner. */
    role?: 'viewer' | 'member' | 'admin' | 'owner';
    /** Whether the person has a second factor. */
    two_factor?: boolean;
    /** Send it back with the next change. */
    version?: number;
    /** ISO 8601 UTC with milliseconds. */
    created?: string;
  }>;
}

export interface DisableAccountBody {
  /** Shown to the merchant. */
  reason: string;
}

export interface DisableAccountResponse {
  /** The id of an account: acct_… */
  id: string;
  /** Its state. The list may grow. */
  status: string | null;
}

export interface EnableAccountBody {
  /** Shown to the merchant. */
  reason: string;
}

export interface EnableAccountResponse {
  /** The id of an account: acct_… */
  id: string;
  /** Its state. The list may grow. */
  status: string | null;
}

export interface SearchPayersQuery {
  /** A payer id or a wallet address. */
  text: string;
}

export interface SearchPayersResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** The id of a payer: pyr_… */
    id: string;
    /** testnet or mainnet. */
    network: string;
    /** An address of the chain: 0x and 40 hexadecimal digits. */
    address: string;
    /** Passes of the payer. */
    passes: number;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
    /** ISO 8601 UTC with milliseconds. */
    blocked_at: string | null;
  }>;
}

export interface BlockAnyPayerBody {
  /** For the audit log. */
  reason: string;
}

export interface BlockAnyPayerResponse {
  /** The id of a proposal: prop_… */
  id: string;
  /** What is to be done. More kinds may come. */
  kind: 'block_payer' | 'unblock_payer' | 'pause' | 'unpause' | 'change_rates';
  /** testnet or mainnet. */
  network: string;
  /** The payer, or the network. */
  subject: string;
  /** Rates in basis points; else empty. */
  payload: Record<string, unknown>;
  reason: string;
  /** Whether somebody has decided. */
  status: 'open' | 'approved' | 'rejected';
  /** The address of the person who asked for it. */
  proposed_by: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
  /** null: nobody yet, or there was nobody else. */
  decided_by: string | null;
  /** ISO 8601 UTC with milliseconds. */
  decided_at: string | null;
  /** Why it was decided so, in words for the merchant. */
  decision_reason: string | null;
}

export interface UnblockAnyPayerBody {
  /** For the audit log. */
  reason: string;
}

export interface UnblockAnyPayerResponse {
  /** The id of a proposal: prop_… */
  id: string;
  /** What is to be done. More kinds may come. */
  kind: 'block_payer' | 'unblock_payer' | 'pause' | 'unpause' | 'change_rates';
  /** testnet or mainnet. */
  network: string;
  /** The payer, or the network. */
  subject: string;
  /** Rates in basis points; else empty. */
  payload: Record<string, unknown>;
  reason: string;
  /** Whether somebody has decided. */
  status: 'open' | 'approved' | 'rejected';
  /** The address of the person who asked for it. */
  proposed_by: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
  /** null: nobody yet, or there was nobody else. */
  decided_by: string | null;
  /** ISO 8601 UTC with milliseconds. */
  decided_at: string | null;
  /** Why it was decided so, in words for the merchant. */
  decision_reason: string | null;
}

export interface ReadRelayersResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<Record<string, unknown>>;
}

export interface ResolveAlarmBody {
  /** For the audit log. */
  reason: string;
}

export interface ResolveAlarmResponse {
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

export interface AcceptDifferenceBody {
  /** For the audit log. */
  reason: string;
}

export interface AcceptDifferenceResponse {
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

export interface ReadQueuesResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** The name of the queue. */
    queue: string;
    /** The number of waiting entries. */
    waiting: number;
    /** ISO 8601 UTC with milliseconds. */
    oldest: string | null;
  }>;
}

/** The settings by name, secrets masked. */
export type ReadConfigurationResponse = Record<string, unknown>;

export interface ListNetworkAuditLogQuery {
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
  /** The id of an account: acct_… */
  account?: string;
}

export interface ListNetworkAuditLogResponse {
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

export interface ReadRecoveriesResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** testnet or mainnet. */
    network: string;
    /** recovering: nothing is taken until it is done. */
    status: 'done' | 'recovering';
    reason: string | null;
    /** What was done before is missing, not only maybe. */
    loss_shown: boolean;
    /** A block number, in decimal digits. */
    from_block: string | null;
    /** A block number, in decimal digits. */
    read_to: string | null;
    /** A block number, in decimal digits. */
    head: string | null;
    /** ISO 8601 UTC with milliseconds. */
    started: string | null;
    /** ISO 8601 UTC with milliseconds. */
    finished: string | null;
    /** Booked from the chain in this run. */
    payments: number;
    /** Refunds of the period. */
    refunds: number;
    withdrawals: number;
    /** Intents that a loss made doubtful. */
    canceled: number;
    /** Tokens, links, codes and sessions that ended. */
    credentials: number;
  }>;
}

export interface ReadContractsResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** testnet or mainnet. */
    network: string;
    chain_id: number;
    settlement: string;
    rates: {
      /** Basis points. */
      acquirer: number;
      /** Basis points. */
      protocol: number;
      /** Basis points. */
      cashback: number;
    } | null;
  }>;
}

export interface ListAlarmsQuery {
  /** `next_cursor` of the previous page. */
  before?: string;
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
}

export interface ListAlarmsResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** The id of the object. */
    id: string;
    /** testnet or mainnet. */
    network: string;
    kind: string;
    subject: string;
    /** What the alarm knows. */
    details: Record<string, unknown>;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  }>;
  /** Whether there is another page. */
  has_more: boolean;
  /** Send it as `before`. */
  next_cursor: string | null;
}

export interface ReadReconciliationQuery {
  /** `next_cursor` of the previous page. */
  before?: string;
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
}

export interface ReadReconciliationResponse {
  /** How far each chain has been read. */
  cursors: Array<Record<string, unknown>>;
  /** Where ledger and chain differ. Normally the list is empty. */
  differences: Array<Record<string, unknown>>;
  /** Whether there is another page. */
  has_more: boolean;
  /** Send it as `before`. */
  next_cursor: string | null;
}

export interface VerifyAuditLogQuery {
  /** The id of an account: acct_… */
  account?: string;
  /** Continue after this entry: `verified_to` of the previous answer. */
  after?: number;
}

export interface VerifyAuditLogResponse {
  /** The type of the object. */
  object: 'audit_verification';
  /** Each entry that was read fits the one before it. */
  intact: boolean;
  /** The last entry that fits. */
  verified_to: number;
  /** Its hash. Compare it with one that was written down. */
  hash: string;
  /** The first entry that does not fit. */
  broken_at: number | null;
  /** What is wrong with it. */
  reason: string | null;
  /** More entries follow: ask again with `after`. */
  has_more: boolean;
}

export interface ListOperatorsResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** The id of an user: usr_… */
    id: string;
    /** An e-mail address. */
    email: string;
    /** The name, as people read it. */
    name: string;
    /** Its state. The list may grow. */
    status: string;
    /** support sees everything and changes nothing. */
    role: 'operator' | 'support';
    /** ISO 8601 UTC with milliseconds. */
    created: string;
  }>;
}

export interface DisableOperatorBody {
  /** For the audit log. */
  reason: string;
}

export interface DisableOperatorResponse {
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

export interface ChangeOperatorRoleBody {
  /** For the audit log. */
  reason: string;
  /** support sees everything and changes nothing. */
  role: 'operator' | 'support';
}

export interface ChangeOperatorRoleResponse {
  /** support sees everything and changes nothing. */
  role: 'operator' | 'support';
}

export interface ReadPolicyDefaultsResponse {
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  per_payment: number;
  /** Atoms, at least per_payment. */
  per_period: number;
  /** Seconds, an hour to 30 days. */
  period_seconds: number;
  /** 1 to 3650. */
  valid_days: number;
  /** Basis points of acquirer and protocol fee together, 0 to 300. */
  max_fee_rate: number;
  /** Rises with every change: send back the one that you have seen. */
  version: number;
}

export interface SavePolicyDefaultsBody {
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  per_payment: number;
  /** Atoms, at least per_payment. */
  per_period: number;
  /** Seconds, an hour to 30 days. */
  period_seconds: number;
  /** 1 to 3650. */
  valid_days: number;
  /** Basis points of acquirer and protocol fee together, 0 to 300. */
  max_fee_rate: number;
  /** The version that you last read; 0 for the first change. */
  version: number;
}

export interface SavePolicyDefaultsResponse {
  /** USDC atoms (6 decimals), an integer from 1 to 1000000000000. */
  per_payment: number;
  /** Atoms, at least per_payment. */
  per_period: number;
  /** Seconds, an hour to 30 days. */
  period_seconds: number;
  /** 1 to 3650. */
  valid_days: number;
  /** Basis points of acquirer and protocol fee together, 0 to 300. */
  max_fee_rate: number;
  /** Rises with every change: send back the one that you have seen. */
  version: number;
}

export interface ListProposalsQuery {
  /** true: only open proposals. */
  open?: boolean;
  /** The id of a proposal: prop_… */
  before?: string;
  /**
   * Page size, 1 to 100, default 20.
   *
   * @default 20
   */
  limit?: number;
}

export interface ListProposalsResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** The id of a proposal: prop_… */
    id: string;
    /** What is to be done. More kinds may come. */
    kind: 'block_payer' | 'unblock_payer' | 'pause' | 'unpause' | 'change_rates';
    /** testnet or mainnet. */
    network: string;
    /** The payer, or the network. */
    subject: string;
    /** Rates in basis points; else empty. */
    payload: Record<string, unknown>;
    reason: string;
    /** Whether somebody has decided. */
    status: 'open' | 'approved' | 'rejected';
    /** The address of the person who asked for it. */
    proposed_by: string;
    /** ISO 8601 UTC with milliseconds. */
    created: string;
    /** ISO 8601 UTC with milliseconds. */
    expires_at: string;
    /** null: nobody yet, or there was nobody else. */
    decided_by: string | null;
    /** ISO 8601 UTC with milliseconds. */
    decided_at: string | null;
    /** Why it was decided so, in words for the merchant. */
    decision_reason: string | null;
  }>;
  /** Whether there is another page. */
  has_more: boolean;
}

export interface ProposeContractChangeBody {
  /** For the audit log. */
  reason: string;
  /** What to do with the contract. */
  kind: 'pause' | 'unpause' | 'change_rates';
  /** Which contract. */
  network: 'testnet' | 'mainnet';
  rates?: {
    /** Basis points. */
    acquirer: number;
    /** Basis points. */
    protocol: number;
    /** Basis points. */
    cashback: number;
  };
}

export interface ProposeContractChangeResponse {
  /** The id of a proposal: prop_… */
  id: string;
  /** What is to be done. More kinds may come. */
  kind: 'block_payer' | 'unblock_payer' | 'pause' | 'unpause' | 'change_rates';
  /** testnet or mainnet. */
  network: string;
  /** The payer, or the network. */
  subject: string;
  /** Rates in basis points; else empty. */
  payload: Record<string, unknown>;
  reason: string;
  /** Whether somebody has decided. */
  status: 'open' | 'approved' | 'rejected';
  /** The address of the person who asked for it. */
  proposed_by: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
  /** null: nobody yet, or there was nobody else. */
  decided_by: string | null;
  /** ISO 8601 UTC with milliseconds. */
  decided_at: string | null;
  /** Why it was decided so, in words for the merchant. */
  decision_reason: string | null;
}

export interface ApproveProposalBody {
  /** For the audit log. */
  reason: string;
}

export interface ApproveProposalResponse {
  /** The id of a proposal: prop_… */
  id: string;
  /** What is to be done. More kinds may come. */
  kind: 'block_payer' | 'unblock_payer' | 'pause' | 'unpause' | 'change_rates';
  /** testnet or mainnet. */
  network: string;
  /** The payer, or the network. */
  subject: string;
  /** Rates in basis points; else empty. */
  payload: Record<string, unknown>;
  reason: string;
  /** Whether somebody has decided. */
  status: 'open' | 'approved' | 'rejected';
  /** The address of the person who asked for it. */
  proposed_by: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
  /** null: nobody yet, or there was nobody else. */
  decided_by: string | null;
  /** ISO 8601 UTC with milliseconds. */
  decided_at: string | null;
  /** Why it was decided so, in words for the merchant. */
  decision_reason: string | null;
}

export interface RejectProposalBody {
  /** For the audit log. */
  reason: string;
}

export interface RejectProposalResponse {
  /** The id of a proposal: prop_… */
  id: string;
  /** What is to be done. More kinds may come. */
  kind: 'block_payer' | 'unblock_payer' | 'pause' | 'unpause' | 'change_rates';
  /** testnet or mainnet. */
  network: string;
  /** The payer, or the network. */
  subject: string;
  /** Rates in basis points; else empty. */
  payload: Record<string, unknown>;
  reason: string;
  /** Whether somebody has decided. */
  status: 'open' | 'approved' | 'rejected';
  /** The address of the person who asked for it. */
  proposed_by: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  /** ISO 8601 UTC with milliseconds. */
  expires_at: string;
  /** null: nobody yet, or there was nobody else. */
  decided_by: string | null;
  /** ISO 8601 UTC with milliseconds. */
  decided_at: string | null;
  /** Why it was decided so, in words for the merchant. */
  decision_reason: string | null;
}

export interface ReadProposalTransactionsResponse {
  /** The type of the object. */
  object: 'list';
  /** The objects of this page, newest first. */
  data: Array<{
    /** Whose key sends it. */
    by: 'admin' | 'guardian';
    says: string;
    chain_id: number;
    to: string;
    value: string;
    /** The objects of this page, newest first. */
    data: string;
  }>;
}

/** Every operation by method and path: what it takes, and what it answers. */
export interface Operations {
  /**
   * My session: user, accounts, CSRF token
   *
   * Needs: half_signed_in.
   */
  'GET /operator/v1/session': {
    id: 'operatorReadSession';
    response: OperatorReadSessionResponse;
  };
  /**
   * Sign in with e-mail address and password
   *
   * Sets the session cookie. If a second factor is set up, the status is second_factor_required,
   * and nothing else works before POST /session/second_factor.
   */
  'POST /operator/v1/session': {
    id: 'operatorSignIn';
    body: OperatorSignInBody;
    response: OperatorSignInResponse;
  };
  /**
   * Sign out
   *
   * Needs: half_signed_in.
   */
  'DELETE /operator/v1/session': {
    id: 'operatorSignOut';
    response: OperatorSignOutResponse;
  };
  /**
   * Prove the second factor with a code
   *
   * At sign-in, and again before a change that moves money or makes that possible: such routes
   * need a proof from the last five minutes.
   *
   * Needs: half_signed_in.
   */
  'POST /operator/v1/session/second_factor': {
    id: 'operatorProveSecondFactor';
    body: OperatorProveSecondFactorBody;
    response: OperatorProveSecondFactorResponse;
  };
  /**
   * Begin signing in with a passkey
   *
   * Begin signing in with a passkey
   */
  'POST /operator/v1/session/passkey_options': {
    id: 'operatorBeginPasskeySignIn';
    response: OperatorBeginPasskeySignInResponse;
  };
  /**
   * Sign in with a passkey
   *
   * Sign in with a passkey
   */
  'POST /operator/v1/session/passkey': {
    id: 'operatorSignInWithPasskey';
    body: OperatorSignInWithPasskeyBody;
    response: OperatorSignInWithPasskeyResponse;
  };
  /**
   * Begin proving the second factor with a passkey
   *
   * Needs: half_signed_in.
   */
  'POST /operator/v1/session/second_factor/passkey_options': {
    id: 'operatorBeginPasskeyFactor';
    response: OperatorBeginPasskeyFactorResponse;
  };
  /**
   * Prove the second factor with a passkey
   *
   * Needs: half_signed_in.
   */
  'POST /operator/v1/session/second_factor/passkey': {
    id: 'operatorProvePasskey';
    body: OperatorProvePasskeyBody;
    response: OperatorProvePasskeyResponse;
  };
  /**
   * Ask for a link to choose a new password
   *
   * The answer is the same whether or not there is such a user.
   */
  'POST /operator/v1/password_reset': {
    id: 'operatorRequestPasswordReset';
    body: OperatorRequestPasswordResetBody;
    response: OperatorRequestPasswordResetResponse;
  };
  /**
   * Choose a new password with the link
   *
   * Ends all sessions. Sign in afterwards; the second factor is still required.
   */
  'POST /operator/v1/password_reset/complete': {
    id: 'operatorCompletePasswordReset';
    body: OperatorCompletePasswordResetBody;
    response: OperatorCompletePasswordResetResponse;
  };
  /**
   * Change my password
   *
   * All my other sessions end.
   *
   * Needs: signed_in.
   */
  'POST /operator/v1/me/password': {
    id: 'operatorChangePassword';
    body: OperatorChangePasswordBody;
    response: OperatorChangePasswordResponse;
  };
  /**
   * Change my name
   *
   * Needs: signed_in.
   */
  'PATCH /operator/v1/me': {
    id: 'operatorUpdateMe';
    body: OperatorUpdateMeBody;
    response: OperatorUpdateMeResponse;
  };
  /**
   * Where I am signed in
   *
   * Needs: signed_in.
   */
  'GET /operator/v1/sessions': {
    id: 'operatorListSessions';
    response: OperatorListSessionsResponse;
  };
  /**
   * Sign out everywhere, including here
   *
   * Needs: signed_in.
   */
  'DELETE /operator/v1/sessions': {
    id: 'operatorSignOutEverywhere';
    response: OperatorSignOutEverywhereResponse;
  };
  /**
   * End one of my sessions
   *
   * Needs: signed_in.
   */
  'DELETE /operator/v1/sessions/{id}': {
    id: 'operatorEndSession';
    path: { id: string };
    response: OperatorEndSessionResponse;
  };
  /**
   * Begin the set-up of an authenticator app
   *
   * Needs: signed_in.
   */
  'POST /operator/v1/me/totp': {
    id: 'operatorBeginTotp';
    body?: OperatorBeginTotpBody;
    response: OperatorBeginTotpResponse;
  };
  /**
   * Remove the authenticator app
   *
   * Needs: signed_in.
   */
  'DELETE /operator/v1/me/totp': {
    id: 'operatorRemoveTotp';
    response: OperatorRemoveTotpResponse;
  };
  /**
   * Confirm the authenticator app with its first code
   *
   * Returns ten recovery codes, only once. Each signs in once without the app.
   *
   * Needs: signed_in.
   */
  'POST /operator/v1/me/totp/confirm': {
    id: 'operatorConfirmTotp';
    body: OperatorConfirmTotpBody;
    response: OperatorConfirmTotpResponse;
  };
  /**
   * Ten new recovery codes; the old ones are void
   *
   * Needs: signed_in.
   */
  'POST /operator/v1/me/recovery_codes': {
    id: 'operatorReplaceRecoveryCodes';
    response: OperatorReplaceRecoveryCodesResponse;
  };
  /**
   * Confirm that the recovery codes are stored
   *
   * Needs: signed_in.
   */
  'POST /operator/v1/me/recovery_codes/saved': {
    id: 'operatorConfirmRecoveryCodesSaved';
    response: OperatorConfirmRecoveryCodesSavedResponse;
  };
  /**
   * My passkeys
   *
   * Needs: signed_in.
   */
  'GET /operator/v1/me/passkeys': {
    id: 'operatorListPasskeys';
    response: OperatorListPasskeysResponse;
  };
  /**
   * Add the passkey that the browser made
   *
   * Needs: signed_in.
   */
  'POST /operator/v1/me/passkeys': {
    id: 'operatorAddPasskey';
    body: OperatorAddPasskeyBody;
    response: OperatorAddPasskeyResponse;
  };
  /**
   * Begin adding a passkey
   *
   * Needs: signed_in.
   */
  'POST /operator/v1/me/passkeys/options': {
    id: 'operatorBeginPasskey';
    body?: OperatorBeginPasskeyBody;
    response: OperatorBeginPasskeyResponse;
  };
  /**
   * Remove a passkey
   *
   * Needs: signed_in.
   */
  'DELETE /operator/v1/me/passkeys/{id}': {
    id: 'operatorRemovePasskey';
    path: { id: string };
    response: OperatorRemovePasskeyResponse;
  };
  /**
   * Everything that is kept about me, in one document
   *
   * Secrets and their hashes are left out. Needs a second factor proven in the last five minutes,
   * or current_password as long as no second factor is set up.
   *
   * Needs: signed_in.
   */
  'POST /operator/v1/me/export': {
    id: 'operatorExportMyData';
    body?: OperatorExportMyDataBody;
    response: OperatorExportMyDataResponse;
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
  'POST /operator/v1/me/erase': {
    id: 'operatorEraseMyData';
    body?: OperatorEraseMyDataBody;
    response: OperatorEraseMyDataResponse;
  };
  /**
   * Businesses that wait for a decision, the longest wait first
   *
   * Needs: operator.
   */
  'GET /operator/v1/kyb': {
    id: 'listVerificationQueue';
    response: ListVerificationQueueResponse;
  };
  /**
   * A submission with its documents
   *
   * Needs: operator.
   */
  'GET /operator/v1/accounts/{account}/kyb': {
    id: 'readSubmission';
    path: { account: string };
    response: ReadSubmissionResponse;
  };
  /**
   * The file of a document
   *
   * Needs: operator.
   */
  'GET /operator/v1/accounts/{account}/kyb/documents/{id}': {
    id: 'downloadSubmittedDocument';
    path: { account: string; id: string };
    response: DownloadSubmittedDocumentResponse;
  };
  /**
   * Approve or reject a business
   *
   * Sends kyb.status_changed in both modes. An approval can be taken back.
   *
   * Needs: operator.
   */
  'POST /operator/v1/accounts/{account}/kyb/decision': {
    id: 'decideVerification';
    path: { account: string };
    body: DecideVerificationBody;
    response: DecideVerificationResponse;
  };
  /**
   * Accounts, newest first
   *
   * Send the id of the last one as `before` for the next page.
   *
   * Needs: operator.
   */
  'GET /operator/v1/accounts': {
    id: 'searchAccounts';
    query?: SearchAccountsQuery;
    response: SearchAccountsResponse;
  };
  /**
   * An account with its modes and team
   *
   * Needs: operator.
   */
  'GET /operator/v1/accounts/{account}': {
    id: 'readAnyAccount';
    path: { account: string };
    response: ReadAnyAccountResponse;
  };
  /**
   * Disable an account: its keys and terminals answer 403 within a second
   *
   * Needs: operator.
   */
  'POST /operator/v1/accounts/{account}/disable': {
    id: 'disableAccount';
    path: { account: string };
    body: DisableAccountBody;
    response: DisableAccountResponse;
  };
  /**
   * Enable an account again
   *
   * Needs: operator.
   */
  'POST /operator/v1/accounts/{account}/enable': {
    id: 'enableAccount';
    path: { account: string };
    body: EnableAccountBody;
    response: EnableAccountResponse;
  };
  /**
   * Payers by id or wallet
   *
   * Needs: operator.
   */
  'GET /operator/v1/payers': {
    id: 'searchPayers';
    query: SearchPayersQuery;
    response: SearchPayersResponse;
  };
  /**
   * Decline every tap of a payer
   *
   * A colleague has to agree; an operator who works alone does it at once.
   *
   * Needs: operator.
   */
  'POST /operator/v1/payers/{id}/block': {
    id: 'blockAnyPayer';
    path: { id: string };
    body: BlockAnyPayerBody;
    response: BlockAnyPayerResponse;
  };
  /**
   * Let a payer pay again
   *
   * A colleague has to agree; an operator who works alone does it at once.
   *
   * Needs: operator.
   */
  'POST /operator/v1/payers/{id}/unblock': {
    id: 'unblockAnyPayer';
    path: { id: string };
    body: UnblockAnyPayerBody;
    response: UnblockAnyPayerResponse;
  };
  /**
   * Per network: head, lanes with balances and stuck transactions, queues, alarms
   *
   * Wei, nonces and block numbers are decimal strings.
   *
   * Needs: operator.
   */
  'GET /operator/v1/relayers': {
    id: 'readRelayers';
    response: ReadRelayersResponse;
  };
  /**
   * Mark an alarm as looked into
   *
   * Needs: operator.
   */
  'POST /operator/v1/alarms/{id}/resolve': {
    id: 'resolveAlarm';
    path: { id: string };
    body: ResolveAlarmBody;
    response: ResolveAlarmResponse;
  };
  /**
   * Accept a known difference between chain and database for as long as it lasts
   *
   * Needs: operator.
   */
  'POST /operator/v1/reconciliation/differences/{id}/accept': {
    id: 'acceptDifference';
    path: { id: string };
    body: AcceptDifferenceBody;
    response: AcceptDifferenceResponse;
  };
  /**
   * What waits to be done, and since when
   *
   * Needs: operator.
   */
  'GET /operator/v1/queues': {
    id: 'readQueues';
    response: ReadQueuesResponse;
  };
  /**
   * The configuration as this process has read it, secrets masked
   *
   * Needs: operator.
   */
  'GET /operator/v1/configuration': {
    id: 'readConfiguration';
    response: ReadConfigurationResponse;
  };
  /**
   * The network's own audit log, or an account's
   *
   * Needs: operator.
   */
  'GET /operator/v1/audit_log': {
    id: 'listNetworkAuditLog';
    query?: ListNetworkAuditLogQuery;
    response: ListNetworkAuditLogResponse;
  };
  /**
   * Whether a network is being recovered, and how far that is
   *
   * Needs: operator.
   */
  'GET /operator/v1/recoveries': {
    id: 'readRecoveries';
    response: ReadRecoveriesResponse;
  };
  /**
   * The settlement contracts and what they charge now
   *
   * Needs: operator.
   */
  'GET /operator/v1/contracts': {
    id: 'readContracts';
    response: ReadContractsResponse;
  };
  /**
   * Open alarms of both networks, newest first
   *
   * Needs: operator.
   */
  'GET /operator/v1/alarms': {
    id: 'listAlarms';
    query?: ListAlarmsQuery;
    response: ListAlarmsResponse;
  };
  /**
   * How far the chains are reconciled, and open differences, newest first
   *
   * Needs: operator.
   */
  'GET /operator/v1/reconciliation': {
    id: 'readReconciliation';
    query?: ReadReconciliationQuery;
    response: ReadReconciliationResponse;
  };
  /**
   * Whether the network's audit log, or an account's, is unchanged
   *
   * Recomputes the hashes of up to 1,000 entries. A log whose newest entries were removed still
   * fits: compare the hash of its newest entry with one that was kept elsewhere.
   *
   * Needs: operator.
   */
  'GET /operator/v1/audit_log/verification': {
    id: 'verifyAuditLog';
    query?: VerifyAuditLogQuery;
    response: VerifyAuditLogResponse;
  };
  /**
   * The network's staff
   *
   * Needs: operator.
   */
  'GET /operator/v1/operators': {
    id: 'listOperators';
    response: ListOperatorsResponse;
  };
  /**
   * Remove a colleague’s access, everywhere and at once
   *
   * Needs: operator.
   */
  'POST /operator/v1/operators/{id}/disable': {
    id: 'disableOperator';
    path: { id: string };
    body: DisableOperatorBody;
    response: DisableOperatorResponse;
  };
  /**
   * Let a colleague change things, or only look
   *
   * Needs: operator.
   */
  'POST /operator/v1/operators/{id}/role': {
    id: 'changeOperatorRole';
    path: { id: string };
    body: ChangeOperatorRoleBody;
    response: ChangeOperatorRoleResponse;
  };
  /**
   * What the payer app proposes to sign
   *
   * Needs: operator.
   */
  'GET /operator/v1/spending_policy_defaults/{mode}': {
    id: 'readPolicyDefaults';
    path: { mode: string };
    response: ReadPolicyDefaultsResponse;
  };
  /**
   * Change what the payer app proposes; what was signed stays as it is
   *
   * Needs: operator.
   */
  'PUT /operator/v1/spending_policy_defaults/{mode}': {
    id: 'savePolicyDefaults';
    path: { mode: string };
    body: SavePolicyDefaultsBody;
    response: SavePolicyDefaultsResponse;
  };
  /**
   * Changes that one person has proposed and another has to approve, newest first
   *
   * Send the id of the last one as `before` for the next page.
   *
   * Needs: operator.
   */
  'GET /operator/v1/proposals': {
    id: 'listProposals';
    query?: ListProposalsQuery;
    response: ListProposalsResponse;
  };
  /**
   * Propose to pause the contract, to end its pause, or to change its rates
   *
   * Needs: operator.
   */
  'POST /operator/v1/proposals': {
    id: 'proposeContractChange';
    body: ProposeContractChangeBody;
    response: ProposeContractChangeResponse;
  };
  /**
   * Approve a colleague's proposal
   *
   * Needs: operator.
   */
  'POST /operator/v1/proposals/{id}/approve': {
    id: 'approveProposal';
    path: { id: string };
    body: ApproveProposalBody;
    response: ApproveProposalResponse;
  };
  /**
   * Reject a colleague's proposal, or take back your own
   *
   * Needs: operator.
   */
  'POST /operator/v1/proposals/{id}/reject': {
    id: 'rejectProposal';
    path: { id: string };
    body: RejectProposalBody;
    response: RejectProposalResponse;
  };
  /**
   * The transactions that carry out an approved change of the contract
   *
   * The holder of the key sends them: the service has no key that may.
   *
   * Needs: operator.
   */
  'GET /operator/v1/proposals/{id}/transactions': {
    id: 'readProposalTransactions';
    path: { id: string };
    response: ReadProposalTransactionsResponse;
  };
}
