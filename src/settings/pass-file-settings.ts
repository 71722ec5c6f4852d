import { StartError } from '#core/start-error.ts';

/** The settings for issuing Apple passes. Files are PEM. */
export interface AppleSettings {
  readonly passType: string;
  readonly team: string;
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly wwdrFile: string;
  /**
   * The public key from the NFC certificate; `null` for passes without NFC. A pass with NFC but
   * without the certificate would not open.
   */
  readonly nfcPublicKey: string | null;
}

export interface GoogleSettings {
  readonly issuer: string;
  /** The JSON file of a service account. */
  readonly credentialsFile: string;
}

export interface PassFileSettings {
  readonly apple: AppleSettings | null;
  readonly google: GoogleSettings | null;
}

const APPLE_SETTINGS = [
  'APPLE_PASS_TYPE',
  'APPLE_TEAM',
  'APPLE_PASS_CERTIFICATE',
  'APPLE_PASS_KEY',
  'APPLE_WWDR_CERTIFICATE',
] as const;

const GOOGLE_SETTINGS = ['GOOGLE_WALLET_ISSUER', 'GOOGLE_WALLET_CREDENTIALS'] as const;

type PassFileSetting =
  | (typeof APPLE_SETTINGS)[number]
  | (typeof GOOGLE_SETTINGS)[number]
  | 'APPLE_NFC_PUBLIC_KEY';

type Read = (name: PassFileSetting) => string | null;

/** Reads a group of settings, which must be set together or not at all. */
function group<Name extends PassFileSetting>(
  names: readonly Name[],
  read: Read,
): Record<Name, string> | null {
  const values = names.map((name) => [name, read(name)] as const);
  const missing = values.filter(([, value]) => value === null).map(([name]) => name);
  if (missing.length === names.length) return null;
  if (missing.length > 0) {
    const given = names.find((name) => !missing.includes(name));
    throw new StartError(`${given} needs ${missing.join(', ')}: see docs/configure.md`);
  }
  return Object.fromEntries(values) as Record<Name, string>;
}

/**
 * Reads the settings of phone passes; {@link loadPassFiles} reads the files.
 * @throws StartError if a group is set only in part.
 */
export function readPassFileSettings(read: Read): PassFileSettings {
  const apple = group(APPLE_SETTINGS, read);
  const google = group(GOOGLE_SETTINGS, read);
  const nfcPublicKey = read('APPLE_NFC_PUBLIC_KEY');
  if (nfcPublicKey !== null && apple === null) {
    throw new StartError(`APPLE_NFC_PUBLIC_KEY needs ${APPLE_SETTINGS.join(', ')}`);
  }
  return {
    apple: apple && {
      passType: apple.APPLE_PASS_TYPE,
      team: apple.APPLE_TEAM,
      certificateFile: apple.APPLE_PASS_CERTIFICATE,
      keyFile: apple.APPLE_PASS_KEY,
      wwdrFile: apple.APPLE_WWDR_CERTIFICATE,
      nfcPublicKey,
    },
    google: google && {
      issuer: google.GOOGLE_WALLET_ISSUER,
      credentialsFile: google.GOOGLE_WALLET_CREDENTIALS,
    },
  };
}
