/** Something that the request needs, and that is not there now: nothing was done. */
export class Unavailable extends Error {
  override name = 'Unavailable';
}
