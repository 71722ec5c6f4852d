import { messagesOf, TEXT_KEYS } from '#i18n/catalog.ts';

/** Sets the page's texts, for tests without a page. Import this module before any other. */
globalThis.TEXTS = { language: 'en', messages: { ...messagesOf('en', TEXT_KEYS) }, more: null };
