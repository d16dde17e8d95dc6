-- Files of a root above this id may be unstacked: the scan that added them has not finished (ROOT-17). Null if there are none.
alter table roots add column unstacked_from bigint;
