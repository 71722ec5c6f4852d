import '../ui/base.css';
import './front.css';

/** What a sandbox tells its own machine's browser, and nobody else. */
interface SandboxLinks {
  readonly terminal: string;
  readonly dashboard: { readonly email: string; readonly password: string };
  readonly operator: { readonly email: string; readonly password: string };
}

interface Readiness {
  readonly networks: Readonly<
    Record<string, { readonly settles: boolean; readonly reasons: readonly string[] }>
  >;
}

/** @returns null for anything but an answer: the page says all it has to say without. */
async function load<T>(path: string): Promise<T | null> {
  try {
    const response = await fetch(new URL(path, document.baseURI), { cache: 'no-store' });
    const isJson = response.headers.get('Content-Type')?.includes('json') === true;
    return isJson && response.status !== 404 ? await response.json() : null;
  } catch {
    return null;
  }
}

function say(id: string, text: string, isTranslated = true): void {
  const place = document.getElementById(id);
  if (place === null) return;
  place.textContent = text;
  place.translate = isTranslated;
}

function offerCopy(app: string, password: string): void {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy password';
  button.setAttribute('aria-label', `Copy password for the ${app}`);
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(password);
    button.textContent = 'Copied';
  });
  document.getElementById(app)?.after(' ', button);
}

function wordsOf([network, { settles, reasons }]: [string, Readiness['networks'][string]]) {
  return settles ? `${network} settles` : `${network} does not settle (${reasons.join(', ')})`;
}

const [links, readiness] = await Promise.all([
  load<SandboxLinks>('sandbox-links'),
  load<Readiness>('readyz'),
]);
if (links !== null) {
  document.getElementById('terminal')?.setAttribute('href', links.terminal);
  for (const app of ['dashboard', 'operator'] as const) {
    say(app, `${links[app].email} / ${links[app].password}`, false);
    offerCopy(app, links[app].password);
  }
}
if (readiness !== null)
  say('readiness', Object.entries(readiness.networks).map(wordsOf).join('; '));
