/** Looks like an address that mail programs make a link of. */
const LINK_LIKE = /[/\\@]|:\S|\w\.\p{L}{2}/u;

/**
 * How a mail calls an account. Its name was chosen by somebody who may want to send a message of
 * their own, so it stands in quotes, in the text only, and not at all when it could become a link.
 */
export function accountInMail(name: string): string {
  return LINK_LIKE.test(name) ? 'an account' : `the account “${name}”`;
}
