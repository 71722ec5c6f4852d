/** What people call a page, or what they come to it for, beside its name. */
export const PAGE_WORDS: Readonly<Record<string, string>> = {
  Overview: 'home figures chart statistics sales start',
  Payments: 'sales orders customers export csv accountant',
  Intents: 'declined open asked canceled unpaid',
  Refunds: 'give money back return',
  Balance: 'withdraw withdrawal payout money wallet settlement export day report',
  Terminals: 'tills devices pair tag sticker table card nfc reader',
  'API keys': 'secret token developer scopes',
  Webhooks: 'endpoints deliveries callback signature',
  Events: 'history feed',
  'Request log': 'calls errors api developer requests',
  Team: 'people invite colleague roles staff manager code',
  Settings: 'password passkey second factor time zone account name logo color brand',
  Verification: 'kyb kyc documents business company go live',
  'Risk rules': 'limits fraud decline block',
  'Audit log': 'changes who history',
};

function wordsIn(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** The page that all typed words are about, its name before other words; null: there is none. */
export function pageFor<Page extends { readonly name: string }>(
  typed: string,
  pages: readonly Page[],
): Page | null {
  const asked = wordsIn(typed);
  if (asked.length === 0) return null;
  const fits = (text: string) => {
    const words = wordsIn(text);
    return asked.every((word) => words.some((one) => one.startsWith(word)));
  };
  const named = pages.find(({ name }) => fits(name));
  return named ?? pages.find(({ name }) => fits(`${name} ${PAGE_WORDS[name] ?? ''}`)) ?? null;
}
