/** Set by the till when a reader on its computer was added (web/terminal/reader/usb.ts). */
const COOKIE = /(?:^|;\s*)tapline_reader_port=(\d{4,5})(?:;|$)/;
const PORTS = { least: 1024, most: 65_535 } as const;

/**
 * The port of the till's own computer that its page may ask, as a source of its policy; none where
 * nobody has added a reader. It is this computer only, so a wrong number helps no stranger.
 */
export function ownReaderOf(app: string, cookies: string | undefined): readonly string[] {
  if (app !== 'terminal') return [];
  const port = Number(COOKIE.exec(cookies ?? '')?.[1] ?? 0);
  return port >= PORTS.least && port <= PORTS.most ? [`ws://127.0.0.1:${port}`] : [];
}
