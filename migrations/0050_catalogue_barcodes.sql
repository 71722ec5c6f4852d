-- Items of the catalog have barcodes, by which a file of items and a scan find them.

alter table catalogue_items add column barcode text check (length(barcode) between 1 and 60);

create unique index catalogue_items_barcode on catalogue_items (account_id, livemode, barcode)
  where barcode is not null;
