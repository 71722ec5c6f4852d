/** A dependency of the request is unavailable; nothing was done. */
export class Unavailable extends Error {
  override name = 'Unavailable';
}
