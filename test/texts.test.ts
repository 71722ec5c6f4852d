import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { type MessageFormatElement, parse, TYPE } from '@formatjs/icu-messageformat-parser';
import { type Expression, type JSXAttribute, parseSync, Visitor } from 'oxc-parser';
import { isOffered, messageOf, WRITTEN_LANGUAGES } from '#i18n/catalog.ts';
import { LANGUAGES } from '#i18n/languages.ts';
import { formatText } from '#i18n/text-format.ts';
import { describeTexts, listed, missingTexts, readSources } from '#i18n/translation-status.ts';
import { DECLINES } from '#payments/decline-codes.ts';
import { ROLES, type Role } from '#people/role-order.ts';

/**
 * Checks the text catalog (`texts/`) and its users: no visible text is hard-coded in a component,
 * no key is missing or unused, and each text gets its values.
 */

const ROOT = path.join(import.meta.dirname, '..');

/**
 * Folders whose texts come from the catalog. The operator console and the contract and solvency
 * pages stay English.
 */
const APPS = 'pay,tag,receipt,terminal,front,dashboard,desk,wallet';
/** Parts of other folders that use the catalog. */
const MOVED = [
  'web/ui/*.{ts,tsx}',
  'web/data/*.ts',
  'web/wallet/problem-words.ts',
  'web/wallet/screens/unlock-method.tsx',
  'src/apis/pay/receipt-{html,lines,text}.ts',
  'src/apis/pay/refund-receipt.ts',
];
/** If it finds fewer, the search looks in the wrong place. */
const FEWEST_FILES = 30;

/**
 * Left out: tests and screenshots, names that are English in every language, country codes, and
 * what the English operator console and contract page say about calls.
 */
const LEFT_OUT = new RegExp(
  String.raw`\.test\.tsx?$|(^|/)([\w-]+-)?shots|/types/|/testing/|` +
    String.raw`/(ui/result|dashboard/page)-names\.ts$|` +
    String.raw`/(countries|currency-of-country|data/contract-calls)\.ts$`,
);

interface Source {
  readonly name: string;
  readonly text: string;
}

async function sources(...patterns: readonly string[]): Promise<Source[]> {
  const results = new Map<string, Source>();
  for await (const name of glob([...patterns], { cwd: ROOT })) {
    if (LEFT_OUT.test(name)) continue;
    results.set(name, { name, text: readFileSync(path.join(ROOT, name), 'utf8') });
  }
  return [...results.values()];
}

type Texts = Readonly<Record<string, string>>;

function readTexts(language: string): Texts {
  return JSON.parse(readFileSync(path.join(ROOT, `texts/${language}.json`), 'utf8')) as Texts;
}

const english = readTexts('en');
const keys = Object.keys(english).filter((key) => !key.startsWith('@'));
const moved = await sources(`web/{${APPS}}/**/*.{ts,tsx}`, ...MOVED);
const users = await sources('web/**/*.{ts,tsx,html}', 'src/**/*.ts');

/**
 * Matches texts with two consecutive letters. Symbols that are the same everywhere do not match.
 */
const WORDS = /\p{L}{2}/u;
const SAME_EVERYWHERE: ReadonlySet<string> = new Set([
  'USDC',
  'Tapline',
  // Networks and wallet apps.
  'Ethereum',
  'OP Mainnet',
  'Polygon',
  'Arc',
  'Base',
  'Base Sepolia',
  'Arbitrum One',
  'MetaMask',
  'Base or Coinbase Wallet',
  'Trust Wallet',
  'Phantom',
  'OKX Wallet',
  // Standards and programs for bookkeeping.
  'JSON Lines',
  'ISO 20022 camt.053.001.08',
  'Xero',
  // Keys, codes and chip commands.
  'Delete',
  'Enter',
  'Digit',
  'Home',
  'End',
  'key_…',
  'pi_…',
  'XXXX-XXXX',
  'Password authentication:',
  // Names of windows and channels, CSS classes, and selectors.
  'tapline display',
  'tapline till',
  'tapline dashboard mode',
  'tapline dashboard account',
  'tapline filters …',
  'input id',
  'a, button, input, select, textarea, summary, label',
  'input, textarea, select, [role=dialog] *',
  // Texts that wallets sign, names of pinned contracts, and storage keys.
  'Sign in to the Tapline wallet.',
  'Permit',
  'Tapline Settlement',
  'token name',
  'token version',
  'tapline wallet vault 1',
  'Tapline ………',
  'agent tokens',
  'Notification',
  'cards write',
  // For programs and their logs.
  'Date',
  'Refused',
  'PaymentAuthorization(uint32 merchant,uint64 amount,uint64 number,bytes8 orderId,bytes32 salt)',
  'The payment is signed.',
  // Parts of the service's messages, which are English.
  'This',
  'Bearer …',
  'Not done in … ms',
  // Names that wallets and passkey dialogs store.
  'Tapline Wallet',
  'Pays one bill, which the wallet shows.',
]);

/** Attributes that users see or hear, with the same names on components. */
const TEXT_ATTRIBUTES: ReadonlySet<string> = new Set([
  'aria-label',
  'aria-description',
  'aria-roledescription',
  'aria-valuetext',
  'title',
  'placeholder',
  'alt',
  'label',
  'hint',
  'error',
  'name',
  'heading',
  'action',
  'children',
  'send',
  'all',
  'brand',
  'sent',
  'missing',
]);
/** Elements whose `name` is for programs. */
const INPUTS: ReadonlySet<string> = new Set([
  'input',
  'select',
  'textarea',
  'TextField',
  'FilterText',
  'FilterSelect',
  'Choice',
  'Icon',
  'TillIcon',
  'EmptyDrawing',
  'meta',
]);

/**
 * Matches one or several words as people write them. `pay-total` and `payment_intent` are for
 * programs, and so are several classes in `className`.
 */
const SENTENCE = new RegExp(
  String.raw`^\p{Lu}\p{Ll}+[.…]?( |$)|^\p{Lu}\p{L}+[^.]* \p{Ll}{2,}|` +
    String.raw`^\p{L}[\p{L}’]*,? \p{L}[\p{L}’]*( |[.,!?…]|$)`,
  'u',
);

function isSentence(text: string): boolean {
  const shown = text.replaceAll(/\s+/g, ' ').trim();
  return SENTENCE.test(shown) && !SAME_EVERYWHERE.has(shown);
}

function elementOf(attribute: JSXAttribute, parents: ReadonlyMap<unknown, string>): string {
  return parents.get(attribute) ?? '';
}

/** Returns the visible texts in a source that do not come from the catalog. */
function textsIn({ name, text }: Source): string[] {
  const results: string[] = [];
  const thrown = new Set<unknown>();
  const parents = new Map<unknown, string>();
  const forPrograms: [start: number, end: number][] = [];
  const isForPrograms = ({ start }: { readonly start: number }) =>
    forPrograms.some(([from, to]) => from <= start && start < to);
  const { program } = parseSync(name, text);
  new Visitor({
    JSXOpeningElement({ name: tag, attributes }) {
      for (const one of attributes) {
        parents.set(one, tag.type === 'JSXIdentifier' ? tag.name : '');
      }
    },
    JSXAttribute(attribute) {
      const { name: own, value } = attribute;
      const attributeName = own.type === 'JSXIdentifier' ? own.name : '';
      const isHidden = attributeName.startsWith('data-') || attributeName === 'className';
      if (isHidden && value !== null) forPrograms.push([value.start, value.end]);
      if (value?.type !== 'Literal' || typeof value.value !== 'string') return;
      const isInput = attributeName === 'name' && INPUTS.has(elementOf(attribute, parents));
      if (!TEXT_ATTRIBUTES.has(attributeName) || isInput) thrown.add(value);
      else if (WORDS.test(value.value) && !SAME_EVERYWHERE.has(value.value)) {
        results.push(`${attributeName}="${value.value}"`);
      }
    },
    JSXText({ value }) {
      const shown = value.replaceAll(/\s+/g, ' ').trim();
      if (WORDS.test(shown) && !SAME_EVERYWHERE.has(shown)) results.push(shown);
    },
    // Thrown messages are for developers, unless a screen shows them.
    ThrowStatement({ argument }) {
      if (!isShownError(argument)) markAll(argument, thrown);
    },
    CallExpression({ callee, arguments: given }) {
      const isSuper = callee.type === 'Super';
      if (isSuper) for (const one of given) markAll(one as Expression, thrown);
    },
    NewExpression({ callee, arguments: given }) {
      if (callee.type !== 'Identifier' || !callee.name.endsWith('Error')) return;
      for (const one of given) markAll(one as Expression, thrown);
    },
    // `data-name` values, by which tests find controls, are English in every language.
    Property({ key, value }) {
      if (key.type === 'Literal' && key.value === 'data-name') thrown.add(value);
    },
    ImportDeclaration({ source }) {
      thrown.add(source);
    },
    Literal(literal) {
      if (thrown.has(literal) || typeof literal.value !== 'string' || isForPrograms(literal))
        return;
      if (isSentence(literal.value)) results.push(literal.value);
    },
    TemplateLiteral(template) {
      if (thrown.has(template) || isForPrograms(template)) return;
      const shown = template.quasis.map(({ value }) => value.cooked ?? '').join('…');
      if (isSentence(shown)) results.push(shown);
    },
  }).visit(program);
  return results.map((one) => `${name}: ${one}`);
}

/** Errors whose messages are shown to the user (`web/wallet/problem-words.ts`). */
const SHOWN_ERRORS: ReadonlySet<string> = new Set(['NotApproved']);

function isShownError(thrown: Expression): boolean {
  if (thrown.type !== 'NewExpression' || thrown.callee.type !== 'Identifier') return false;
  return SHOWN_ERRORS.has(thrown.callee.name);
}

function markAll(node: Expression, marked: Set<unknown>): void {
  marked.add(node);
  if (node.type === 'NewExpression' || node.type === 'CallExpression') {
    for (const one of node.arguments) markAll(one as Expression, marked);
  }
  if (node.type === 'BinaryExpression') {
    markAll(node.left as Expression, marked);
    markAll(node.right, marked);
  }
}

test('no component contains a hard-coded visible text', () => {
  assert.ok(moved.length >= FEWEST_FILES, `only ${moved.length} files were seen`);
  assert.deepEqual(moved.flatMap(textsIn), []);
});

test('a text in a component is found wherever it is', () => {
  const result = textsIn({
    name: 'shown.tsx',
    text: `const WORDS = { a: 'Nothing was charged.' };
      const name = \`Order \${id}\`;
      throw new Error('For developers only');
      throw new NotApproved('The reader sees this');
      export const Shown = () => (
        <p className="soft small" title="exactly" data-name={isOpen ? 'Pay now' : 'Pay later'}>
          <b>left</b>{t('pay.to')}
        </p>
      );`,
  });
  assert.deepEqual(
    result.map((one) => one.slice('shown.tsx: '.length)),
    ['Nothing was charged.', 'Order …', 'The reader sees this', 'title="exactly"', 'left'],
  );
});

/** Matches a literal key, a prefix of computed keys, and an attribute in a page. */
const NAMED = /'([a-z]\w*(?:\.\w+)+)'|`([a-z]\w*(?:\.\w+)*\.)\$\{|\{\{([\w.]+)/g;

test('every text of the catalog is used', () => {
  const whole = new Set<string>();
  const families = new Set<string>();
  for (const { text } of users) {
    for (const [, key, family, position] of text.matchAll(NAMED)) {
      if (family !== undefined) families.add(family);
      else whole.add(key ?? position ?? '');
    }
  }
  const unused = keys.filter(
    (key) => !whole.has(key) && ![...families].some((family) => key.startsWith(family)),
  );
  assert.deepEqual(unused, []);
});

test('every placeholder of a built page names an existing text', () => {
  const missing = users
    .filter(({ name }) => name.endsWith('.html'))
    .flatMap(({ name, text }) =>
      [...text.matchAll(/\{\{([\w.]+)/g)].flatMap(([, key = '']) =>
        keys.includes(key) ? [] : [`${name}: ${key}`],
      ),
    );
  assert.deepEqual(missing, []);
});

/** Returns the values and tags that a text uses. */
function valuesIn(elements: readonly MessageFormatElement[]): string[] {
  return elements.flatMap((element) => {
    switch (element.type) {
      case TYPE.literal:
      case TYPE.pound:
        return [];
      case TYPE.select:
      case TYPE.plural:
        return [
          element.value,
          ...Object.values(element.options).flatMap(({ value }) => valuesIn(value)),
        ];
      case TYPE.tag:
        return [element.value, ...valuesIn(element.children)];
      default:
        return [element.value];
    }
  });
}

/** Returns the words of a text, without its values. */
function wordsIn(elements: readonly MessageFormatElement[]): string {
  return elements
    .map((element) => {
      switch (element.type) {
        case TYPE.literal:
          return element.value;
        case TYPE.select:
        case TYPE.plural:
          return Object.values(element.options)
            .map(({ value }) => wordsIn(value))
            .join(' ');
        case TYPE.tag:
          return wordsIn(element.children);
        default:
          return '';
      }
    })
    .join('');
}

/** Returns the plural forms of each choice by number in a text. */
function pluralsIn(elements: readonly MessageFormatElement[]): string[][] {
  return elements.flatMap((element) => {
    if (element.type === TYPE.tag) return pluralsIn(element.children);
    if (element.type !== TYPE.select && element.type !== TYPE.plural) return [];
    const inside = Object.values(element.options).flatMap(({ value }) => pluralsIn(value));
    return element.type === TYPE.plural ? [Object.keys(element.options), ...inside] : inside;
  });
}

const namesOf = (text: string) => [...new Set(valuesIn(parse(text)))].sort();

/** Returns the property names of an object literal, or `null` for other expressions. */
function propertiesOf(node: Expression | undefined): string[] | null {
  if (node?.type !== 'ObjectExpression') return null;
  if (node.properties.some(({ type }) => type === 'SpreadElement')) return null;
  return node.properties.flatMap((one) =>
    one.type === 'Property' && one.key.type === 'Identifier' ? [one.key.name] : [],
  );
}

test('each text gets the values that it names, and no others', () => {
  const problems: string[] = [];
  let seen = 0;
  for (const { name, text } of users.filter((one) => /\.tsx?$/.test(one.name))) {
    const { program } = parseSync(name, text);
    new Visitor({
      CallExpression({ callee, arguments: given }) {
        const called = callee.type === 'Identifier' ? callee.name : '';
        if (called !== 't' && called !== 'rich') return;
        const [key, ...rest] = given as Expression[];
        if (key?.type !== 'Literal' || typeof key.value !== 'string') return;
        seen++;
        const expected = namesOf(english[key.value] ?? '');
        const handed = rest.map(propertiesOf);
        if (handed.includes(null)) return;
        const got = handed.flatMap((one) => one ?? []).sort();
        if (expected.join() !== got.join()) {
          problems.push(`${name}: ${key.value} names ${expected.join()} and gets ${got.join()}`);
        }
      },
    }).visit(program);
  }
  assert.ok(seen > 50, `only ${seen} texts were seen`);
  assert.deepEqual(problems, []);
});

test('a comment belongs to a text or to a family of texts', () => {
  const lost = Object.keys(english)
    .filter((key) => key.startsWith('@'))
    .filter(
      (key) => !keys.some((one) => one === key.slice(1) || one.startsWith(`${key.slice(1)}.`)),
    );
  assert.deepEqual(lost, []);
});

/**
 * Texts of the screens for shops, which a language may lack: they are shown in English until a
 * translator has written them. Customers cannot ask for another screen, so theirs must be complete.
 */
const FOR_SHOPS = /^(?:till|front|desk|dashboard)\./;

const TRANSLATIONS = LANGUAGES.slice(1).filter((language) =>
  existsSync(path.join(ROOT, `texts/${language}.json`)),
);

test('every language has every text for customers', () => {
  const missing = missingTexts().filter(({ key }) => !FOR_SHOPS.test(key));
  assert.deepEqual(listed(missing), []);
});

test('texts for shops that a language lacks, and stale translations, are reported', (t) => {
  for (const line of describeTexts(readSources())) t.diagnostic(line);
});

test('every translation has the values of its English text', () => {
  for (const language of TRANSLATIONS) {
    const texts = readTexts(language);
    const written = Object.keys(texts).filter((key) => !key.startsWith('@'));
    assert.deepEqual(
      written.filter((key) => english[key] === undefined),
      [],
      language,
    );
    for (const key of written) {
      assert.deepEqual(
        namesOf(texts[key] ?? ''),
        namesOf(english[key] ?? ''),
        `${language} ${key}`,
      );
    }
  }
});

/** Words that are spelled the same in the language, and texts without words. */
const SAME_WORDS = JSON.parse(
  readFileSync(path.join(ROOT, 'texts/same-words.json'), 'utf8'),
) as Readonly<Record<string, readonly string[]>>;

test('no text is left in English, except words that the language spells the same', () => {
  for (const language of TRANSLATIONS) {
    const texts = readTexts(language);
    const same = new Set([...(SAME_WORDS.all ?? []), ...(SAME_WORDS[language] ?? [])]);
    const left = keys.filter((key) => texts[key] === english[key]);
    const problems = left.filter((key) => WORDS.test(wordsIn(parse(english[key] ?? ''))));
    assert.deepEqual(
      problems
        .filter((key) => !same.has(english[key] ?? ''))
        .map((key) => `${key}: ${english[key]}`),
      [],
      language,
    );
  }
});

test('each listed same word occurs in a translation of its language', () => {
  for (const [language, words] of Object.entries(SAME_WORDS)) {
    const using = language === 'all' ? TRANSLATIONS : [language];
    const written = new Set(using.flatMap((one) => Object.values(readTexts(one))));
    assert.deepEqual(
      words.filter((word) => !written.has(word)),
      [],
      language,
    );
  }
});

test('no language lacks a plural form that it uses', () => {
  for (const language of TRANSLATIONS) {
    const needed = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
    for (const [key, text] of Object.entries(readTexts(language))) {
      for (const given of pluralsIn(parse(text))) {
        const lacking = needed.filter((form) => !given.includes(form));
        assert.deepEqual(lacking, [], `${language} ${key}`);
      }
    }
  }
});

test('the words of a decline are those that the service sends in English', () => {
  for (const [code, { customer }] of Object.entries(DECLINES)) {
    assert.equal(english[`decline.${code}`], customer, code);
  }
});

test('an invitation names the role that it gives', () => {
  const key = 'dashboard.outside.invitation.text';
  for (const language of WRITTEN_LANGUAGES.filter((one) => isOffered(one, [key]))) {
    const inviting = (role: Role) =>
      formatText(messageOf(language, key), language, { account: 'Bar', email: 'a@b.test', role });
    assert.equal(new Set(ROLES.map(inviting)).size, ROLES.length, language);
  }
});
