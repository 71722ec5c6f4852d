/** A sheet closes when it is pulled this far, or fast enough. */
const FAR_PX = 96;
const FAST_PX_PER_MS = 0.6;

/** True if the sheet closes when the finger lets go. */
export function isPulledAway(pull: { readonly px: number; readonly ms: number }): boolean {
  if (pull.px >= FAR_PX) return true;
  return pull.px > FAR_PX / 4 && pull.px / Math.max(pull.ms, 1) >= FAST_PX_PER_MS;
}
