import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, type Json } from '#core/canonical-json.ts';

function parse(text: string): Json {
  return JSON.parse(text) as Json;
}

/** Returns an equal value, but with the members of every object in the opposite order. */
function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value).map(([key, member]) => [key, reversed(member)] as const);
  return Object.fromEntries(members.toReversed());
}

test('key order, white space and the spelling of numbers do not matter', () => {
  const spellings = [
    '{"amount":2500000,"terminal":"tml_1","metadata":{"b":"2","a":"1"}}',
    ' { "metadata": {"a":"1", "b":"2"}, "terminal": "tml\\u005f1", "amount": 2.5e6 } ',
  ];
  const [first, second] = spellings.map((text) => canonicalJson(parse(text)));
  assert.equal(first, second);
  assert.equal(first, '{"amount":2500000,"metadata":{"a":"1","b":"2"},"terminal":"tml_1"}');
});

test('values with different meanings have different texts', () => {
  const texts = ['1', '"1"', 'null', '"null"', '[]', '{}', '[1,2]', '[2,1]', '[[1],2]', 'false'];
  const objects = ['{"a":null}', '{"a":1}', '{"b":1}', '{"a":"1"}', '{"a":[1]}', '{"a":{"b":1}}'];
  const odd = ['{"a,b":1}', '{"a":1,"b":1}', '{"__proto__":1}', '"\\ud800"', '"\\ud801"'];
  const spelled = [...texts, ...objects, ...odd].map((text) => canonicalJson(parse(text)));
  assert.equal(new Set(spelled).size, spelled.length);
});

test('keys are ordered by code unit, for any locale', () => {
  const text = canonicalJson(parse('{"ä":1,"z":2,"Z":3,"a":4,"10":5,"9":6}'));
  assert.equal(text, '{"10":5,"9":6,"Z":3,"a":4,"z":2,"ä":1}');
});

test('any order of members gives one text, which parses to the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false } as object), (input) => {
      const value = parse(JSON.stringify(input));
      assert.equal(canonicalJson(reversed(value)), canonicalJson(value));
      assert.deepEqual(parse(canonicalJson(value)), value);
    }),
  );
});
