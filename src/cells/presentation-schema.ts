import type { Static } from 'typebox';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { sha256 } from '#core/sha256.ts';
import {
  type Presented,
  TAPPED_TYPES,
  type TappedType,
  tappedKindOf,
} from '#payments/credential.ts';
import { DECLINES, type Decline } from '#payments/decline-codes.ts';

/** The request from one cell to another, `POST /api/cells/v1/presentations`, and its response. */

const Tapped = Type.Object({
  type: Type.Unsafe<TappedType>(Type.String({ enum: [...TAPPED_TYPES] })),
  value: Type.String({ maxLength: 2_000 }),
});

/** A credential that was tapped in the requesting cell. */
export const PresentationSchema = Type.Object({
  cell: Type.Integer({ minimum: 0, maximum: 9 }),
  livemode: Type.Boolean(),
  /** The intent to pay. The answer consumes a one-time credential for this intent. */
  intent: Type.String({ minLength: 1, maxLength: 64 }),
  tapped: Tapped,
});
export type Presentation = Static<typeof PresentationSchema>;

const HolderSchema = Type.Object({
  livemode: Type.Boolean(),
  address: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }),
  /** The id of the pass or card. */
  credential: Type.String({ pattern: '^(pass|card)_[0-9A-Za-z]{1,64}$' }),
  /** Atoms that the credential may pay in one payment, as text; `null` for no limit. */
  limit: Type.Union([Type.String({ pattern: '^[0-9]{1,19}$' }), Type.Null()]),
  doubted_at: Type.Union([Type.String(), Type.Null()]),
});

export const HomeAnswerSchema = Type.Object({
  holder: Type.Union([HolderSchema, Type.Null()]),
  decline: Type.Union([Type.String(), Type.Null()]),
});
export type HomeAnswer = Static<typeof HomeAnswerSchema>;

export function readPresentation(body: unknown): Presentation | null {
  return Value.Check(PresentationSchema, body) ? body : null;
}

export function readHomeAnswer(body: unknown): HomeAnswer | null {
  return Value.Check(HomeAnswerSchema, body) ? body : null;
}

/** If the home cell runs a newer release, the reason may be unknown here. */
export function declineOf({ decline }: HomeAnswer): Decline | null {
  if (decline === null) return null;
  return decline in DECLINES ? (decline as Decline) : 'pass_unknown';
}

/**
 * Returns the cell that created the credential; `null` if the credential names none, or cannot be
 * used in other cells.
 */
export function homeOf(presented: Presented): number | null {
  return tappedKindOf(presented)?.cell(presented) ?? null;
}

/** Returns the value that the reader read; `null` for a credential that cannot be tapped. */
export function tappedOf(presented: Presented): Presentation['tapped'] | null {
  const value = tappedKindOf(presented)?.value(presented);
  return value === undefined ? null : { type: presented.type as TappedType, value };
}

/** Returns the hash by which both cells know the tapped value. Neither stores the value itself. */
export function hashOfTapped({ type, value }: Presentation['tapped']): Buffer {
  return sha256(`${type} ${value}`);
}
