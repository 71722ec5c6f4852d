import { type Answer, createApi } from '../data/api.ts';
import type { Tag, TagOutcome, TagVisit } from '../data/types/pay.ts';
import { numberOf, type PayApi, type Signed } from '../pay/pay-link.ts';

const api = createApi({ root: 'api/pay/v1' });

function pathOf(token: string): string {
  return `/tags/${encodeURIComponent(token)}`;
}

/** `sessionStorage` key, so that the order is still shown after a reload of this tab. */
const STAY = 'tag-visit ';

/** Returns the visit that the tag's chip proved in this tab. */
function visitAt(token: string): string | undefined {
  try {
    return sessionStorage.getItem(STAY + token) ?? undefined;
  } catch {
    return undefined;
  }
}

/**
 * A tag with a chip appends a one-time message to its URL, which is verified and then removed from
 * the address bar. If the check fails, the page continues like that of a plain tag.
 */
export async function showTag(token: string): Promise<void> {
  const { search, pathname } = location;
  const said = new URLSearchParams(search);
  if (!said.has('p')) return;
  const language = said.get('lang');
  history.replaceState(null, '', language === null ? pathname : `${pathname}?lang=${language}`);
  const body = { picc_data: said.get('p'), cmac: said.get('c') };
  const answer = await api<TagVisit>({ method: 'POST', path: `${pathOf(token)}/visits`, body });
  if (answer.is !== 'done' || answer.value.visit === null) return;
  try {
    sessionStorage.setItem(STAY + token, answer.value.visit);
  } catch {
    // Without storage the page shows only the shop and the amount.
  }
}

/** Waits until the till requests a payment or this many seconds have passed. */
export function awaitPayment(
  token: string,
  { wait, signal }: { readonly wait: number; readonly signal: AbortSignal },
): Promise<Answer<Tag>> {
  return api({ path: pathOf(token), query: { wait, visit: visitAt(token) }, signal });
}

interface Kept {
  readonly token: string;
  readonly reference: string;
  readonly from: Signed['from'];
  readonly signature: Signed['signature'];
  /** Atoms. */
  readonly tip: string | null;
}

/**
 * `sessionStorage` key of a sent signature, so that this tab still gets the response after a
 * reload.
 */
const KEPT = 'tag-sent';

function readKept(): Kept | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) ?? 'null') as Kept | null;
  } catch {
    return null;
  }
}

/**
 * Returns the payment at this tag for which this tab has sent a signature without receiving a
 * response, or `null`.
 */
export function sentAt(token: string): string | null {
  const kept = readKept();
  return kept?.token === token ? kept.reference : null;
}

function keep(kept: Kept | null): void {
  try {
    if (kept === null) sessionStorage.removeItem(KEPT);
    else sessionStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    // Paying also works without storage.
  }
}

export function tagApi(token: string, reference: string): PayApi {
  return {
    read: async ({ from, tip } = {}) => {
      const visit = visitAt(token);
      const query = { payment: reference, visit, from, tip_amount: numberOf(tip) };
      const answer = await api<Tag>({ path: pathOf(token), query });
      if (answer.is !== 'done') return answer;
      const { payment } = answer.value;
      return payment === null ? { is: 'unknown' } : { ...answer, value: payment };
    },
    pay: async ({ tip, from, signature }) => {
      keep({ token, reference, from, signature, tip: tip === null ? null : String(tip) });
      const body = { payment: reference, from, signature, tip_amount: numberOf(tip) };
      const path = `${pathOf(token)}/authorization`;
      const answer = await api<TagOutcome>({ method: 'POST', path, body });
      // Only the signer gets the receipt, so poll with the signature until the receipt is known.
      if (answer.is === 'done' && answer.value.status === 'processing') return { is: 'unknown' };
      if (answer.is === 'done' || answer.is === 'refused') keep(null);
      return answer;
    },
    sent: () => {
      const kept = readKept();
      if (kept?.token !== token || kept.reference !== reference) return null;
      const { from, signature, tip } = kept;
      return { from, signature, tip: tip === null ? null : BigInt(tip) };
    },
  };
}
