import { crc32, deflateSync } from 'node:zlib';
import type { AppleUpdates, ShownPass } from '#payers/pass-files.ts';

/** The certificate and the key that sign passes, both as PEM. */
export interface AppleSigner {
  readonly passType: string;
  readonly team: string;
  readonly certificate: string;
  readonly key: string;
  readonly wwdr: string;
  readonly nfcPublicKey: string | null;
}

const COLOR = [0x12, 0x3c, 0x2f] as const;
/** Apple's icon sizes in pixels, by file name suffix. */
const ICONS = { '': 29, '@2x': 58, '@3x': 87 } as const;

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}

/** Creates a square PNG in one color. Phones do not open a pass without an icon. */
function png(size: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  // Eight bits per channel and color type 2 (red, green and blue).
  header.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(3 * size, Buffer.from(COLOR))]);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.alloc(row.length * size, row))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const ICON_FILES = Object.fromEntries(
  Object.entries(ICONS).map(([suffix, size]) => [`icon${suffix}.png`, png(size)]),
);

/** Creates the `.pkpass` of a pass. @throws if the certificate and the key do not match. */
export async function makeApplePass(
  signer: AppleSigner,
  pass: ShownPass,
  updates: AppleUpdates | null,
): Promise<Buffer> {
  const { certificate, key, wwdr, passType, team, nfcPublicKey } = signer;
  // Loaded at first use: most processes make no passes, and loading took 5 % of the start-up time.
  const { PKPass } = await import('passkit-generator');
  const file = new PKPass(
    { ...ICON_FILES },
    { signerCert: certificate, signerKey: key, wwdr },
    {
      passTypeIdentifier: passType,
      teamIdentifier: team,
      organizationName: 'Tapline',
      description: 'Tapline pass',
      serialNumber: pass.id,
      backgroundColor: `rgb(${COLOR.join(', ')})`,
      foregroundColor: 'rgb(255, 255, 255)',
      labelColor: 'rgb(255, 255, 255)',
      ...(pass.isVoid ? { voided: true } : {}),
      ...(updates && { webServiceURL: updates.url, authenticationToken: updates.token }),
    },
  );
  file.type = 'generic';
  file.primaryFields.push({ key: 'name', label: 'Pass', value: pass.name });
  file.backFields.push({
    key: 'wallet',
    label: 'Wallet app',
    value: pass.walletUrl,
    attributedValue: `<a href="${pass.walletUrl}">${pass.walletUrl}</a>`,
  });
  if (nfcPublicKey !== null && pass.readerValue !== null && !pass.isVoid) {
    file.setNFC({ message: pass.readerValue, encryptionPublicKey: nfcPublicKey });
  }
  return file.getAsBuffer();
}
