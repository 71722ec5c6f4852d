-- The member to whom an account's scheduled statements are mailed: the mails stop when the member
-- loses the role.

alter table accounts add column export_member text collate "C" references users (id);
