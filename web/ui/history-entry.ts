/** Returns a stable name for the current entry of the browser's history. */
export function entryName(): string {
  const state: unknown = history.state;
  if (typeof state === 'object' && state !== null && 'entry' in state) return String(state.entry);
  const name = crypto.randomUUID();
  history.replaceState({ ...(typeof state === 'object' ? state : null), entry: name }, '');
  return name;
}
