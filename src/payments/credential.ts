import { type Refusal, refuse } from '#core/answer.ts';
import type { Sql, Tx } from '#db/database.ts';
import type { PayerRow } from '#payers/payer-queries.ts';
import { agentToken } from '#payments/credentials/agent-token.ts';
import { authorization } from '#payments/credentials/authorization.ts';
import type {
  CredentialKind,
  TappedKind,
  Verified,
  VerifyBy,
} from '#payments/credentials/credential-kind.ts';
import { nfcId } from '#payments/credentials/nfc-id.ts';
import { nfcSun } from '#payments/credentials/nfc-sun.ts';
import { appleVas, smartTap } from '#payments/credentials/phone-pass.ts';
import { qr } from '#payments/credentials/qr.ts';
import { rotatingCode } from '#payments/credentials/rotating-code.ts';
import { visiting } from '#payments/credentials/visiting.ts';
import type { Credential } from '#payments/payment-attempt.ts';

/**
 * The kinds of credentials that terminals read. Each has a module in `credentials`. A new kind
 * needs only its module and a line here.
 */
const TAPPED = {
  nfc_id: nfcId,
  nfc_sun: nfcSun,
  qr,
  rotating_code: rotatingCode,
  smart_tap: smartTap,
  apple_vas: appleVas,
};
/** All kinds, in the order in which their credentials are locked. */
const KINDS = { ...TAPPED, agent_token: agentToken, authorization, visiting };

type Kinds = typeof KINDS;
type Parts<K> = K extends CredentialKind<infer P, infer F> ? { presented: P; found: F } : never;

export type Presented = Parts<Kinds[keyof Kinds]>['presented'];
/** A credential that is stored in this cell, valid or not. */
export type CredentialState = Parts<Kinds[keyof Kinds]>['found'];

/** The types that a terminal can read. */
export type TappedType = keyof typeof TAPPED;
export const TAPPED_TYPES = Object.keys(TAPPED) as readonly TappedType[];

type Kind = CredentialKind<Presented, CredentialState>;
type Type = keyof Kinds;

export function kindOf({ type }: { readonly type: Type }): Kind {
  return KINDS[type];
}

/** Returns the kind of this type; `null` if no terminal reads it. */
export function tappedKindOf({ type }: Presented): TappedKind<Presented, CredentialState> | null {
  return type in TAPPED ? TAPPED[type as TappedType] : null;
}

/**
 * Parses a value that a terminal has read. Refuses values that only a bug in the terminal's
 * software can produce.
 */
export function readTapped(tapped: {
  readonly type: TappedType;
  readonly value: string;
}): Presented | Refusal {
  const kind = TAPPED[tapped.type];
  const message = `credential.value must be ${kind.form}.`;
  return kind.read(tapped.value) ?? refuse('parameter_invalid', message, 'credential.value');
}

export function credentialKey(presented: Presented): string {
  return kindOf(presented).key(presented);
}

/** Groups credentials by kind, in the order of the kinds. */
function byKind<T extends { readonly type: Type }>(all: readonly T[]): (readonly [Kind, T[]])[] {
  const shares = Map.groupBy(all, ({ type }) => type);
  return (Object.keys(KINDS) as Type[]).flatMap((type) => {
    const share = shares.get(type);
    return share === undefined ? [] : [[KINDS[type], share] as const];
  });
}

/** Returns the payer of each of these credentials; `null` for an unknown one. */
export async function readPayers(
  sql: Sql,
  presented: readonly Presented[],
): Promise<(one: Presented) => PayerRow | null> {
  const payers = await Promise.all(byKind(presented).map(([kind, all]) => kind.payers(sql, all)));
  const byCredential = new Map(payers.flat().map((payer) => [payer.credential, payer]));
  return (one) => byCredential.get(credentialKey(one)) ?? null;
}

/** Locks the credentials, and returns them by {@link credentialKey}. */
export async function lockCredentials(
  tx: Tx,
  presented: readonly Presented[],
): Promise<Map<string, CredentialState>> {
  const locked = await Promise.all(byKind(presented).map(([kind, all]) => kind.lock(tx, all)));
  return new Map(locked.flat());
}

/** Locks the credential of an attempt that is in progress. Lock its payer afterwards. */
export async function lockCredential(
  tx: Tx,
  credential: Credential,
): Promise<CredentialState | null> {
  // Types without a kind (`chip`, `unknown`) never wait for a confirmation.
  if (!(credential.type in KINDS)) return null;
  return (await KINDS[credential.type as Type].lockAgain?.(tx, credential)) ?? null;
}

/** `state` is its locked state, with what earlier payments of the batch have consumed. */
export function verify(
  state: CredentialState,
  presented: Presented,
  by: VerifyBy,
): Verified<CredentialState> {
  return kindOf(presented).verify?.(state, presented, by) ?? { decline: null, after: state };
}

export async function writeConsumed(
  tx: Tx,
  used: Iterable<CredentialState>,
  now: Date,
): Promise<void> {
  for (const [kind, all] of byKind([...used])) await kind.consume?.(tx, all, now);
}
