import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countriesByName, countryName } from './countries.ts';

test('every country is listed once, by name and in alphabetical order', () => {
  const countries = countriesByName();
  assert.equal(countries.length, 249);
  assert.equal(new Set(countries.map(({ name }) => name)).size, 249);
  for (const { code, name } of countries) assert.notEqual(name, code);
  const names = countries.map(({ name }) => name);
  assert.deepEqual(names, names.toSorted(new Intl.Collator('en').compare));
  assert.ok(countries.some(({ code, name }) => code === 'DE' && name === 'Germany'));
});

test('a country code becomes a name; anything else stays unchanged', () => {
  assert.equal(countryName('PT'), 'Portugal');
  assert.equal(countryName('somewhere'), 'somewhere');
});
