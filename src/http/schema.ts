import Type, { type Static, type TSchema } from 'typebox';
import { MAX_AMOUNT, MIN_AMOUNT } from '#core/money.ts';

/**
 * Building blocks of request and response schemas. Their descriptions say which values are allowed.
 */

/** ISO 8601 UTC with milliseconds, the format of every timestamp in the API. */
export const Timestamp = Type.String({
  format: 'date-time',
  description: 'ISO 8601 UTC with milliseconds.',
  examples: ['2026-10-01T12:00:00.000Z'],
});

/**
 * Allows the value or null. A plain type is written `type: [X, "null"]`, which readers and
 * generators treat as one type; a named object stays a union, so that it stays a reference.
 */
export function nullable<S extends TSchema>(schema: S) {
  return Type.Unsafe<Static<S> | null>(nullableSchema(schema as PlainSchema));
}

interface PlainSchema {
  readonly type?: unknown;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly enum?: readonly unknown[];
}

function nullableSchema(schema: PlainSchema): TSchema {
  const { type, title, description, enum: values } = schema;
  if (typeof type !== 'string' || title !== undefined) {
    const either = { anyOf: [schema, { type: 'null' }] };
    return title === undefined && description !== undefined ? { ...either, description } : either;
  }
  const orNull = { ...schema, type: [type, 'null'] };
  return values === undefined ? orNull : { ...orNull, enum: [...values, null] };
}

export function oneOf<const V extends readonly string[]>(values: V, description: string) {
  return Type.Unsafe<V[number]>({ type: 'string', enum: [...values], description });
}

/** Describes an object whose members a third party defines. */
export function openObject(description: string) {
  return Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description,
  });
}

export const Amount = Type.Integer({
  minimum: MIN_AMOUNT,
  maximum: MAX_AMOUNT,
  description: 'USDC atoms (6 decimals), an integer from 1 to 1000000000000.',
  examples: [2500000],
});

/** A sum, which may be zero or exceed the limit of one payment. */
export const AtomsOut = Type.Integer({ minimum: 0, description: 'USDC atoms (6 decimals).' });

/**
 * Describes a text without control characters. The body parser refuses them everywhere; the schema
 * only documents that.
 */
export function text(maxLength: number, description: string, minLength = 0) {
  return Type.String({ minLength, maxLength, description });
}

export function idOf(prefix: string, what: string) {
  return Type.String({
    pattern: `^${prefix}[0-9A-Za-z]+$`,
    maxLength: 64,
    description: `The id of ${/^[aeiou]/.test(what) ? 'an' : 'a'} ${what}: ${prefix}…`,
  });
}

const METADATA_KEY = '^[A-Za-z0-9_.-]{1,40}$';

export const Metadata = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: 20,
  propertyNames: { type: 'string', pattern: METADATA_KEY },
  additionalProperties: { type: 'string', maxLength: 500 },
  description:
    'Up to 20 pairs: keys of 1 to 40 characters of A-Z a-z 0-9 _ . -, string values of up to ' +
    '500 characters. No secrets or personal data. Returned unchanged.',
});

/** Text in a response. */
export function textOut(description: string) {
  return Type.String({ description });
}

/** Returns the schema of an object's `object` field. */
export function objectType<const N extends string>(name: N) {
  return Type.Literal(name, { description: 'The type of the object.' });
}

export const Currency = Type.Literal('usdc', { description: 'USDC, always.' });

/** Fields that every object carries. */
export function commonFields<const N extends string>(object: N) {
  return {
    object: objectType(object),
    livemode: Type.Boolean({ description: 'false in test mode.' }),
    network: oneOf(['testnet', 'mainnet'] as const, 'The network of the mode.'),
  };
}

/**
 * Present only on rebuilt objects, so merchants whose network never lost data never see this field.
 */
export const Recovered = Type.Optional(
  Type.Unsafe<true>({
    type: 'boolean',
    const: true,
    description:
      'Only on objects that the service had lost with its database and rebuilt from the chain. ' +
      'Data that is not on the chain (metadata, description, terminal, method) is lost.',
  }),
);

export function listOf<S extends TSchema>(item: S) {
  const { title } = item as { title?: string };
  return Type.Object(
    {
      object: objectType('list'),
      data: Type.Array(item, { description: 'Newest first.' }),
      has_more: Type.Boolean({ description: 'True if there is another page.' }),
      next_cursor: nullable(
        Type.String({ maxLength: 1024, description: 'The `cursor` of the next page.' }),
      ),
    },
    {
      ...(title === undefined ? {} : { title: `${title}List` }),
      description: 'One page of the list.',
    },
  );
}

/** Query parameters of list endpoints. Each list declares the ones that it accepts. */
export const limitParameter = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 20,
    description: 'Page size, 1 to 100, default 20.',
  }),
);

export const cursorParameter = Type.Optional(
  Type.String({
    maxLength: 1024,
    description: '`next_cursor` of the previous page, sent with the same filters.',
  }),
);

export const pageParameters = { limit: limitParameter, cursor: cursorParameter };

export const Day = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}$',
  description: "YYYY-MM-DD, a day in the account's time zone.",
});

export const createdParameters = {
  created_gte: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Only objects created at or after this time.',
    }),
  ),
  created_lt: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only objects created before this time.' }),
  ),
};

export function walletAddress(description = 'A wallet address.') {
  return Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description });
}

/** Maximum length of a signature: as much as fits into a request body. */
const MAX_SIGNATURE = 60_000;

/**
 * Describes a wallet's signature. Its format is open, because the account's current code decides:
 * 65 bytes from a key, any length from a contract wallet.
 */
export function walletSignature(description: string) {
  return Type.Unsafe<`0x${string}`>({
    type: 'string',
    pattern: '^0x([0-9a-fA-F]{2})+$',
    maxLength: MAX_SIGNATURE,
    description,
  });
}
