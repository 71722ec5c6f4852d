import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ReactElement, ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { named } from '#i18n/bidi-isolates.ts';
import { Fragment, jsx, jsxs } from './jsx-runtime.ts';
import { partsOf } from './untranslated-parts.ts';

/** Creates an element as the compiler emits it, with several children in an array. */
function made(
  type: 'p' | 'b' | 'i' | 'div' | 'option' | 'button' | 'bdi' | 'code' | typeof Fragment,
  ...children: readonly unknown[]
): ReactElement {
  const [first] = children;
  return children.length === 1 ? jsx(type, { children: first }) : jsxs(type, { children });
}

const html = (node: ReactNode) => renderToStaticMarkup(node);

test('a text beside others gets an element of its own', () => {
  const icon = made('i', 'x');
  assert.equal(html(made('p', icon, 'Sign in')), '<p><i>x</i><span>Sign in</span></p>');
  const twice = made('p', 'Left: ', 2, icon, ' of ', 7);
  assert.equal(html(twice), '<p><span>Left: 2</span><i>x</i><span> of 7</span></p>');
  const inside = made('p', made(Fragment, 'in a fragment'), made(Fragment, icon, 'and'));
  assert.equal(html(inside), '<p><span>in a fragment</span><i>x</i><span>and</span></p>');
});

test('an element’s only text is not wrapped', () => {
  assert.equal(html(made('p', 'Sign in')), '<p>Sign in</p>');
  assert.equal(html(made('p', 'Sign', ' ', 'in', null, false)), '<p>Sign in</p>');
  assert.equal(html(made('option', 'Tips: ', 2, ' kinds')), '<option>Tips: 2 kinds</option>');
});

test('an element keeps its slot when a text before it appears or disappears', () => {
  const slotOf = (text: unknown) => {
    const { children } = made('p', text, 'b', made('i', 'x')).props as { children: ReactNode[] };
    return children.findIndex((child) => (child as ReactElement | null)?.type === 'i');
  };
  assert.deepEqual(['a', null, false, 0].map(slotOf), [2, 2, 2, 2]);
});

test('a button shows the amount that it charges, because translators skip it', () => {
  assert.equal(
    html(made('button', null, 'Charge 2.50 USDC')),
    '<button><span><span>Charge </span><bdi translate="no">2.50 USDC</bdi></span></button>',
  );
});

const FIXED: readonly (readonly [text: string, fixed: readonly string[]])[] = [
  ['Refund 1,700.00', ['1,700.00']],
  ['Pay 2.005001 USDC to the shop', ['2.005001 USDC']],
  ['< 0.01 USDC of −3.20 EUR', ['< 0.01 USDC', '−3.20 EUR']],
  ['Copy pay_0354nwQkoQZ88UWymYlXjw', ['pay_0354nwQkoQZ88UWymYlXjw']],
  [
    'Declined: card_blocked (payment_intent.succeeded)',
    ['card_blocked', 'payment_intent.succeeded'],
  ],
  ['Send to 0x12ab…cdef', ['0x12ab…cdef']],
  ['Wallet ending in 4fd1', ['4fd1']],
  ['We sent a link to ann_b+1@shop.example.', ['ann_b+1@shop.example']],
  ['Type AB3D-9XYZ there', ['AB3D-9XYZ']],
  [`Leave ${named('Blue Door Café')}?`, ['Blue Door Café']],
  ['Version 1.24.3 at 10.0.12.1: 3 payments', ['1.24.3', '10.0.12.1']],
  ['Open until 12:30, 3 payments of 15 %', []],
];

test('only parts that are the same in every language are marked untranslatable', () => {
  for (const [text, fixed] of FIXED) {
    const parts = partsOf(text);
    const results = parts.filter(({ is }) => is !== 'words').map((part) => part.text);
    assert.deepEqual(results, fixed, text);
  }
});

test('elements with ids, amounts, codes or names are marked untranslatable', () => {
  assert.equal(html(made('bdi', 'Joe’s Bar')), '<bdi translate="no">Joe’s Bar</bdi>');
  assert.equal(html(made('code', 'npm start')), '<code translate="no" dir="ltr">npm start</code>');
  const said = jsx('span', { className: 'id', children: `sent ${named('0x12')}` });
  assert.equal(html(said), '<span translate="no" dir="ltr" class="id">sent 0x12</span>');
  const id = jsx('span', { className: 'id soft', children: 'ab12' });
  assert.equal(html(id), '<span translate="no" dir="ltr" class="id soft">ab12</span>');
});

/** Matches text that has an element or another text beside it. */
const BARE = /<\/\w+>[^<]+|[^<>]+<\w/;

test('no tree of elements has a text beside another text or element', () => {
  const text = fc.constantFrom('a', ' ', 'Pay 2.50 USDC', 7, '', named('Ann'), 'pi_abc123 now');
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.constantFrom(null, false, undefined),
      fc
        .tuple(
          fc.constantFrom<'p' | 'b' | typeof Fragment>('p', 'b', Fragment),
          fc.array(tie('tree'), { maxLength: 4 }),
        )
        .map(([type, children]) => made(type, ...children)),
      fc.array(text, { maxLength: 3 }),
    ),
  }));
  fc.assert(
    fc.property(fc.array(tree, { minLength: 1, maxLength: 4 }), (children) => {
      assert.doesNotMatch(html(made('div', ...children)), BARE);
    }),
    { numRuns: 300 },
  );
});
