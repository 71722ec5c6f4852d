import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brandStyles, inkOn } from '#core/brand-styles.ts';

const LOGO = '0123456789abcdef0123456789abcdef';

/** Computes the contrast ratio of WCAG 2.2, independently of the code under test. */
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [one, other]
    .map((color) => {
      const parts = color.match(/../g) ?? [];
      const linear = parts.map((part) => {
        const value = Number(`0x${part}`) / 255;
        return value <= 0.04045 ? value / 12.92 : Math.exp(2.4 * Math.log((value + 0.055) / 1.055));
      });
      return [0.2126, 0.7152, 0.0722].reduce((sum, by, at) => sum + by * (linear[at] ?? 0), 0);
    })
    .sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

test('the name is readable on every color', () => {
  assert.equal(inkOn('ffffff'), '000000');
  assert.equal(inkOn('000000'), 'ffffff');
  assert.equal(inkOn('3346c8'), 'ffffff');
  const steps = ['00', '33', '66', '77', '99', 'cc', 'ff'];
  for (const red of steps)
    for (const green of steps)
      for (const blue of steps) {
        const color = red + green + blue;
        const reached = contrast(color, inkOn(color));
        assert.ok(reached >= 4.5, `${color}: ${reached}`);
      }
});

test('a style sheet is derived from its name alone', () => {
  const both = brandStyles(`0a7d4c-${LOGO}`) ?? '';
  assert.match(both, /background:#0a7d4c;color:#ffffff/);
  assert.match(both, new RegExp(`url\\("${LOGO}\\.png"\\)`));
  assert.doesNotMatch(brandStyles(`none-${LOGO}`) ?? '', /background:#/);
  assert.doesNotMatch(brandStyles('0a7d4c-none') ?? '', /url/);
  for (const wrong of ['', 'none', '0a7d4c', `0A7D4C-${LOGO}`, '0a7d4c-x', `red}-${LOGO}`]) {
    assert.equal(brandStyles(wrong), null, wrong);
  }
});
