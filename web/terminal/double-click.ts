/**
 * Swallows the second click of a double click if the first one replaced the screen. Otherwise it
 * would land on whatever is now at that place: a double click on `New payment` opened the catalog.
 * Clicks on a control that stays, such as a key, all count.
 */
export function ignoreSecondClicks(signal: AbortSignal): void {
  let first: EventTarget | null = null;
  const onClick = (event: MouseEvent) => {
    if (event.detail > 1 && first instanceof Node && !first.isConnected) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    first = event.target;
  };
  window.addEventListener('click', onClick, { capture: true, signal });
}
