import '../ui/base.css';
import './front.css';
import { LANGUAGE_NAMES, languageTag } from '#i18n/languages.ts';
import { offeredLanguages, switchLanguage } from '../ui/text/switch-language.ts';
import { t, textLanguage } from '../ui/text/t.ts';
import { textNodes } from '../ui/text/text-nodes.ts';

/** Time for which the button shows "Copied". */
const COPIED_MS = 2_000;

type LoginApp = 'dashboard' | 'operator';

interface Login {
  readonly email: string;
  readonly password: string;
}

/** Links that only a sandbox returns, and only to browsers on the same machine. */
interface SandboxLinks {
  readonly terminal: string;
  readonly dashboard: Login;
  readonly operator: Login;
}

interface Readiness {
  readonly networks: Readonly<
    Record<string, { readonly settles: boolean; readonly reasons: readonly string[] }>
  >;
}

/** @returns `null` if the request fails; the page does not depend on the response. */
async function load<T>(path: string): Promise<T | null> {
  try {
    const response = await fetch(new URL(path, document.baseURI), { cache: 'no-store' });
    const isJson = response.headers.get('Content-Type')?.includes('json') === true;
    return isJson && response.status !== 404 ? await response.json() : null;
  } catch {
    return null;
  }
}

function copyButton(words: string, app: LoginApp, text: string): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  const of = document.createElement('span');
  of.className = 'unseen';
  of.textContent = ` ${t('front.copy_of', { app })}`;
  button.append(words, of);
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = t('front.copied');
    setTimeout(() => button.replaceChildren(words, of), COPIED_MS);
  });
  return button;
}

/** Offers to copy the login, so that no password is visible on screen. */
function offerLogin(app: LoginApp, { email, password }: Login): void {
  const address = document.createElement('code');
  address.translate = false;
  address.textContent = email;
  const copies = [
    copyButton(t('front.copy_email'), app, email),
    copyButton(t('front.copy_password'), app, password),
  ];
  document.getElementById(app)?.append(address, ...copies);
}

function wordsOf([network, { settles, reasons }]: [string, Readiness['networks'][string]]) {
  return settles
    ? t('front.settles', { network })
    : t('front.does_not_settle', { network, reasons: reasons.join(', ') });
}

/** Shows the language menu if the service has more than one language. */
function offerLanguages(): void {
  const element = document.getElementById('language');
  const offered = offeredLanguages();
  if (element === null || offered.length < 2) return;
  const label = document.createElement('label');
  const select = document.createElement('select');
  label.append(`${t('ui.language')} `, select);
  for (const language of offered) {
    const option = new Option(LANGUAGE_NAMES[language], language);
    option.lang = languageTag(language);
    option.translate = false;
    select.append(option);
  }
  select.value = textLanguage();
  select.addEventListener('change', () => switchLanguage(select.value));
  element.replaceChildren(label);
  element.hidden = false;
}

offerLanguages();
const [links, readiness] = await Promise.all([
  load<SandboxLinks>('sandbox-links'),
  load<Readiness>('readyz'),
]);
if (links !== null) {
  document.getElementById('terminal')?.setAttribute('href', links.terminal);
  offerLogin('dashboard', links.dashboard);
  offerLogin('operator', links.operator);
}
const said = document.getElementById('readiness');
if (readiness !== null && said !== null) {
  said.replaceChildren(...textNodes(Object.entries(readiness.networks).map(wordsOf).join('; ')));
}
