-- Transactions whose key another program keeps (src/settlement/signer.ts): nonce, call and offer are
-- decided and committed, and the signer is asked after that. Whoever has the lane asks again for
-- exactly this. The row goes when the signed bytes are stored as an attempt.
create table chain_unsigned (
  transaction_id bigint primary key references chain_transactions (id),
  noop boolean not null default false,
  max_fee_per_gas numeric(78) not null,
  max_priority_fee_per_gas numeric(78) not null,
  created timestamptz(3) not null
);
