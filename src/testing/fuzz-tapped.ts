import fc from 'fast-check';
import { newSecret } from '#core/secrets.ts';
import type { KnownIds } from '#testing/fuzz.ts';

const CARD = 'https://pay.example.com/card/card_01QzXo0KcV5sVQ2pWm8Tn3';

/** What a reader may give: passes, cards and codes, ours and made up, and what no network made. */
export function tappedText(known: KnownIds): fc.Arbitrary<string> {
  const hex = (length: number) =>
    fc.string({
      unit: fc.constantFrom(...'0123456789ABCDEFabcdef'),
      minLength: length,
      maxLength: length,
    });
  const urls = fc.constantFrom(
    ...(known.card_ ?? []).map((id) => CARD.replace(/card_.*/, id)),
    CARD,
  );
  return fc.oneof(
    fc.constant('').map(() => newSecret('pass')),
    fc.constant('').map(() => newSecret('passCode')),
    fc.constantFrom(...(known.nfc_ ?? ['nfc_unknown'])),
    fc.tuple(urls, hex(32), hex(16)).map(([url, p, c]) => `${url}?p=${p}&c=${c}`),
    fc.tuple(urls, hex(31), hex(16)).map(([url, p, c]) => `${url}?p=${p}&c=${c}&c=${c}`),
    fc.constantFrom(CARD, 'card_1', 'nfc_', 'http://', 'javascript:alert(1)', '\u202eqr', 'é'),
    fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 500 }),
  );
}
