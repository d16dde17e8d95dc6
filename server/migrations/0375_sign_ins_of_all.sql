-- SESSION-20: lists the sign-ins of all accounts, newest first.
drop index audit_events_signed_in;
create index audit_events_signed_in on audit_events (subject_user_ref, occurred_at desc, id desc)
  where event = 'auth.signed_in';
create index audit_events_newest_sign_ins on audit_events (occurred_at desc, id desc) where event = 'auth.signed_in';
create index failed_sign_ins_newest on failed_sign_ins (at desc, id desc);
