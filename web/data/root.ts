/**
 * Where the service is, whatever path it stands below: the server writes it into each page as a
 * `<base>`. Links of the apps begin without a slash (`dashboard/payments`) and so start here.
 */
export function fromRoot(path: string): URL {
  return new URL(path, document.baseURI);
}

/** The part of each path that is not the service's own: empty, or `/prefix`. */
export function rootPath(): string {
  return fromRoot('.').pathname.replace(/\/$/, '');
}
