-- More of what one operator asks for and another agrees to: a business is verified, an account is
-- stopped or goes on, a business pays under another name, a colleague may change things.
alter table operator_proposals drop constraint operator_proposals_kind_check;
alter table operator_proposals add constraint operator_proposals_kind_check
  check (kind in ('block_payer', 'unblock_payer', 'pause', 'unpause', 'change_rates',
    'accept_foreign', 'refuse_foreign', 'approve_account', 'disable_account', 'enable_account',
    'rename_account', 'make_operator'));
