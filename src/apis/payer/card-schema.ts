import Type from 'typebox';
import { Amount, commonFields, idOf, nullable, oneOf, Timestamp, text } from '#http/schema.ts';
import { DEFAULT_CARD_LIMIT } from '#payers/card.ts';

const cardFields = {
  id: idOf('card_', 'card'),
  ...commonFields('card'),
  label: text(100, "The payer's name for it."),
  status: oneOf(['active', 'revoked'] as const, 'A revoked card pays nothing.'),
  per_payment_limit: Amount,
  last_used_at: nullable(Timestamp),
  revoked_at: nullable(Timestamp),
  created: Timestamp,
};

export const CardSchema = Type.Object(cardFields, {
  title: 'Card',
  description: 'A SUN card of the payer, without its keys.',
});

const Key = (description: string) =>
  Type.String({ pattern: '^[0-9a-f]{32}$', description: `${description} Shown only once.` });

export const NewCardSchema = Type.Object(
  {
    ...cardFields,
    meta_read_key: Key('SDMMetaReadKey of the chip: an AES-128 key in hex.'),
    file_read_key: Key('SDMFileReadKey of the chip: an AES-128 key in hex.'),
    url_template: Type.String({
      description:
        'The URL to write to the chip, which puts its encrypted PICC data over the zeros of `p` ' +
        'and its MAC over those of `c`.',
    }),
  },
  { title: 'NewCard', description: 'A new card with the data to write to its chip.' },
);

const Label = text(100, "Up to 100 characters: the payer's name for it.");
const PerPaymentLimit = Type.Integer({
  minimum: 1,
  maximum: 1_000_000_000_000,
  default: DEFAULT_CARD_LIMIT,
  description:
    'The largest payment that this card may make, in USDC atoms, without fees. Default: 50000000.',
});

export const NewCardBody = Type.Object({
  label: Type.Optional(Label),
  per_payment_limit: Type.Optional(PerPaymentLimit),
});

export const CardChangeBody = Type.Object({
  label: Type.Optional(Label),
  per_payment_limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000_000,
      description: 'The largest payment that this card may make, in USDC atoms, without fees.',
    }),
  ),
});

export const CARD_EXAMPLE = {
  id: 'card_01QzXo0KcV5sVQ2pWm8Tn3',
  object: 'card',
  livemode: false,
  network: 'testnet',
  label: 'Ring',
  status: 'active',
  per_payment_limit: DEFAULT_CARD_LIMIT,
  last_used_at: null,
  revoked_at: null,
  created: '2026-10-01T12:00:00.000Z',
} as const;
