/**
 * Asks the browser not to forget what this site stores when room runs short, or (Safari) when the
 * site was not used for seven days. Where it cannot be asked, or says no, all goes on.
 */
export async function askToLast(): Promise<void> {
  // Old browsers, and pages that were opened without https, have none.
  if (!('storage' in navigator) || !('persist' in navigator.storage)) return;
  await navigator.storage.persist().catch(() => false);
}
