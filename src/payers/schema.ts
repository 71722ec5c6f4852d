import Type from 'typebox';
import {
  Amount,
  AtomsOut,
  commonFields,
  idOf,
  nullable,
  oneOf,
  Timestamp,
  text,
} from '#http/schema.ts';
import { AGENT_TOKEN_STATUSES } from '#payers/agent-token.ts';
import { AGENT_TOKEN_SECONDS } from '#payers/create-agent-token.ts';

const Currency = Type.Unsafe<'usdc'>({ type: 'string', const: 'usdc' });

export const ExpiresIn = Type.Integer({
  minimum: AGENT_TOKEN_SECONDS.min,
  maximum: AGENT_TOKEN_SECONDS.max,
  description: 'Seconds until the token expires: 60 to 86400.',
});

const agentTokenFields = {
  id: idOf('agtok_', 'agent token'),
  ...commonFields('agent_token'),
  account: idOf('acct_', 'account'),
  amount: Amount,
  currency: Currency,
  status: oneOf(AGENT_TOKEN_STATUSES, 'held: its intent is under way. spent: it has paid.'),
  payment_intent: nullable(idOf('pi_', 'payment intent')),
  expires_at: Timestamp,
  created: Timestamp,
};

export const AgentTokenSchema = Type.Object(agentTokenFields, { title: 'AgentToken' });

export const NewAgentTokenSchema = Type.Object(
  {
    ...agentTokenFields,
    agent_token: Type.String({ description: 'The token itself (agt_…). Shown this once.' }),
  },
  { title: 'NewAgentToken' },
);

const passFields = {
  id: idOf('pass_', 'pass'),
  ...commonFields('pass'),
  label: text(100, 'What the payer calls it.'),
  status: oneOf(['active', 'revoked'] as const, 'A revoked pass pays nothing.'),
  revoked_at: nullable(Timestamp),
  created: Timestamp,
};

export const PassSchema = Type.Object(passFields, { title: 'Pass' });

export const NewPassSchema = Type.Object(
  {
    ...passFields,
    nfc_id: Type.String({ description: 'What the chip says (nfc_…). Shown this once.' }),
  },
  { title: 'NewPass' },
);

export const PayerSchema = Type.Object(
  {
    id: idOf('pyr_', 'payer'),
    ...commonFields('payer'),
    address: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }),
    status: oneOf(['active', 'blocked'] as const, 'A blocked payer is declined everywhere.'),
    limit_per_payment: nullable(AtomsOut),
    limit_per_day: nullable(AtomsOut),
    confirm_first_payment: Type.Boolean({
      description: 'Whether each first payment at a merchant has to be confirmed.',
    }),
    created: Timestamp,
  },
  { title: 'Payer' },
);
