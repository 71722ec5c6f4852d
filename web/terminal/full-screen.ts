/** True if this browser can fill the screen with the page; iPhones cannot. */
export function hasFullScreen(): boolean {
  return document.fullscreenEnabled === true;
}

/**
 * Fills the screen. Must be called from a click. A page cannot keep people in it: Escape, or a
 * gesture of the system, always leaves.
 */
export function enterFullScreen(): void {
  document.documentElement.requestFullscreen().catch(() => {});
}
