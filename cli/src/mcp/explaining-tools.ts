import { nodeFetch } from 'tapline/node-fetch';
import {
  holds,
  inputs,
  listOf,
  MAYBE_TEXT,
  reads,
  TEXT,
  type Tool,
  type ToolDeps,
  YES_OR_NO,
} from './tool-definition.ts';

/** Advice by decline code. The network itself explains the code's meaning. */
const ADVICE: Readonly<Record<string, string>> = {
  pass_unknown:
    'This network does not know the pass. The customer must open the wallet app and tap again.',
  pass_revoked: 'The customer has revoked this pass and needs another one.',
  insufficient_funds: 'The wallet does not hold enough USDC for the amount and its fees.',
  approval_insufficient: 'The customer must raise the spending approval in the wallet app.',
  limit_exceeded: 'The amount is above a limit that the customer has set in the wallet app.',
  risk_blocked:
    'A rule of the merchant or the network refuses this payer. Use another means of payment.',
  payer_rejected: 'The customer rejected the payment in the app. Ask them before trying again.',
  confirmation_timeout: 'The customer did not answer within 60 seconds. They can tap again.',
  agent_token_unknown: 'The token is unknown. The agent needs a new one from its payer.',
  agent_token_expired: 'The token has expired. The agent needs a new one from its payer.',
  agent_token_used: 'The token was already used. The agent needs a new one from its payer.',
  agent_token_mismatch: 'The token is for another merchant or amount.',
  settlement_failed:
    'The payment did not settle on chain. Nothing was charged; the customer can tap again.',
};

async function explainDecline({ tapline }: ToolDeps, { payment_intent = '' }) {
  const intent = await tapline.paymentIntents.retrieve(payment_intent);
  const { status, last_payment_error: error } = intent;
  if (error === null) return { declined: false, status };
  const advice = ADVICE[error.decline_code] ?? 'Treat it as declined: nothing was charged.';
  return {
    declined: true,
    status,
    decline_code: error.decline_code,
    reason_code: error.reason_code,
    message: error.message,
    advice,
    may_try_again: status === 'requires_payment_method',
  };
}

interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
}

interface Document {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Passage {
  readonly where: string;
  readonly text: string;
}

/**
 * Maximum length of a returned section. The rest of a longer one, which is mostly a table, is cut
 * off.
 */
const PASSAGE_LENGTH = 2_000;
const PASSAGES = 5;

async function operations(webUrl: string): Promise<Passage[]> {
  const response = await nodeFetch(new URL('/openapi.json', webUrl));
  const { info, paths } = (await response.json()) as Document;
  return [
    ...info.description.split('\n\n').map((text) => ({ where: 'Introduction', text })),
    ...Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { summary = '', description = '' }]) => ({
        where: `${method.toUpperCase()} ${path}`,
        text: `${summary}. ${description}`,
      })),
    ),
  ];
}

/** Returns the sections of the guides that the network's `llms.txt` lists. */
async function guides(webUrl: string): Promise<Passage[]> {
  const index = await (await nodeFetch(new URL('/llms.txt', webUrl))).text();
  const paths = [...index.matchAll(/\/docs\/[\w-]+\.md/g)].map(([path]) => path);
  const pages = paths.map(async (path) => {
    const text = await (await nodeFetch(new URL(path, webUrl))).text();
    return text.split(/^(?=##? )/m).map((section) => {
      const heading = /^#+ (.*)/.exec(section)?.[1] ?? '';
      return { where: `${path}: ${heading}`, text: section.slice(0, PASSAGE_LENGTH) };
    });
  });
  return (await Promise.all(pages)).flat();
}

/**
 * Returns passages of the guides and the OpenAPI document. Those with the most search words come
 * first.
 */
async function searchDocs({ webUrl }: ToolDeps, { query = '' }) {
  const passages = [...(await guides(webUrl)), ...(await operations(webUrl))];
  const words = query.toLowerCase().match(/\w{3,}/g) ?? [];
  const scored = passages.map((passage) => {
    const text = `${passage.where} ${passage.text}`.toLowerCase();
    return { ...passage, score: words.filter((word) => text.includes(word)).length };
  });
  const matches = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  return { passages: matches.slice(0, PASSAGES).map(({ where, text }) => ({ where, text })) };
}

export const EXPLAINING_TOOLS: readonly Tool[] = [
  {
    name: 'explain_decline',
    description:
      'Explain why the last payment attempt of an intent was declined, and what to do about it.',
    inputSchema: inputs(
      { payment_intent: { type: 'string', description: 'pi_…', pattern: '^pi_[0-9A-Za-z]+$' } },
      ['payment_intent'],
    ),
    outputSchema: holds(
      {
        declined: YES_OR_NO,
        status: TEXT,
        decline_code: TEXT,
        reason_code: MAYBE_TEXT,
        message: MAYBE_TEXT,
        advice: TEXT,
        may_try_again: YES_OR_NO,
      },
      ['decline_code', 'reason_code', 'message', 'advice', 'may_try_again'],
    ),
    annotations: reads('Explain a decline'),
    run: explainDecline,
  },
  {
    name: 'search_docs',
    description: 'Search the guides and the API reference of this network.',
    inputSchema: inputs({ query: { type: 'string', description: 'A few words.' } }, ['query']),
    outputSchema: holds({ passages: listOf(holds({ where: TEXT, text: TEXT })) }),
    annotations: reads('Search the documentation'),
    run: searchDocs,
  },
];
