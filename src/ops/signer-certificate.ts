import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { StartError } from '#core/start-error.ts';
import { createFile } from '#files/replace-file.ts';
import { makeCertificate } from '#sandbox/lan-certificate.ts';

/** Validity in days: long, because after a renewal the copy of every caller must be replaced. */
const VALID_DAYS = 3_650;

async function readIfThere(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}

/**
 * Creates a signer's key and the certificate that its callers trust, unless both exist.
 * @throws StartError if only one exists, or they do not match.
 */
export async function keepSignerCertificate(
  files: { readonly key: string; readonly certificate: string },
  hosts: readonly string[],
): Promise<'made' | 'kept'> {
  const [key, certificate] = await Promise.all([
    readIfThere(files.key),
    readIfThere(files.certificate),
  ]);
  if (key === null && certificate === null) {
    const made = makeCertificate(hosts, { validDays: VALID_DAYS, name: 'Tapline signer' });
    await createFile(files.key, made.key);
    // The certificate is world-readable, because the signer's callers read it.
    await writeFile(files.certificate, made.cert, { flag: 'wx', mode: 0o644 });
    return 'made';
  }
  if (key === null || certificate === null) {
    const [there, missing] = key === null ? [certificate, files.key] : [key, files.certificate];
    const other = there === key ? files.key : files.certificate;
    throw new StartError(`${missing} is missing: remove ${other} to create both files again`);
  }
  const read = new X509Certificate(certificate);
  if (!read.checkPrivateKey(createPrivateKey(key))) {
    throw new StartError(`${files.key} is not the key of ${files.certificate}`);
  }
  const other = hosts.find((host) => read.checkHost(host) === undefined && !read.checkIP(host));
  if (other !== undefined)
    throw new StartError(`${files.certificate} is not valid for the host ${other}`);
  return 'kept';
}
