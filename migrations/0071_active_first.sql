-- Payers see what still works first: see src/payer-app/active-first.ts. (The indexes over created
-- alone stay for the release before this one.)

create index passes_payer_listed on passes
  (payer_id, (revoked_at is null) desc, created desc, id desc);

create index agent_tokens_payer_listed on agent_tokens
  (payer_id, (revoked_at is null) desc, created desc, id desc);
