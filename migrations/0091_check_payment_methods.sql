-- Apart from 0090, which keeps everybody out while it changes the table: this reads all of it.
alter table payments validate constraint payments_method_type_check;
alter table payments validate constraint payments_credential_type_check;
