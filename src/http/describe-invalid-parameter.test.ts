import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { Amount, idOf, Metadata, oneOf, Timestamp } from '#http/schema.ts';
import { compileCheck } from '#http/validate-by-schema.ts';

const body = Type.Object({
  amount: Amount,
  terminal: Type.Optional(idOf('tml_', 'terminal')),
  metadata: Type.Optional(Metadata),
  until: Type.Optional(Timestamp),
  kind: Type.Optional(oneOf(['slow', 'quick'], 'How it goes.')),
  names: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 2, uniqueItems: true })),
  now: Type.Optional(Type.Boolean({ description: 'Whether it starts now.' })),
  size: Type.Optional(Type.Integer({ minimum: 3 })),
});
const check = compileCheck(body, 'body');

const ATOMS = 'USDC atoms (6 decimals), an integer from 1 to 1000000000000.';
const SAID: readonly (readonly [object, string])[] = [
  [{}, `amount is required. ${ATOMS} Example: 2500000.`],
  [
    { amount: '5' },
    `amount must be a whole number from 1 to 1000000000000. ${ATOMS} Example: 2500000.`,
  ],
  [{ amount: 0 }, `amount must be from 1 to 1000000000000. ${ATOMS} Example: 2500000.`],
  [
    { amount: 1, terminal: 'T1' },
    'terminal has the wrong format. The id of a terminal: tml_… ' +
      'Example: "tml_01QzXo0KcV5sVQ2pWm8Tn3".',
  ],
  [{ amount: 1, metadata: { a: 5 } }, 'metadata.a must be text in quotes.'],
  [{ amount: 1, metadata: { 'a b': 'x' } }, 'metadata.a b has the wrong format.'],
  [
    { amount: 1, until: 'tomorrow' },
    'until has the wrong format. ISO 8601 UTC with milliseconds. ' +
      'Example: "2026-10-01T12:00:00.000Z".',
  ],
  [{ amount: 1, kind: 'late' }, 'kind must be one of slow, quick. How it goes.'],
  [{ amount: 1, names: [] }, 'names must have from 1 to 2 entries.'],
  [{ amount: 1, names: ['a', 'a'] }, 'names must not have the same entry twice.'],
  [{ amount: 1, now: 'yes' }, 'now must be true or false. Whether it starts now.'],
  [{ amount: 1, size: 2 }, 'size must be at least 3.'],
];

for (const [sent, message] of SAID) {
  test(`${JSON.stringify(sent)} is refused in plain words`, () => {
    assert.equal(check(sent)?.message, message);
  });
}
