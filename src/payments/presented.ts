import { type Refusal, refuse } from '#core/answer.ts';
import { hashSecret, isSecret, type SecretKind } from '#core/secrets.ts';
import type { SunMessage } from '#core/sun-message.ts';
import { parseCardUrl } from '#payers/card-url.ts';
import type { PayerRow } from '#payers/payer-queries.ts';
import { PHONE_KINDS, type PhoneKind, type PhoneTap, parsePhoneTap } from '#payers/phone-tap.ts';
import type { Tapped } from '#payments/attempt.ts';
import type { Decline } from '#payments/decline.ts';
import type { FeeRates } from '#settlement/chain/fee-rates.ts';
import type { PaymentAuthorization } from '#settlement/requests.ts';

/** What a terminal can read. */
export const TAPPED_TYPES = ['nfc_id', 'nfc_sun', 'qr', 'rotating_code', ...PHONE_KINDS] as const;

/** What a wallet has signed for one payment, after the signature was verified. */
export interface SignedPayment {
  readonly payer: PayerRow;
  readonly authorization: PaymentAuthorization;
  /** The rates that went into the signed sum. */
  readonly rates: FeeRates;
  /** Who handed it in: a pay link or tag, or a till at which a chip has signed. A mere label. */
  readonly by: SignedBy;
}

/** What a signed payment is called. No rule trusts it. */
export type SignedBy = 'authorization' | 'chip';

/** What was tapped on a terminal, or sent by a merchant's server. */
export type Presented =
  | { readonly type: 'nfc_id' | 'qr' | 'agent_token'; readonly value: string }
  | { readonly type: 'nfc_sun'; readonly cardId: string; readonly message: SunMessage }
  | { readonly type: 'rotating_code'; readonly passId: string; readonly code: string }
  | { readonly type: PhoneKind; readonly tap: PhoneTap }
  | { readonly type: 'authorization'; readonly signed: SignedPayment }
  | { readonly type: 'visiting'; readonly visit: Visit };

/** What was tapped here and is known in another cell, as that one has answered. */
export interface Visit {
  /** Of what was tapped: see {@link credentialKey}. */
  readonly key: string;
  /** null: its home does not know it, or could not be asked. */
  readonly holder: VisitingHolder | null;
  /** Why it is declined; null: its home has nothing against it. */
  readonly refusal: { readonly decline: Decline; readonly rule?: string } | null;
}

/** Whose it is, and what its home says of it. */
export interface VisitingHolder {
  /** By the wallet's address: the payer of this cell, with the limits that it has here. */
  readonly payer: PayerRow;
  readonly credential: Tapped & { readonly home: number };
  /** The most that its home lets it pay at once; null: no limit. */
  readonly limit: bigint | null;
  /** Set: the payer is asked, because its home may have lost taps. */
  readonly doubtedAt: Date | null;
}

type BearerSecret = Extract<Presented, { readonly value: string }>;

const KINDS: Readonly<Record<BearerSecret['type'], SecretKind>> = {
  nfc_id: 'pass',
  qr: 'passCode',
  agent_token: 'agentToken',
};

/** What is stored of a bearer secret; null where its checksum shows that it is not one. */
export function hashOf({ type, value }: BearerSecret): Buffer | null {
  return isSecret(KINDS[type], value) ? hashSecret(value) : null;
}

/** What a credential is found by: the id of a card or pass, else a hash in hex. '': nothing. */
export function credentialKey(presented: Presented): string {
  if (presented.type === 'nfc_sun') return presented.cardId;
  if (presented.type === 'rotating_code') return presented.passId;
  if (presented.type === 'authorization') {
    return hashSecret(presented.signed.authorization.signature).toString('hex');
  }
  if (presented.type === 'visiting') return presented.visit.key;
  if ('tap' in presented) return presented.tap.valueHash?.toString('hex') ?? '';
  return hashOf(presented)?.toString('hex') ?? '';
}

/** Checks only the form: whether there is such a pass is found out later. */
const NFC_ID = /^nfc_[\x21-\x7e]{1,196}$/;

const ROTATING = /^(?<passId>pass_[0-9A-Za-z]{1,64})\.(?<code>[0-9]{8})$/;

function readRotating(value: string): { passId: string; code: string } | null {
  const { passId, code } = ROTATING.exec(value)?.groups ?? {};
  return passId === undefined || code === undefined ? null : { passId, code };
}

/** What the terminal read, or what its software got wrong about it. */
export function readTapped(tapped: {
  readonly type: (typeof TAPPED_TYPES)[number];
  readonly value: string;
}): Presented | Refusal {
  const { type, value } = tapped;
  const wrong = (form: string) =>
    refuse('parameter_invalid', `credential.value must be ${form}.`, 'credential.value');
  switch (type) {
    case 'nfc_id':
      return NFC_ID.test(value) ? { type, value } : wrong('what the chip of a pass says: nfc_…');
    case 'qr':
      return { type, value };
    case 'nfc_sun': {
      const read = parseCardUrl(value);
      return read === null
        ? wrong('the URL that the card gave: …/card/card_…?p=32 hex digits&c=16 hex digits')
        : { type, ...read };
    }
    case 'rotating_code': {
      const read = readRotating(value);
      return read === null
        ? wrong('the id of the pass, a point and eight digits: pass_….12345678')
        : { type, ...read };
    }
    case 'smart_tap':
    case 'apple_vas': {
      const tap = parsePhoneTap(type, value);
      return tap === null
        ? wrong('what the reader made of the phone’s answer: base64url of its format 1')
        : { type, tap };
    }
  }
}
