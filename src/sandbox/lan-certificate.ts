import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { DAY_MS } from '#core/durations.ts';

/** Validity of a certificate. Each start creates a new one. */
const VALID_DAYS = 30;
/**
 * Certificates are valid from a day before their creation, so that phones with slow clocks accept
 * them.
 */
const EARLIER_MS = DAY_MS;
const NAME = 'Tapline sandbox';

interface CertificateOptions {
  readonly now?: number;
  readonly validDays?: number;
  readonly name?: string;
}

export interface LanCertificate {
  /** PEM, the format of node:https. */
  readonly key: string;
  readonly cert: string;
  /** SHA-256 of the certificate, as browsers show it: `AB:CD:…`. */
  readonly fingerprint: string;
}

/** One element of DER (X.690): tag, length, and contents. */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size =
    length < 128
      ? Buffer.from([length])
      : length < 256
        ? Buffer.from([0x81, length])
        : Buffer.from([0x82, length >> 8, length & 0xff]);
  return Buffer.concat([Buffer.from([tag]), size, content]);
}

const sequence = (...contents: readonly Buffer[]) => der(0x30, ...contents);
const text = (tag: number, value: string) => der(tag, Buffer.from(value));

/** Object identifiers in DER encoding. */
const OID = {
  ecdsaWithSha256: '2a8648ce3d040302',
  commonName: '550403',
  subjectAltName: '551d11',
  extendedKeyUsage: '551d25',
  serverAuth: '2b06010505070301',
} as const;
const oid = (name: keyof typeof OID) => der(0x06, Buffer.from(OID[name], 'hex'));

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\D/g, '').slice(2, 14);
  return text(0x17, `${digits}Z`);
}

function extension(name: keyof typeof OID, value: Buffer): Buffer {
  return sequence(oid(name), der(0x04, value));
}

function nameOf(host: string): Buffer {
  return isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : text(0x82, host);
}

/** Returns the part of the certificate that is signed: version 3, not a certificate authority. */
function body(
  hosts: readonly string[],
  publicKey: Buffer,
  { now = Date.now(), validDays = VALID_DAYS, name: commonName = NAME }: CertificateOptions,
): Buffer {
  const name = sequence(der(0x31, sequence(oid('commonName'), text(0x0c, commonName))));
  const serial = Buffer.concat([Buffer.from([0x01]), randomBytes(15)]);
  return sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    sequence(oid('ecdsaWithSha256')),
    name,
    sequence(time(now - EARLIER_MS), time(now + validDays * DAY_MS)),
    name,
    publicKey,
    der(
      0xa3,
      sequence(
        extension('subjectAltName', sequence(...hosts.map(nameOf))),
        extension('extendedKeyUsage', sequence(oid('serverAuth'))),
      ),
    ),
  );
}

/**
 * Creates a self-signed certificate, because browsers allow camera, NFC and WebCrypto only over
 * https. Implemented here, because Node cannot create certificates, and not every machine has
 * `openssl`.
 */
export function makeCertificate(
  hosts: readonly string[],
  options: CertificateOptions = {},
): LanCertificate {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signed = body(hosts, pair.publicKey.export({ type: 'spki', format: 'der' }), options);
  const signature = sign('sha256', signed, pair.privateKey);
  const bits = der(0x03, Buffer.from([0]), signature);
  const whole = sequence(signed, sequence(oid('ecdsaWithSha256')), bits);
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  const digest = createHash('sha256').update(whole).digest('hex').toUpperCase();
  return {
    key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    fingerprint: (digest.match(/../g) ?? []).join(':'),
  };
}
