-- Reads all payments, and so holds nobody up: in a transaction of its own.
alter table payments validate constraint payments_credential_type_check;
