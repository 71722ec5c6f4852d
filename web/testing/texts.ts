import { messagesOf, TEXT_KEYS } from '#texts/catalog.ts';

/** The texts that a page's own file brings, for tests without a page. Import it first. */
globalThis.TEXTS = { language: 'en', messages: { ...messagesOf('en', TEXT_KEYS) }, more: null };
