/**
 * Resolves a path against the `<base>` that the server writes into each page, so the apps work
 * below any path prefix. Links of the apps have no leading slash (`dashboard/payments`).
 */
export function fromRoot(path: string): URL {
  return new URL(path, document.baseURI);
}

/** Returns the path prefix under which the service is mounted: empty, or for example `/prefix`. */
export function rootPath(): string {
  return fromRoot('.').pathname.replace(/\/$/, '');
}
