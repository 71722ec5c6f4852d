/**
 * Asks the browser to keep this site's storage when space runs short or, in Safari, after seven
 * days without a visit. The app works without it if the browser refuses.
 */
export async function askToLast(): Promise<void> {
  // Missing in old browsers and on pages without https.
  if (!('storage' in navigator) || !('persist' in navigator.storage)) return;
  await navigator.storage.persist().catch(() => false);
}
