import { hashSecret, isSecret, type RotatingKey, type SecretKind } from '#core/bearer-secrets.ts';
import type { Sql, Tx } from '#db/database.ts';
import { type PayerRow, selectPass, type TappedPass } from '#payers/payer-queries.ts';
import type { PhoneKind } from '#payers/phone-tap.ts';
import type { PaymentFacts } from '#payments/assess-payment.ts';
import type { Decline } from '#payments/decline-codes.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import type { Credential } from '#payments/payment-attempt.ts';

/**
 * A kind of credential. Finds credentials (`F`) by the presented values (`P`), checks them,
 * verifies them and consumes them. `credential.ts` lists the kinds, and passes to each kind those
 * payments of a batch that use it.
 */
export interface CredentialKind<P, F> {
  readonly unknown: Decline;
  /**
   * True if the wallet creates a new code for each payment. An unknown code may then be one that
   * was lost with the database: see unknown-credential.ts.
   */
  readonly isCode?: boolean;
  /**
   * Returns the look-up key: the ID of a card or pass, otherwise a hash in hex. An empty string
   * matches nothing.
   */
  key(presented: P): string;
  /** Returns the payers of the known credentials, before anything is locked. */
  payers(sql: Sql, presented: readonly P[]): Promise<readonly PayerOf[]>;
  /**
   * Returns the known credentials, by {@link key}. Locks those that can be used only once, in a
   * fixed order, so that no two transactions deadlock.
   */
  lock(tx: Tx, presented: readonly P[]): Promise<Known<F>>;
  /**
   * Locks the credential of an attempt that its payer has to confirm; `null` if it was erased.
   * Undefined for kinds that need no confirmation. Lock the payer afterwards.
   */
  lockAgain?(tx: Tx, stored: Credential): Promise<F | null>;
  /** True if the value was tapped at a till. If undefined, all values of this kind were. */
  isTap?(presented: P): boolean;
  stored(state: F): Credential;
  /** Returns the reason why the credential cannot pay this intent; `null` if it can. */
  check(state: F, paying: Paying): Decline | null;
  /**
   * Verifies the presented value, and returns the credential's state afterwards. Undefined if the
   * credential can be used any number of times. A payment whose response is 200 consumes the
   * credential, whether it succeeds or is declined; a refusal (4xx) or an unknown result (503) does
   * not.
   * @param state The locked credential, with what earlier payments of the batch have consumed.
   */
  verify?(state: F, presented: P, by: VerifyBy): Verified<F>;
  paying?(state: F, intent: PaymentIntent): F;
  /**
   * Writes the consumed credentials of a batch. They are locked, so no other transaction has
   * consumed them.
   */
  consume?(tx: Tx, used: readonly F[], now: Date): Promise<void>;
  facts?(state: F): CredentialFacts;
}

/** A kind of credential that terminals can read. */
export interface TappedKind<P, F> extends CredentialKind<P, F> {
  /** Describes the form of a valid value, for error messages. */
  readonly form: string;
  /** Parses the value. Checks only its form; `null` if that is wrong. */
  read(value: string): P | null;
  value(presented: P): string;
  /** Returns the cell that issued the credential; `null` if the value does not name one. */
  cell(presented: P): number | null;
}

/** A secret that the payer's device presents as it is. */
export interface Secret<T> {
  readonly type: T;
  readonly value: string;
}

export interface FoundPass<T> {
  readonly type: T;
  readonly payerId: string;
  readonly pass: TappedPass;
}

/** A payer, with the look-up key of the credential. */
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
  /** The reason why the presented value is not accepted; `null` if it is. */
  readonly decline: Decline | null;
  readonly after: F;
}

export interface CredentialFacts
  extends Partial<Pick<PaymentFacts, 'card' | 'chip' | 'doubtedAt' | 'isSigned'>> {
  /** True if the credential can be copied. Its payer may then have to confirm. */
  readonly isCopied?: boolean;
}

/** Returns the reason why a pass or card cannot pay this intent; `null` if it can. */
export function checkPass(
  { revoked_at }: { readonly revoked_at: Date | null },
  { intent, payerLivemode }: Paying,
): Decline | null {
  if (payerLivemode !== intent.livemode) return 'pass_unknown';
  return revoked_at === null ? null : 'pass_revoked';
}

/** The function returns `null` for a secret with a wrong checksum. */
export function hashOf(kind: SecretKind): (presented: Secret<string>) => Buffer | null {
  return ({ value }) => (isSecret(kind, value) ? hashSecret(value) : null);
}

/**
 * Builds the look-up functions of a kind, by ID or hash, with one statement per batch. Values
 * without an ID (`null`) match nothing.
 */
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
      const rows = ids.length === 0 ? [] : await lock(tx, ids, all);
      return rows.map(([id, one]) => [keyOf(id), one]);
    },
  };
}

/** Returns the functions that all kinds of passes share. */
export function passKind<T extends PassType, F extends { readonly pass: TappedPass }>(
  type: T,
  toState: (pass: TappedPass) => F,
) {
  return {
    unknown: 'pass_unknown',
    async lockAgain(tx: Tx, { passId }: Stored<PassType>) {
      const pass = await selectPass(tx, passId);
      return pass === undefined ? null : toState(pass);
    },
    stored: ({ pass }: F) => ({ type, passId: pass.id }),
    check: ({ pass }: F, paying: Paying) => checkPass(pass, paying),
  } as const;
}
