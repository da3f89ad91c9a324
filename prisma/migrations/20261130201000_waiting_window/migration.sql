-- A waiting window (setting limits.debounceMs) is one window for all lines of one person on one route: a further line moves the waiting ones to its own
-- due time, so that they are taken together; after half a minute of lines without a pause they go as they are. Mail that is due at once is never moved.
create function parley_join_window() returns trigger language plpgsql as $$
begin
  update "Mail" set "dueAt" = new."dueAt"
    where "sessionId" = new."sessionId" and "authorId" = new."authorId" and "route" = new."route"
      and "state" = 'due' and "dueAt" > now() and "createdAt" > now() - interval '30 seconds';
  return new;
end $$;

create trigger parley_mail_window before insert on "Mail"
  for each row when (new."state" = 'due' and new."dueAt" > now() and new."authorId" is not null)
  execute function parley_join_window();
