/** Pulled so far, or so fast, a sheet goes away. */
const FAR_PX = 96;
const FAST_PX_PER_MS = 0.6;

/** Whether a sheet that was let go closes. */
export function isPulledAway(pull: { readonly px: number; readonly ms: number }): boolean {
  if (pull.px >= FAR_PX) return true;
  return pull.px > FAR_PX / 4 && pull.px / Math.max(pull.ms, 1) >= FAST_PX_PER_MS;
}
