/** True if the user closed the browser's dialog or let it time out. */
function isCalledOff(error: unknown): boolean {
  return error instanceof DOMException && ['NotAllowedError', 'AbortError'].includes(error.name);
}

/**
 * False if the page was opened at a numeric IP address, because browsers tie passkeys to a host
 * name.
 */
export function hasName(): boolean {
  return !/^[\d.]+$|^\[/.test(location.hostname);
}

export function canUsePasskeys(): boolean {
  return typeof PublicKeyCredential !== 'undefined' && hasName();
}

/**
 * Returns the `localhost` URL of this page, where passkeys work. `null` unless the page was opened
 * at a loopback IP address in a browser with passkeys.
 */
export function addressWithPasskeys(): string | null {
  const { hostname, protocol, port } = location;
  if (typeof PublicKeyCredential === 'undefined') return null;
  if (!/^127\.|^\[::1\]$/.test(hostname)) return null;
  return `${protocol}//localhost${port === '' ? '' : `:${port}`}`;
}

type Json = Readonly<Record<string, unknown>>;

/** Waits for the browser's dialog. @returns `null` if the user canceled. */
async function ask(credential: Promise<Credential | null>): Promise<Json | null> {
  try {
    const received = await credential;
    return received instanceof PublicKeyCredential ? ({ ...received.toJSON() } as Json) : null;
  } catch (error) {
    if (isCalledOff(error)) return null;
    throw error;
  }
}

/** Passes `options` to the browser unchanged. */
export function signWithPasskey(options: Json): Promise<Json | null> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  return ask(navigator.credentials.get({ publicKey }));
}

export function createPasskey(options: Json): Promise<Json | null> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  return ask(navigator.credentials.create({ publicKey }));
}
