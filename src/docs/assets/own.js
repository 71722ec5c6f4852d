// Fills the examples with the signed-in reader's account, till and address. Loaded by site.js.

const ACCOUNT = 'tapline dashboard account';

async function read(path) {
  const answer = await fetch(`/api/dashboard/v1${path}`);
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  return answer.json();
}

/**
 * Fetches the values that are not secret: the account, its first till, and the names of its keys.
 */
async function readOwn() {
  const { accounts, status } = await read('/session');
  if (status !== 'signed_in') return null;
  const chosen = localStorage.getItem(ACCOUNT);
  const account = accounts.find(({ id }) => id === chosen) ?? accounts[0];
  if (account === undefined) return null;
  const place = `/accounts/${account.id}/test`;
  const [tills, keys] = await Promise.all([
    read(`${place}/terminals?limit=1`),
    // Not every role may see keys.
    read(`${place}/api_keys`).catch(() => ({ data: [] })),
  ]);
  return {
    account,
    terminal: tills.data[0]?.id ?? null,
    key: keys.data.find((one) => one.status === 'active') ?? null,
  };
}

/** Replaces the placeholders in a piece of code. The secret key stays a variable. */
function fillText(text, { account, terminal }) {
  const filled = text
    .replaceAll('$TAPLINE_BASE_URL', `${location.origin}/api`)
    .replaceAll(/\bacct_(?:…|[0-9A-Za-z]{22}\b)/g, account.id);
  return terminal === null ? filled : filled.replaceAll(/\btml_(?:…|[0-9A-Za-z]{22}\b)/g, terminal);
}

function fillCode(own) {
  for (const code of document.querySelectorAll('main pre code')) {
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const filled = fillText(node.data, own);
      if (filled !== node.data) node.data = filled;
    }
  }
}

function linkTo(path, words) {
  const anchor = document.createElement('a');
  anchor.href = path;
  anchor.textContent = words;
  return anchor;
}

/** Creates the note that names the account in the examples and links to its API keys. */
function noteOf({ account, key }) {
  const note = document.createElement('p');
  note.className = 'own';
  const name = document.createElement('strong');
  name.textContent = account.name;
  note.append('The examples are filled in for ', name, ', in test mode. ');
  if (key === null) {
    note.append('Set TAPLINE_API_KEY to a secret key: ');
    note.append(linkTo('/dashboard/api-keys', 'create one'), '.');
  } else {
    note.append(
      'Set TAPLINE_API_KEY to the secret of ',
      linkTo(`/dashboard/api-keys/${key.id}`, key.name),
    );
    note.append(' or of another key. A secret is shown only once, when its key is created.');
  }
  return note;
}

export async function fillIn() {
  const own = await readOwn();
  if (own === null) return;
  fillCode(own);
  document.querySelector('main .twin')?.after(noteOf(own));
}
