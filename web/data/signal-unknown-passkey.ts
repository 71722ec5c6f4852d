/**
 * Tells the browser that a passkey of this site opens nothing any more, so that the device can take
 * it off its list. It names this one passkey only: a list of all accepted ones would remove those
 * of the owner's other devices.
 *
 * @param credentialId Base64, of either alphabet.
 */
export async function signalUnknownPasskey(credentialId: string): Promise<void> {
  const id = credentialId.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  try {
    const signal = { rpId: location.hostname, credentialId: id };
    await PublicKeyCredential.signalUnknownCredential?.(signal);
  } catch {
    // The passkey stays on the list; it opens nothing either way.
  }
}
