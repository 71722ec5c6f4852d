import '../ui/base.css';
import './front.css';
import { LANGUAGE_NAMES, languageTag } from '#i18n/languages.ts';
import { offeredLanguages, switchLanguage } from '../ui/text/switch-language.ts';
import { t, textLanguage } from '../ui/text/t.ts';
import { textNodes } from '../ui/text/text-nodes.ts';

/** Time for which the button shows "Copied". */
const COPIED_MS = 2_000;
const REFRESH_MS = 5_000;
/** What waits for the demo sign-ins is shown after this time at the latest. */
const WAIT_MS = 1_000;

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

/** Per network (`src/app/front-status.ts`). */
type Status = Readonly<
  Record<
    string,
    {
      readonly settles: boolean;
      readonly reasons: readonly string[];
      readonly last_block_ms: number | null;
      readonly paid_ms: number | null;
    }
  >
>;

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
function loginOf(app: LoginApp, { email, password }: Login): HTMLLIElement {
  const name = document.createElement('strong');
  name.textContent = t(app === 'dashboard' ? 'front.dashboard.link' : 'front.operator.link');
  const address = document.createElement('code');
  address.translate = false;
  address.textContent = email;
  const copies = document.createElement('span');
  copies.className = 'front-copies';
  copies.append(
    address,
    copyButton(t('front.copy_email'), app, email),
    copyButton(t('front.copy_password'), app, password),
  );
  const row = document.createElement('li');
  row.append(name, copies);
  return row;
}

function offerDemo({ terminal, dashboard, operator }: SandboxLinks): void {
  for (const id of ['terminal', 'till'])
    document.getElementById(id)?.setAttribute('href', terminal);
  const logins = document.getElementById('logins');
  logins?.append(loginOf('dashboard', dashboard), loginOf('operator', operator));
  document.getElementById('demo')?.removeAttribute('hidden');
}

/** Returns seconds with one decimal. */
function secondsOf(ms: number): number {
  return Math.round(ms / 100) / 10;
}

function lineOf([network, status]: [string, Status[string]]): HTMLLIElement {
  const { settles, reasons, last_block_ms: block, paid_ms: paid } = status;
  const parts = [
    settles
      ? t('front.settles', { network })
      : t('front.does_not_settle', { network, reasons: reasons.join(', ') }),
    ...(block === null ? [] : [t('front.last_block', { seconds: secondsOf(block) })]),
    ...(paid === null ? [] : [t('front.paid_in', { seconds: secondsOf(paid) })]),
  ];
  const line = document.createElement('li');
  if (!settles) line.className = 'front-stopped';
  line.append(...textNodes(parts.join(' · ')));
  return line;
}

async function showStatus(): Promise<void> {
  const status = document.hidden ? null : await load<Status>('front-status');
  if (status !== null) {
    document.getElementById('status')?.replaceChildren(...Object.entries(status).map(lineOf));
  }
  setTimeout(showStatus, REFRESH_MS);
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
}

offerLanguages();
void showStatus();
const show = () => document.getElementById('rest')?.classList.add('front-ready');
setTimeout(show, WAIT_MS);
const links = await load<SandboxLinks>('sandbox-links');
if (links !== null) offerDemo(links);
show();
