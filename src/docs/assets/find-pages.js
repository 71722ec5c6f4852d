// Ranks the pages of the site for the words of a search. Loaded by search.js.

/** Words that readers use for each other. */
const SYNONYMS = [
  ['tax', 'vat', 'gst'],
  ['till', 'terminal', 'register', 'pos'],
  ['payout', 'withdrawal', 'withdraw', 'cashout'],
  ['refund', 'return', 'chargeback', 'dispute'],
  ['webhook', 'callback', 'notification'],
  ['tip', 'gratuity'],
  ['cashier', 'staff', 'employee'],
  ['decline', 'declined', 'rejected', 'failed'],
  ['fee', 'price', 'cost', 'pricing'],
  ['book', 'accounting', 'bookkeeping', 'accountant'],
  ['receipt', 'invoice', 'bill'],
  ['wallet', 'pass', 'card'],
  ['customer', 'payer', 'buyer'],
  ['merchant', 'shop', 'store'],
  ['error', 'problem', 'trouble', 'troubleshooting'],
  ['upgrade', 'upgrading', 'update'],
  ['usdc', 'stablecoin', 'crypto'],
  ['law', 'legal', 'license', 'gdpr'],
  ['sandbox', 'testing'],
  ['discount', 'coupon'],
  ['device', 'hardware'],
  ['cursor', 'pagination'],
];
/** Words of whole sentences, which are on every page. */
const NOISE = new Set(
  'a an and are can do does for how i in is it my of on or the there to what with'.split(' '),
);
/** Shorter words would find too much with one letter changed. */
const FORGIVEN_LENGTH = 5;
const PREFIX_LENGTH = 2;
const PREFIX_WEIGHT = 0.4;
/** Guides answer more searches than the reference, whose sections are many and alike. */
const GUIDE_WEIGHT = 8;

/** Returns a word as the index has it: in lower case, and as singular; `null` for noise. */
function normalize(word) {
  const lower = word.toLowerCase();
  if (NOISE.has(lower)) return null;
  return lower.length > 3 ? lower.replace(/(?<=x|ch|sh|ss)es$|(?<=[^su])s$/, '') : lower;
}

/** Returns the word with each two neighboring letters exchanged, which is one typing error. */
function swaps(word) {
  return Array.from(
    { length: word.length - 1 },
    (_, at) => word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2),
  );
}

/** Returns the pairs of words that make this word together. */
function splits(word) {
  return Array.from({ length: word.length - 1 }, (_, at) => ({
    combineWith: 'AND',
    queries: [word.slice(0, at + 1), word.slice(at + 1)],
  }));
}

/** Returns the query for one word: itself, what begins with it, and its synonyms. */
function queryOf(word) {
  const own = {
    queries: [word],
    prefix: word.length >= PREFIX_LENGTH,
    weights: { fuzzy: 0, prefix: PREFIX_WEIGHT },
  };
  const synonyms = SYNONYMS.filter((group) => group.includes(word)).flat();
  return { combineWith: 'OR', queries: [own, ...synonyms] };
}

/**
 * Returns a function that finds the sections for a text, the best one of each page, best first. If
 * no section has all words, those with most of them count.
 * @param MiniSearch the library
 * @param index `pages` are `[name, title, isGuide]`, `sections` are `[page, anchor, title, text]`
 */
export function createFinder(MiniSearch, { pages, sections }) {
  const mini = new MiniSearch({
    fields: ['title', 'page', 'text'],
    processTerm: normalize,
    searchOptions: {
      boost: { title: 4, page: 6 },
      boostDocument: (id) => (pages[sections[id][0]][2] ? GUIDE_WEIGHT : 1),
    },
  });
  mini.addAll(
    sections.map(([page, , title, text], id) => ({ id, title, page: pages[page][1], text })),
  );
  /** Returns a word of the site for one that no word of it begins with, or two that it joins. */
  const correct = (word) => {
    if (word.length < FORGIVEN_LENGTH || mini.search(word, { prefix: true }).length > 0)
      return word;
    for (const query of [{ queries: swaps(word) }, { queries: [word], fuzzy: 1 }]) {
      const [nearest] = mini.search({ combineWith: 'OR', ...query });
      if (nearest !== undefined) return nearest.terms[0];
    }
    const [parts] = mini.search({ combineWith: 'OR', queries: splits(word) });
    return parts?.terms ?? word;
  };
  const tokenize = MiniSearch.getDefault('tokenize');
  return (typed) => {
    const queries = tokenize(typed).map(normalize).filter(Boolean).flatMap(correct).map(queryOf);
    if (queries.length === 0) return [];
    const all = mini.search({ combineWith: 'AND', queries });
    const some = all.length > 0 ? all : mini.search({ combineWith: 'OR', queries });
    const best = new Map();
    for (const { id } of some) {
      const [page, anchor, title, text] = sections[id];
      const [name, pageTitle] = pages[page];
      const href = `/docs/${name}${anchor === '' ? '' : `#${anchor}`}`;
      if (!best.has(page)) best.set(page, { href, page: pageTitle, title, text });
    }
    return [...best.values()];
  };
}
