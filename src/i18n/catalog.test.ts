import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOffered, messageOf, offeredLanguages, TEXT_KEYS } from '#i18n/catalog.ts';
import { pseudoText } from '#i18n/pseudo-language.ts';
import { writerFor } from '#i18n/text.ts';
import { formatText } from '#i18n/text-format.ts';

test('the pseudo-language is at least 40 % longer, and has no English letter', () => {
  for (const text of ['Pay', 'No tip', 'Try', 'xyz', 'Nothing was charged. Tell the shop.']) {
    const letters = text.match(/[a-z]/gi)?.length ?? 0;
    const pseudo = pseudoText(text);
    assert.ok(pseudo.length >= text.length + letters * 0.4, pseudo);
    assert.doesNotMatch(pseudo, /[a-z]/i);
  }
});

test('only a sandbox offers it', () => {
  assert.equal(offeredLanguages(false).includes('qps'), true);
  assert.equal(offeredLanguages(true).includes('qps'), false);
});

test('every text can be written in every language', () => {
  assert.ok(TEXT_KEYS.size > 100);
  for (const language of offeredLanguages(false)) {
    for (const key of TEXT_KEYS) assert.ok(messageOf(language, key).length > 0, key);
  }
});

test('an app is offered in a language that has nearly all of its texts', () => {
  const keys = [...TEXT_KEYS].filter((key) => key.startsWith('wallet.'));
  assert.equal(isOffered('fr', [...keys, 'wallet.not_translated_yet']), true);
  assert.equal(isOffered('fr', ['wallet.one_of_two', 'wallet.open']), false);
});

test('values are isolated as language-independent, also in HTML', () => {
  const values = { sum: '2.51 USDC', merchant: '<b>Café</b>' };
  const { text, html } = writerFor('en');
  assert.equal(text('pay.button', values), 'Pay 2.51 USDC to <b>Café</b>');
  assert.equal(
    html('pay.button', values),
    'Pay <bdi translate="no">2.51 USDC</bdi> to ' +
      '<bdi translate="no">&lt;b&gt;Café&lt;/b&gt;</bdi>',
  );
  assert.match(writerFor('qps').text('pay.button', values), /^Ƥ.* 2\.51 USDC .* <b>Café<\/b>$/);
});

test('a choice between words is made, and nothing around it is isolated', () => {
  const { isolated } = writerFor('en');
  const words = isolated('receipt.check.differs', { what: 'amount' });
  assert.equal(
    words,
    '✗ This receipt and the chain disagree on the amount. Do not trust this receipt.',
  );
  const many = formatText(messageOf('en', 'sum.too_many_decimals'), 'en', { count: 6 });
  assert.equal(many, 'At most 6 decimals.');
});
