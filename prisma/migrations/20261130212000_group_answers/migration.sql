-- Answers of teammates in discussions (SPEC A1, G3), and a stop that reaches everything done for a discussion (SPEC T5) in one transaction.
-- Callers: src/engine/store/turns.ts, peers.ts and intake.ts.

-- As before, but a discussion that has ended may still count the answers its members had asked for; how it ended never changes.
create or replace function parley_move_discussion(move jsonb, entry_id text) returns void language plpgsql as $$
declare
  moves_to jsonb := move->'state';
begin
  if coalesce(jsonb_typeof(move), 'null') = 'null' then return; end if;
  if (move->>'revision')::int = 0 then
    insert into "Discussion" ("id", "channelId", "threadKey", "epoch", "current", "endReason", "state", "frame", "entryId", "waitingSince", "createdAt",
        "updatedAt")
      values (move->>'id', move->>'channelId', move->>'threadKey', (moves_to->>'epoch')::int, moves_to->>'current', moves_to->>'endReason', moves_to,
        move->'frame', entry_id, parley_now(), parley_now(), parley_now())
      on conflict ("threadKey") where "endReason" is null do nothing;
  else
    update "Discussion" set "revision" = "revision" + 1, "epoch" = (moves_to->>'epoch')::int, "current" = moves_to->>'current',
        "endReason" = moves_to->>'endReason', "state" = moves_to, "frame" = move->'frame', "entryId" = coalesce(entry_id, "entryId"),
        "waitingSince" = case when moves_to->>'current' is null then null when (move->>'restartsWait')::boolean then parley_now() else "waitingSince" end,
        "updatedAt" = parley_now()
      where "id" = move->>'id' and "revision" = (move->>'revision')::int and ("endReason" is null or "endReason" = moves_to->>'endReason');
  end if;
  if not found then raise exception 'Discussion % was moved by somebody else', move->>'id' using errcode = 'GR001'; end if;
  if (move->>'cancelsMail')::boolean then
    update "Mail" set "state" = 'cancelled'
      where "state" = 'due' and "body"->>'type' = 'discussion' and "body"->>'discussionId' = move->>'id'
        and "sessionId" in (select "id" from "Session" where "conversationKey" = move->>'threadKey');
  end if;
end $$;

-- As before; a bubble the platform did not take is given back to its discussion together with the result that says so, once.
create or replace function parley_commit_call(input jsonb) returns void language plpgsql as $$
declare
  thread_key text := input->'discussion'->>'threadKey';
begin
  if thread_key is not null then perform 1 from "Conversation" where "key" = thread_key for no key update; end if;
  perform parley_check_claim(input->'claim');
  update "ToolCall" set "state" = 'done', "result" = input->'result'
    where "turnId" = input->>'turnId' and "step" = (input->>'step')::int and "index" = (input->>'index')::int and "state" <> 'done';
  if found then perform parley_move_discussion(input->'discussion', null); end if;
  perform parley_move_progress(input->>'turnId', input->'progress');
end $$;

-- As before; a question from a discussion keeps a bubble there for its answer, and a turn that was stopped asks and answers nobody.
create or replace function parley_commit_peer(input jsonb) returns jsonb language plpgsql as $$
declare
  receiver jsonb := input->'to';
  asking "Session";
  target "Session";
  target_id text;
  written "Entry";
  heard "Entry";
  known jsonb;
  refusal text;
begin
  if receiver ? 'sessionId' then
    select * into asking from "Session" where "id" = receiver->>'sessionId';
    if asking."id" is null then return jsonb_build_object('status', 'refused', 'reason', 'gone'); end if;
    receiver := jsonb_build_object('botId', asking."botId", 'conversationKey', asking."conversationKey");
  end if;
  perform parley_open_both(input->'from', receiver);
  known := parley_known_result(input);
  if known is not null then return jsonb_build_object('status', 'done', 'result', known); end if;
  if exists (select from "Turn" where "id" = input->>'turnId' and "stopRequestedAt" is not null) then
    return jsonb_build_object('status', 'refused', 'reason', 'stopped');
  end if;
  if not exists (select from "Bot" where "id" = receiver->>'botId' and "retiredAt" is null) then
    return jsonb_build_object('status', 'refused', 'reason', 'gone');
  end if;
  refusal := parley_peer_refusal(input->'mail'->>'root', input->'from'->>'botId', receiver->>'botId', (input->>'hops')::int, input->'limits');
  if refusal is not null then return jsonb_build_object('status', 'refused', 'reason', refusal); end if;
  target_id := coalesce(asking."id", parley_open_session(receiver->>'botId', receiver->>'conversationKey', null));
  select * into target from "Session" where "id" = target_id;
  if (select count(*) from "Mail" where "sessionId" = target."id" and "state" = 'due') >= (input->'limits'->>'mailPerSession')::int then
    return jsonb_build_object('status', 'refused', 'reason', 'full');
  end if;
  perform parley_move_discussion(input->'discussion', null);
  written := parley_add_peer_entry(input->'from'->>'conversationKey', (input->'from'->>'personCount')::int, input, target."botId", input->>'turnId');
  heard := parley_add_peer_entry(target."conversationKey",
    (select "personCount" from "Conversation" where "key" = target."conversationKey"), input, target."botId", input->>'turnId');
  perform parley_add_peer_mail(target, heard."id", input->'from'->>'botId', input->'mail', input->>'audience', (input->>'hops')::int,
    coalesce((input->>'urgent')::boolean, false));
  known := jsonb_set(input->'result', '{text}', to_jsonb(replace(input->'result'->>'text', '{address}', written."address")));
  perform parley_close_call(input, known);
  perform parley_move_progress(input->>'turnId', input->'progress');
  return jsonb_build_object('status', 'queued', 'result', known, 'sessionId', target."id", 'botId', target."botId");
end $$;

-- ---- stop --------------------------------------------------------------------------------------------------------------------------

-- As before; no bubble is kept any longer for answers nobody will bring.
create or replace function parley_end_discussions(conversation_key text, about_entry text) returns text[] language plpgsql as $$
declare
  ended text[];
begin
  with stopped as (
    update "Discussion" set "revision" = "revision" + 1, "endReason" = 'stopped', "current" = null, "waitingSince" = null, "updatedAt" = parley_now(),
        "state" = "state" || jsonb_build_object('endReason', 'stopped', 'current', null, 'order', '[]'::jsonb, 'apart', '{}'::jsonb, 'asked', '{}'::jsonb)
      where "threadKey" = conversation_key and "endReason" is null and (about_entry is null or (
        "entryId" = about_entry and not exists (select from "Turn" t where t."discussionId" = "Discussion"."id" and t."epoch" = "Discussion"."epoch")))
      returning "id"
  )
  select coalesce(array_agg("id"), '{}') into ended from stopped;
  update "Mail" set "state" = 'cancelled'
    where "state" = 'due' and "body"->>'type' = 'discussion' and "body"->>'discussionId' = any (ended)
      and "sessionId" in (select "id" from "Session" where "conversationKey" = conversation_key);
  return ended;
end $$;

-- What teammates do for these sessions, and what is waiting between them: stopped and dropped where it serves the stopper.
drop function parley_stop_peers(jsonb);
create function parley_stop_peers(askers text[], stopper text, may_stop_others boolean, stop_at timestamptz) returns jsonb language plpgsql as $$
declare
  peers text[];
  stopped jsonb;
  cancelled int;
begin
  with recursive asked as (
    select s."id" from "Conversation" c join "Session" s on s."conversationKey" = c."key" where c."kind" = 'peer' and c."threadId" = any (askers)
    union
    select s."id" from asked a join "Conversation" c on c."kind" = 'peer' and c."threadId" = a."id" join "Session" s on s."conversationKey" = c."key"
  ) select array(select "id" from asked where "id" <> all (askers)) into peers;
  -- Locked in a fixed order, as those who write to these conversations do.
  perform 1 from "Conversation" where "key" in (select "conversationKey" from "Session" where "id" = any (peers)) order by "key" for no key update;
  with flagged as (
    update "Turn" t set "stopRequestedAt" = coalesce(t."stopRequestedAt", stop_at), "stoppedBy" = coalesce(t."stoppedBy", stopper)
      where t."sessionId" = any (peers) and t."status" in ('running', 'settling') and (may_stop_others or exists (
        select from "Mail" m where m."turnId" = t."id" and m."body"->'serves'->'personIds' ? stopper))
      returning t."sessionId"
  )
  select coalesce(jsonb_agg("sessionId"), '[]') into stopped from flagged;
  update "Mail" set "state" = 'cancelled', "body" = "body" || jsonb_build_object('stoppedBy', stopper)
    where "sessionId" = any (askers || peers) and "state" = 'due' and "kind" = 'bot' and "body"->>'type' = 'peer'
      and (may_stop_others or "body"->'serves'->'personIds' ? stopper);
  get diagnostics cancelled = row_count;
  return jsonb_build_object('sessionIds', stopped, 'cancelled', cancelled);
end $$;

-- As before, but in one transaction with the work of teammates. When a discussion ends, all turns of it and all that its members asked for end with it,
-- whichever bot was named. `sessionIds` are turns of this conversation, each of which says that it was stopped; `peerSessionIds` those of teammates.
create or replace function parley_request_stop(input jsonb) returns jsonb language plpgsql as $$
declare
  stopper text := input->'by'->>'id';
  may_stop_others boolean := (input->>'mayStopOthers')::boolean;
  stop_at timestamptz := parley_now();
  ended text[] := '{}';
  here text[];
  stopped jsonb;
  peers jsonb;
  untouched int;
  cancelled int;
begin
  perform 1 from "Conversation" where "key" = input->>'conversationKey' for no key update;
  if not parley_mark_stored(input->>'dedupeKey') then
    return jsonb_build_object('sessionIds', '[]'::jsonb, 'peerSessionIds', '[]'::jsonb, 'cancelled', 0, 'refused', false, 'duplicate', true);
  end if;
  if may_stop_others or exists (
    select from "Discussion" d, jsonb_array_elements(d."frame"->'persons') person
      where d."threadKey" = input->>'conversationKey' and d."endReason" is null and person->>'id' = stopper
  ) then
    ended := parley_end_discussions(input->>'conversationKey', null);
  end if;
  here := array(select "id" from "Session" where "conversationKey" = input->>'conversationKey'
    and (not input ? 'botIds' or "botId" in (select jsonb_array_elements_text(input->'botIds'))
      or exists (select from "Discussion" d, jsonb_array_elements(d."frame"->'roster') member
        where d."id" = any (ended) and member->>'botId' = "Session"."botId")));
  with flagged as (
    update "Turn" set "stopRequestedAt" = coalesce("stopRequestedAt", stop_at), "stoppedBy" = coalesce("stoppedBy", stopper)
      where "sessionId" = any (here) and "status" in ('running', 'settling')
        and (may_stop_others or "authority"->'personIds' ? stopper or "discussionId" = any (ended))
      returning "sessionId"
  )
  select coalesce(jsonb_agg("sessionId"), '[]') into stopped from flagged;
  select count(*) into untouched from "Turn"
    where "sessionId" = any (here) and "status" in ('running', 'settling') and "stopRequestedAt" is null;
  update "Mail" set "state" = 'cancelled', "body" = "body" || jsonb_build_object('stoppedBy', stopper)
    where "sessionId" = any (here) and "state" = 'due' and "authorId" = stopper;
  get diagnostics cancelled = row_count;
  peers := parley_stop_peers(here, stopper, may_stop_others, stop_at);
  cancelled := cancelled + cardinality(ended) + (peers->>'cancelled')::int;
  return jsonb_build_object('sessionIds', stopped, 'peerSessionIds', peers->'sessionIds', 'cancelled', cancelled,
    'refused', untouched > 0 and cancelled = 0 and jsonb_array_length(stopped) = 0 and jsonb_array_length(peers->'sessionIds') = 0);
end $$;

-- As before; several turns that one stop has ended say so once.
create or replace function parley_finish_turn(input jsonb) returns jsonb language plpgsql as $$
declare
  session_id text := input->'claim'->>'sessionId';
  thread_key text := input->'discussion'->>'threadKey';
  stopped_at timestamptz;
  host_card jsonb;
  follow_up jsonb;
begin
  if thread_key is not null then perform 1 from "Conversation" where "key" = thread_key for no key update; end if;
  for host_card in select value from jsonb_array_elements(coalesce(input->'hostCards', '[]')) order by value->>'conversationKey' loop
    perform parley_open_conversation(host_card->>'conversationKey', host_card->'place'->'ref');
  end loop;
  perform parley_check_claim(input->'claim');
  perform parley_move_discussion(input->'discussion', null);
  perform parley_add_nodes(session_id, input->'nodes', 0);
  update "Turn" set "status" = input->>'status', "outcome" = input->>'outcome', "endedAt" = parley_now() where "id" = input->>'turnId'
    returning "stopRequestedAt" into stopped_at;
  perform parley_move_progress(input->>'turnId', input->'progress');
  update "Mail" set "state" = 'done' where "turnId" = input->>'turnId' and "state" = 'taken';
  update "Mail" set "state" = 'cancelled'
    where "sessionId" = session_id and "state" = 'due' and "authorId" = input->>'cancelMailOf';
  for follow_up in select value from jsonb_array_elements(coalesce(input->'mail', '[]')) loop
    perform parley_add_mail(session_id, null, follow_up);
  end loop;
  for host_card in select value from jsonb_array_elements(coalesce(input->'hostCards', '[]')) loop
    if input->>'outcome' = 'stopped' and stopped_at is not null
      and not parley_mark_stored(format('stopped:%s:%s', host_card->>'conversationKey', extract(epoch from stopped_at))) then
      continue;
    end if;
    perform parley_say(host_card, input->>'turnId');
  end loop;
  update "Session" set "owner" = null, "leaseUntil" = null where "id" = session_id;
  return parley_wake_members(thread_key, input->'wake', parley_discussion_entry(input->'discussion'));
end $$;
