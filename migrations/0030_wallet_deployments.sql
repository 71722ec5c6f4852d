-- Keys behind signers sign no deployments of payers' wallets. A payer who needs one is refused before
-- it is counted, if all live workers report such keys alone.

alter table relayer_workers add column deploys_wallets boolean not null default true;
