/** What the browser says when the person closed its dialog, or took too long. */
function isCalledOff(error: unknown): boolean {
  return error instanceof DOMException && ['NotAllowedError', 'AbortError'].includes(error.name);
}

/** Addresses of numbers have no passkeys: a browser ties them to a name. */
export function hasName(): boolean {
  return !/^[\d.]+$|^\[/.test(location.hostname);
}

export function canUsePasskeys(): boolean {
  return typeof PublicKeyCredential !== 'undefined' && hasName();
}

/**
 * Where this machine's own pages have passkeys. `null` at any address but its numbers, and in a
 * browser that has no passkeys anywhere.
 */
export function addressWithPasskeys(): string | null {
  const { hostname, protocol, port } = location;
  if (typeof PublicKeyCredential === 'undefined') return null;
  if (!/^127\.|^\[::1\]$/.test(hostname)) return null;
  return `${protocol}//localhost${port === '' ? '' : `:${port}`}`;
}

type Json = Readonly<Record<string, unknown>>;

/** @returns null: the person called it off. */
async function ask(credential: Promise<Credential | null>): Promise<Json | null> {
  try {
    const found = await credential;
    return found instanceof PublicKeyCredential ? ({ ...found.toJSON() } as Json) : null;
  } catch (error) {
    if (isCalledOff(error)) return null;
    throw error;
  }
}

/** Signs with a passkey of this device. `options`: as the service sent them. */
export function signWithPasskey(options: Json): Promise<Json | null> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  return ask(navigator.credentials.get({ publicKey }));
}

/** Makes a passkey on this device. */
export function createPasskey(options: Json): Promise<Json | null> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  return ask(navigator.credentials.create({ publicKey }));
}
