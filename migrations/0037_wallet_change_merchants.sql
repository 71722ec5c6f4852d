-- batched
-- Each change of a wallet names the merchant's number on its contract, so that no code needs a default.
-- Changes without a number take the one that the account has now, as readers did until here.

with part as (
  select id, account_id, livemode from wallet_changes
  where merchant_number is null and id > coalesce($1::text, '') order by id limit 1000
), filled as (
  update wallet_changes w set merchant_number = m.merchant_number
  from part p
  join account_modes m on m.account_id = p.account_id and m.livemode = p.livemode
  where w.id = p.id
)
select max(id) as cursor from part;
