-- After a reorganization the ledger follows the chain by itself. What an earlier release has left to
-- a person follows now: a payment that reconciliation has found in another place than the ledger
-- names, with the same money. Alarms that only told of it are done.
with moved as (
  update payments p set tx_hash = c.tx_hash, block_number = c.block_number,
    log_index = c.log_index, batch_number = c.batch_number
  from reconciliation_differences d
  join chain_payments c on c.livemode = d.livemode and c.number = d.subject::bigint
  where d.kind = 'payment_place_differs' and d.resolved_at is null
    and p.livemode = c.livemode and p.settlement_number = c.number
    and p.amount = c.amount and lower(p.payer_address) = lower(c.payer)
  returning p.payment_intent_id, p.tx_hash
)
update payment_intents i set tx_hash = m.tx_hash from moved m
where i.id = m.payment_intent_id and i.status = 'succeeded';

update chain_alarms set resolved_at = now() where kind = 'place_changed' and resolved_at is null;
