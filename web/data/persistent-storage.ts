/**
 * Asks the browser to keep this site's storage when space runs short or, in Safari, after seven
 * days without a visit. If the browser refuses, the app still works.
 */
export async function askToLast(): Promise<void> {
  // The API is missing in old browsers and on pages without https.
  if (!('storage' in navigator) || !('persist' in navigator.storage)) return;
  await navigator.storage.persist().catch(() => false);
}
