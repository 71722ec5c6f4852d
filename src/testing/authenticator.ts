import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A security key in software. It creates passkeys and answers challenges as a browser would. */

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** Returns the head of a CBOR item: its major type, and its length or value. */
function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 0xff]);
}

const integer = (value: number) => (value < 0 ? head(1, -1 - value) : head(0, value));
const bytes = (value: Uint8Array) => Buffer.concat([head(2, value.length), value]);
const text = (value: string) => Buffer.concat([head(3, value.length), Buffer.from(value)]);
const map = (entries: readonly (readonly [Buffer, Buffer])[]) =>
  Buffer.concat([head(5, entries.length), ...entries.flat()]);

/** Returns the COSE_Key of an ES256 public key. */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  return map([
    [integer(1), integer(2)],
    [integer(3), integer(-7)],
    [integer(-1), integer(1)],
    [integer(-2), bytes(Buffer.from(x, 'base64url'))],
    [integer(-3), bytes(Buffer.from(y, 'base64url'))],
  ]);
}

export interface AuthenticatorOptions {
  readonly rpId: string;
  readonly origin: string;
}

export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #id = randomBytes(16);
  counter = 0;
  /** True if the user has unlocked the security key with a PIN or a fingerprint. */
  verified = true;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  #clientData(type: string, challenge: string): Buffer {
    const { origin } = this.#options;
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  }

  #authenticatorData(flags: number, rest: Uint8Array = Buffer.alloc(0)): Buffer {
    const fixed = Buffer.alloc(5);
    fixed[0] = flags | USER_PRESENT | (this.verified ? USER_VERIFIED : 0);
    fixed.writeUInt32BE(++this.counter, 1);
    return Buffer.concat([sha256(Buffer.from(this.#options.rpId)), fixed, rest]);
  }

  /** Returns the credential that `navigator.credentials.create` would return. */
  register(challenge: string): object {
    const idLength = Buffer.from([0, this.#id.length]);
    const aaguid = Buffer.alloc(16);
    const credential = Buffer.concat([aaguid, idLength, this.#id, coseKey(this.#keys.publicKey)]);
    const attestationObject = map([
      [text('fmt'), text('none')],
      [text('attStmt'), map([])],
      [text('authData'), bytes(this.#authenticatorData(HAS_CREDENTIAL, credential))],
    ]);
    return this.#answer({
      clientDataJSON: base64url(this.#clientData('webauthn.create', challenge)),
      attestationObject: base64url(attestationObject),
    });
  }

  /** Returns the credential that `navigator.credentials.get` would return. */
  use(challenge: string): object {
    const clientData = this.#clientData('webauthn.get', challenge);
    const authenticatorData = this.#authenticatorData(0);
    const signed = Buffer.concat([authenticatorData, sha256(clientData)]);
    return this.#answer({
      clientDataJSON: base64url(clientData),
      authenticatorData: base64url(authenticatorData),
      signature: base64url(sign('sha256', signed, this.#keys.privateKey)),
    });
  }

  #answer(response: Record<string, string>): object {
    const id = base64url(this.#id);
    return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} };
  }
}
