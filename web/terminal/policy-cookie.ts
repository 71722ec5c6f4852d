import { fromRoot } from '../data/root-path.ts';

/**
 * Cookies that the server reads. From the page's next load on, the till's CSP then also allows
 * connections to this reader or signer.
 */
type Name = 'tapline_reader_port' | 'tapline_signer';

const YEAR_S = 31_536_000;

export function setPolicyCookie(name: Name, value: string | null): void {
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  const life = value === null ? 'Max-Age=0' : `Max-Age=${YEAR_S}`;
  const { pathname } = fromRoot('terminal');
  const cookie = `${name}=${value ?? ''}; Path=${pathname}; SameSite=Strict; ${life}${secure}`;
  // The newer `cookieStore` is asynchronous, and missing on plain http.
  Object.assign(document, { cookie });
}

export function policyCookie(name: Name): string | null {
  const cookie = document.cookie.split('; ').find((one) => one.startsWith(`${name}=`));
  return cookie === undefined ? null : cookie.slice(name.length + 1);
}
