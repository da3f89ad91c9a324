-- Edits, deletions and stops (SPEC T5, T6). Caller: src/engine/store/intake.ts.

-- A person's message was edited or deleted (SPEC T6). Waiting mail is replaced under a new id, so that a worker which has read the old text
-- but not yet taken it is found out in parley_take_mail.
create function parley_amend(input jsonb) returns jsonb language plpgsql as $$
declare
  is_edit boolean := input->'mark'->>'kind' = 'edited';
  outcome text := 'marked';
  woken jsonb := '[]';
  target "Entry";
  affected "Mail";
begin
  perform 1 from "Conversation" where "key" = input->>'conversationKey' for no key update;
  if parley_is_taken(input->>'dedupeKey') then return jsonb_build_object('status', 'duplicate'); end if;
  select * into target from "Entry" where "conversationKey" = input->>'conversationKey' and "platformId" = input->>'platformId';
  if target."id" is null then return jsonb_build_object('status', 'unknown'); end if;
  perform parley_mark_stored(input->>'dedupeKey');
  -- Copies of edits may overtake each other; the newest stays, and nothing follows a deletion.
  if target."mark"->>'kind' = 'deleted' or (target."mark"->>'at')::timestamptz > (input->'mark'->>'at')::timestamptz then
    return jsonb_build_object('status', 'marked');
  end if;
  update "Entry" set "mark" = input->'mark' where "id" = target."id";
  update "Mail" set "body" = jsonb_set("body", '{amended}', input->'steering')
    where "entryId" = target."id" and "state" = 'cancelled' and "body" ? 'amended';
  for affected in
    update "Mail" set "state" = 'cancelled', "body" = "body" || jsonb_build_object('amended', input->>'steering')
      where "entryId" = target."id" and "state" = 'due' and "body"->>'type' in ('message', 'steering') returning *
  loop
    if affected."body"->>'type' = 'steering' then continue; end if;
    outcome := case when is_edit then 'replaced' else 'cancelled' end;
    if is_edit then perform parley_copy_mail(affected); end if;
  end loop;
  for affected in
    select m.* from "Mail" m join "Turn" t on t."id" = m."turnId"
      where m."entryId" = target."id" and m."state" = 'taken' and m."body"->>'type' = 'message' and t."status" in ('running', 'settling')
  loop
    outcome := 'steered';
    woken := woken || jsonb_build_array(parley_steer(affected, input->>'steering'));
  end loop;
  return jsonb_build_object('status', outcome, 'woken', woken);
end $$;

-- The same mail again under a new id, waiting in the old place.
create function parley_copy_mail(original "Mail") returns void language plpgsql as $$
begin
  insert into "Mail" ("id", "sessionId", "botId", "kind", "rank", "direct", "entryId", "authorId", "route", "body", "audience", "hops",
      "orderAt", "dueAt", "createdAt")
    values (gen_random_uuid()::text, original."sessionId", original."botId", original."kind", original."rank", original."direct",
      original."entryId", original."authorId", original."route", original."body" - 'amended', original."audience", original."hops",
      original."orderAt", original."dueAt", original."createdAt");
end $$;

-- Stop (SPEC T5): a durable flag on running turns the person may stop, and that person's waiting mail here is cancelled.
create function parley_request_stop(input jsonb) returns jsonb language plpgsql as $$
declare
  stopper text := input->'by'->>'id';
  may_stop_others boolean := (input->>'mayStopOthers')::boolean;
  here text[];
  stopped jsonb;
  untouched int;
  cancelled int;
begin
  perform 1 from "Conversation" where "key" = input->>'conversationKey' for no key update;
  if not parley_mark_stored(input->>'dedupeKey') then
    return jsonb_build_object('sessionIds', '[]'::jsonb, 'cancelled', 0, 'refused', false, 'duplicate', true);
  end if;
  here := array(select "id" from "Session" where "conversationKey" = input->>'conversationKey'
    and (not input ? 'botIds' or "botId" in (select jsonb_array_elements_text(input->'botIds'))));
  with flagged as (
    update "Turn" set "stopRequestedAt" = coalesce("stopRequestedAt", parley_now()), "stoppedBy" = coalesce("stoppedBy", stopper)
      where "sessionId" = any (here) and "status" in ('running', 'settling')
        and (may_stop_others or "authority"->'personIds' ? stopper)
      returning "sessionId"
  )
  select coalesce(jsonb_agg("sessionId"), '[]') into stopped from flagged;
  select count(*) into untouched from "Turn"
    where "sessionId" = any (here) and "status" in ('running', 'settling') and "stopRequestedAt" is null;
  update "Mail" set "state" = 'cancelled', "body" = "body" || jsonb_build_object('stoppedBy', stopper)
    where "sessionId" = any (here) and "state" = 'due' and "authorId" = stopper;
  get diagnostics cancelled = row_count;
  return jsonb_build_object('sessionIds', stopped, 'cancelled', cancelled,
    'refused', untouched > 0 and cancelled = 0 and jsonb_array_length(stopped) = 0);
end $$;
