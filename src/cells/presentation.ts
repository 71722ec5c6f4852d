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
import { DECLINES, type Decline } from '#payments/decline.ts';

/** What cells say to each other: `POST /api/cells/v1/presentations` and its answer. */

const Tapped = Type.Object({
  type: Type.Unsafe<TappedType>(Type.String({ enum: [...TAPPED_TYPES] })),
  value: Type.String({ maxLength: 2_000 }),
});

/** A credential that was tapped in the cell that asks. */
export const PresentationSchema = Type.Object({
  cell: Type.Integer({ minimum: 0, maximum: 9 }),
  livemode: Type.Boolean(),
  /** The intent that it is to pay. What is good once is used up for this one. */
  intent: Type.String({ minLength: 1, maxLength: 64 }),
  tapped: Tapped,
});
export type Presentation = Static<typeof PresentationSchema>;

const HolderSchema = Type.Object({
  livemode: Type.Boolean(),
  address: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }),
  /** The id of the pass or card. */
  credential: Type.String({ pattern: '^(pass|card)_[0-9A-Za-z]{1,64}$' }),
  /** Atoms that it may pay at once, as text; null: no limit. */
  limit: Type.Union([Type.String({ pattern: '^[0-9]{1,19}$' }), Type.Null()]),
  doubted_at: Type.Union([Type.String(), Type.Null()]),
});

/** What its home says of it. */
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

/** A later release of the home may have a reason that this one has no words for. */
export function declineOf({ decline }: HomeAnswer): Decline | null {
  if (decline === null) return null;
  return decline in DECLINES ? (decline as Decline) : 'pass_unknown';
}

/** The cell that created what was tapped; `null` if it names none, or never crosses cells. */
export function homeOf(presented: Presented): number | null {
  return tappedKindOf(presented)?.cell(presented) ?? null;
}

/** As the reader read it; `null` for what is not tapped. */
export function tappedOf(presented: Presented): Presentation['tapped'] | null {
  const value = tappedKindOf(presented)?.value(presented);
  return value === undefined ? null : { type: presented.type as TappedType, value };
}

/** What both cells know it by; neither stores what was tapped. */
export function hashOfTapped({ type, value }: Presentation['tapped']): Buffer {
  return sha256(`${type} ${value}`);
}
