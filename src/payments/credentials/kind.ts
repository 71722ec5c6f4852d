import { hashSecret, isSecret, type RotatingKey, type SecretKind } from '#core/secrets.ts';
import type { Sql, Tx } from '#db/database.ts';
import { type PassRow, type PayerRow, selectPass } from '#payers/payer-queries.ts';
import type { PhoneKind } from '#payers/phone-tap.ts';
import type { Credential } from '#payments/attempt.ts';
import type { PaymentFacts } from '#payments/decide-decline.ts';
import type { Decline } from '#payments/decline-codes.ts';
import type { PaymentIntent } from '#payments/payment-intent.ts';

/**
 * A kind of credential: finds credentials (`F`) by the presented value (`P`), and checks, verifies
 * and consumes them. `credential.ts` lists the kinds and passes each one the payments of a batch
 * that use it.
 */
export interface CredentialKind<P, F> {
  /** The decline for an unknown credential of this kind. */
  readonly unknown: Decline;
  /**
   * True if the wallet creates a new code each time. All codes in a lost database have then
   * expired.
   */
  readonly isCode?: boolean;
  /**
   * Returns the look-up key: the id of a card or pass, otherwise a hash in hex. An empty string
   * finds nothing.
   */
  key(presented: P): string;
  /** Returns the payers of known credentials, before anything is locked. */
  payers(sql: Sql, presented: readonly P[]): Promise<readonly PayerOf[]>;
  /**
   * Returns the known credentials, by {@link key}. Those that can be accepted only once are locked
   * in a fixed order, so that no two transactions deadlock.
   */
  lock(tx: Tx, presented: readonly P[]): Promise<Known<F>>;
  /**
   * Locks the credential of an attempt that its payer had to confirm; `null` if it was erased.
   * Missing for kinds that need no confirmation. Lock its payer afterwards.
   */
  lockAgain?(tx: Tx, stored: Credential): Promise<F | null>;
  /** True if the value was tapped at a till. If the function is missing, every value was. */
  isTap?(presented: P): boolean;
  /** Returns the form that the attempt stores. */
  stored(found: F): Credential;
  /** Returns the reason why it cannot pay this intent, or `null`. */
  check(found: F, paying: Paying): Decline | null;
  /**
   * Verifies the presented value, and returns the credential's state afterwards. Missing if it may
   * be used any number of times. An attempt that is answered with 200 consumes the credential,
   * however the payment ends; one that is refused (4xx) or undecided (503) does not.
   * @param found as locked, including what earlier payments of the batch consumed.
   */
  verify?(found: F, presented: P, by: VerifyBy): Verified<F>;
  /** Returns the credential's state once this intent is being paid with it. */
  paying?(found: F, intent: PaymentIntent): F;
  /**
   * Writes the consumed credentials of a batch. The credentials are locked, so no other transaction
   * has used them.
   */
  consume?(tx: Tx, used: readonly F[], now: Date): Promise<void>;
  /** Returns the credential's facts that the payment's assessment needs. */
  facts?(found: F): CredentialFacts;
}

/** A kind of credential that terminals read. */
export interface TappedKind<P, F> extends CredentialKind<P, F> {
  /** A description of the valid form of a value. */
  readonly form: string;
  /** Parses the value; `null` if its form is wrong. Checks only the form. */
  read(value: string): P | null;
  /** Returns the value as the reader read it. */
  value(presented: P): string;
  /** Returns the cell that issued the credential; `null` if the value names none. */
  cell(presented: P): number | null;
}

/** A secret that its holder presents. */
export interface Secret<T> {
  readonly type: T;
  readonly value: string;
}

export interface FoundPass<T> {
  readonly type: T;
  readonly payerId: string;
  readonly pass: PassRow;
}

/** A payer, with the key of the credential. */
export type PayerOf = PayerRow & { readonly credential: string };

/** The form in which an attempt stores a credential of this kind. */
export type Stored<T extends Credential['type']> = Extract<Credential, { readonly type: T }>;

type PassType = 'nfc_id' | 'qr' | 'rotating_code' | PhoneKind;

export type Known<F> = readonly (readonly [key: string, found: F])[];

export interface Paying {
  readonly intent: PaymentIntent;
  readonly payerLivemode: boolean;
  readonly now: Date;
}

export interface VerifyBy {
  /** Decrypts keys of cards and rotating codes. */
  readonly cardKey: RotatingKey;
  readonly now: Date;
}

export interface Verified<F> {
  /** The reason why the presented credential is not accepted, or `null`. */
  readonly decline: Decline | null;
  readonly after: F;
}

export interface CredentialFacts
  extends Partial<Pick<PaymentFacts, 'card' | 'chip' | 'doubtedAt' | 'isSigned'>> {
  /** True if the credential can be copied, so its payer may have to confirm. */
  readonly isCopied?: boolean;
}

/** Returns the reason why a pass or card cannot pay this intent; `null` if it can. */
export function checkPass(
  { revoked_at }: { readonly revoked_at: Date | null },
  { intent, payerLivemode }: Paying,
): Decline | null {
  if (payerLivemode !== intent.tenant.livemode) return 'pass_unknown';
  return revoked_at === null ? null : 'pass_revoked';
}

/**
 * Returns a function that hashes a secret of this kind; its result is `null` if the checksum is
 * invalid.
 */
export function hashOf(kind: SecretKind): (presented: Secret<string>) => Buffer | null {
  return ({ value }) => (isSecret(kind, value) ? hashSecret(value) : null);
}

/** Returns a look-up by id or hash that uses one statement per batch; `null` keys find nothing. */
export function foundBy<P, K extends string | Buffer, F>(
  idOf: (presented: P) => K | null,
  payersOf: (sql: Sql, ids: readonly K[]) => Promise<readonly PayerOf[]>,
  lock: (tx: Tx, ids: readonly K[], all: readonly P[]) => Promise<readonly (readonly [K, F])[]>,
): Pick<CredentialKind<P, F>, 'key' | 'payers' | 'lock'> {
  const idsOf = (all: readonly P[]) => all.flatMap((one) => idOf(one) ?? []);
  const keyOf = (id: K | null) => (typeof id === 'string' ? id : (id?.toString('hex') ?? ''));
  return {
    key: (presented) => keyOf(idOf(presented)),
    async payers(sql, all) {
      const ids = idsOf(all);
      return ids.length === 0 ? [] : payersOf(sql, ids);
    },
    async lock(tx, all) {
      const ids = idsOf(all);
      const found = ids.length === 0 ? [] : await lock(tx, ids, all);
      return found.map(([id, one]) => [keyOf(id), one]);
    },
  };
}

/** Builds the parts that all kinds of pass share. */
export function passKind<T extends PassType, F extends { readonly pass: PassRow }>(
  type: T,
  found: (pass: PassRow) => F,
) {
  return {
    unknown: 'pass_unknown',
    async lockAgain(tx: Tx, { passId }: Stored<PassType>) {
      const pass = await selectPass(tx, passId);
      return pass === undefined ? null : found(pass);
    },
    stored: ({ pass }: F) => ({ type, passId: pass.id }),
    check: ({ pass }: F, paying: Paying) => checkPass(pass, paying),
  } as const;
}
