/** Thrown when a dependency of the request is unavailable and nothing was done. */
export class Unavailable extends Error {
  override name = 'Unavailable';
}
