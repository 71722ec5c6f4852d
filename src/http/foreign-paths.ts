/**
 * Paths of Stripe Terminal, which merchants who migrate from it still request, and their
 * replacements. docs/guides/coming-from.md has the same table, and a test compares the two.
 */
export const STRIPE_PATHS: readonly (readonly [string, string])[] = [
  [
    '/terminal/readers/{id}/process_payment_intent',
    'POST /v1/payment_intents with `terminal` shows the amount there at once',
  ],
  [
    '/terminal/readers/{id}/collect_payment_method',
    'POST /v1/payment_intents with `terminal` collects as soon as the customer taps',
  ],
  [
    '/terminal/readers/{id}/confirm_payment_intent',
    'the tap confirms what POST /v1/payment_intents requested',
  ],
  [
    '/terminal/readers/{id}/cancel_action',
    'POST /v1/payment_intents/{id}/cancel, or terminals.cancelCurrent() of the Node client',
  ],
  ['/terminal/readers/{id}/refund_payment', 'POST /v1/refunds with `payment`; no tap is needed'],
  [
    '/terminal/readers/{id}/set_reader_display',
    '`description` of POST /v1/payment_intents is shown while the terminal waits',
  ],
  ['/terminal/readers/{id}/process_setup_intent', 'nothing: no payment methods are stored'],
  ['/terminal/readers/{id}/collect_inputs', 'nothing: the terminal asks only for the payment'],
  [
    '/terminal/readers/{id}',
    'GET /v1/terminals/{id}; the dashboard changes and deactivates terminals',
  ],
  ['/terminal/readers', 'GET /v1/terminals; terminals are added in the dashboard'],
  ['/terminal/connection_tokens', 'a device key or a pairing code, from the dashboard'],
  ['/terminal/locations', 'nothing: locations are set up in the dashboard'],
  ['/terminal/configurations', 'nothing: terminals are set up in the dashboard'],
  [
    '/test_helpers/terminal/readers/{id}/present_payment_method',
    'POST /v1/test_helpers/terminals/{id}/tap',
  ],
  ['/payment_intents/{id}/capture', 'nothing: the tap charges the payer'],
  ['/customers', 'nothing: payers need no account with the merchant'],
  ['/checkout/sessions', 'POST /v1/payment_intents with `terminal`, where the customer pays'],
];

function fits(path: string, template: string): boolean {
  const [one, other] = [path.split('/'), template.split('/')];
  const isSame = (part: string, at: number) => part === '{id}' || part === one[at];
  // A template also fits the paths below it, which get the same hint.
  return one.length >= other.length && other.every(isSame);
}

/** Returns our replacement for a Stripe path, with full paths; `null` for any other path. */
export function insteadOf(path: string): string | null {
  const [, below] = /^\/api\/v1(\/.*?)\/?$/.exec(path) ?? [];
  if (below === undefined) return null;
  const instead = STRIPE_PATHS.find(([template]) => fits(below, template))?.[1] ?? null;
  return instead?.replaceAll(' /v1/', ' /api/v1/') ?? null;
}

/** Returns the hint for a path that does not exist; empty if it is no Stripe path. */
export function hintFor(path: string): string {
  const instead = insteadOf(path);
  return instead === null ? '' : ` That is a Stripe path; the equivalent here: ${instead}.`;
}
