/** Matches text that mail programs may turn into a link. */
const LINK_LIKE = /[/\\@]|:\S|\w\.\p{L}{2}/u;

/**
 * The account's name in a mail. It may have been chosen to smuggle a message, so it appears in
 * quotes, only in the text, and not at all if it could become a link.
 */
export function accountInMail(name: string): string {
  return LINK_LIKE.test(name) ? 'an account' : `the account “${name}”`;
}
