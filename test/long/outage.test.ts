/** Tests an outage of many minutes at four tills; of an hour with `OUTAGE_MINUTES=60`. */
process.env.OUTAGE_MINUTES ??= '5';
// Imports the test by its URL, because its types need the DOM (web/tsconfig.tests.json).
await import(new URL('../../web/terminal/outage.browser.slow.test.ts', import.meta.url).href);
