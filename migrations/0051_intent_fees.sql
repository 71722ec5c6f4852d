-- batched
-- An intent whose sale an earlier release settled gets the fees that its payment has, so that it shows the
-- customer's total in the shop's currency, as its payment does (src/payments/paid-quote.ts).
with batch as (
  select id, payment_intent_id, presentment, fee_acquirer + fee_protocol - fee_cashback as fees
  from payments where id > coalesce($1, '') order by id limit 1000
), filled as (
  update payment_intents i set attempt = i.attempt || jsonb_build_object('fees', b.fees::text)
  from batch b
  where i.id = b.payment_intent_id and b.presentment is not null and i.status = 'succeeded'
    and not i.attempt ? 'fees'
)
select max(id) as cursor from batch;
