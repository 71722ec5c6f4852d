-- One plan serves all values of a list's filter (docs/decisions/plans.md), so it must count on many
-- of them. While a network had a single terminal, the plan for a second one would read the whole
-- account's list: as far as statistics told, the filter left nothing out.
alter table payment_intents alter column terminal_id set (n_distinct = 1000);
alter table payment_intents alter column source set (n_distinct = 2);
alter table payments alter column terminal_id set (n_distinct = 1000);
alter table refunds alter column status set (n_distinct = 3);
