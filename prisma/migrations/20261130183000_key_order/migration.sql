-- Keys are ordered by code point, whatever the database's own collation; the primary key's index then serves prefixes and ranges.
alter table "KeyValue" alter column "key" type text collate "C";
