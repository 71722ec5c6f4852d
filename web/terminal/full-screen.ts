/** True if this browser can fill the screen with the page; iPhones cannot. */
export function hasFullScreen(): boolean {
  return document.fullscreenEnabled === true;
}

/**
 * Must be called from a click. A page cannot prevent people from leaving: Escape, or a system
 * gesture, always works.
 */
export function enterFullScreen(): void {
  document.documentElement.requestFullscreen().catch(() => {});
}
