/** Matches text that mail programs may turn into a link. */
export const LINK_LIKE = /[/\\@]|:\S|\w\.\p{L}{2}/u;

/**
 * A name may have been chosen to smuggle in a message, so it appears only in quotes within the
 * text, and not at all if mail programs could turn it into a link.
 */
export function accountInMail(name: string): string {
  return LINK_LIKE.test(name) ? 'an account' : `the account “${name}”`;
}
