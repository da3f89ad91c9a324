-- Bots writing to each other (SPEC A), bots made at run time, and leases on what only one process may do.
-- Callers: src/engine/store/peers.ts and leases.ts.

-- AlterTable
ALTER TABLE "Session" ADD COLUMN     "directory" TEXT;

-- CreateTable
CREATE TABLE "Lease" (
    "name" TEXT NOT NULL,
    "owner" TEXT NOT NULL,
    "leaseUntil" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Lease_pkey" PRIMARY KEY ("name")
);

-- ---- indexes -----------------------------------------------------------------------------------------------------------------------

-- Bubbles and messages between bots share their numbers.
drop index "Entry_bubble_stem_idx";
create index "Entry_said_stem_idx" on "Entry" ("conversationKey", (rtrim("address", '0123456789')), "seq") where "kind" in ('bubble', 'peer');
-- What two bots have written to each other lately.
create index "Mail_between_bots_idx" on "Mail" ("botId", "createdAt") where "kind" = 'bot';
-- Conversations that a session has begun with teammates.
create index "Conversation_peer_idx" on "Conversation" ("threadId") where "kind" = 'peer';

-- ---- addresses ---------------------------------------------------------------------------------------------------------------------

-- Next free address after person message n: t<n>s<k> for people, t<n>a<k> for a peer, tb… before any person message (SPEC M8).
create function parley_next_address(conversation_key text, person_count int, letter text) returns text language plpgsql as $$
declare
  stem text := case when person_count > 0 then 't' || person_count else 'tb' end || letter;
  last_number int;
begin
  select substring("address" from '[0-9]+$')::int into last_number from "Entry"
    where "conversationKey" = conversation_key and "kind" in ('bubble', 'peer') and rtrim("address", '0123456789') = stem
    order by "seq" desc limit 1;
  return stem || coalesce(last_number, 0) + 1;
end $$;

create or replace function parley_bubble_address(conversation_key text, person_count int, place_kind text) returns text language plpgsql as $$
begin
  return parley_next_address(conversation_key, person_count, case place_kind when 'peer' then 'a' else 's' end);
end $$;

-- ---- calls -------------------------------------------------------------------------------------------------------------------------

-- Locks the claim and tells the result of this call when it has one already: its effects must not happen again.
create function parley_known_result(input jsonb) returns jsonb language plpgsql as $$
declare
  known "ToolCall";
begin
  perform parley_check_claim(input->'claim');
  select * into known from "ToolCall"
    where "turnId" = input->>'turnId' and "step" = (input->>'step')::int and "index" = (input->>'index')::int;
  if not found then raise exception 'There is no call % of turn %', input->>'index', input->>'turnId' using errcode = 'no_data_found'; end if;
  return case when known."state" = 'done' then known."result" end;
end $$;

create function parley_close_call(input jsonb, call_result jsonb) returns void language plpgsql as $$
begin
  update "ToolCall" set "state" = 'done', "result" = call_result, "startedAt" = coalesce("startedAt", parley_now())
    where "turnId" = input->>'turnId' and "step" = (input->>'step')::int and "index" = (input->>'index')::int and "state" <> 'done';
end $$;

-- ---- messages between bots ---------------------------------------------------------------------------------------------------------

-- Why two bots may not go on now: too far from the last person, or too much between them in too short a time; null when they may.
-- Too much means a rest, so that a loop does not simply go on at the pace of the window.
create function parley_peer_refusal(root text, one text, other text, hops int, limits jsonb) returns text language plpgsql as $$
declare
  rest_key text := root || '|' || least(one, other) || '|' || greatest(one, other);
  window_start timestamptz := parley_now() - parley_ms((limits->>'pairWindowMs')::float8);
  so_far int;
begin
  if hops > (limits->>'maxHops')::int then return 'hops'; end if;
  if exists (select from "KeyValue" where "scope" = 'peer-rest' and "key" = rest_key and ("value"#>>'{}')::timestamptz > parley_now()) then
    return 'pair';
  end if;
  select count(*) into so_far from "Mail"
    where "kind" = 'bot' and "createdAt" > window_start and "body"->>'root' = root and "body"->>'direction' <> 'report'
      and (("botId" = one and "authorId" = other) or ("botId" = other and "authorId" = one));
  if so_far < (limits->>'pairTurns')::int then return null; end if;
  insert into "KeyValue" ("scope", "key", "value", "updatedAt")
    values ('peer-rest', rest_key, to_jsonb(parley_now() + parley_ms((limits->>'restMs')::float8)), parley_now())
    on conflict ("scope", "key") do update set "value" = excluded."value", "updatedAt" = excluded."updatedAt";
  return 'pair';
end $$;

-- One message between bots as one of the two transcripts shows it.
create function parley_add_peer_entry(conversation_key text, person_count int, message jsonb, to_bot text, of_turn text) returns "Entry" language plpgsql as $$
declare
  next_seq int;
  written "Entry";
begin
  update "Conversation" set "lastSeq" = "lastSeq" + 1, "updatedAt" = parley_now() where "key" = conversation_key returning "lastSeq" into next_seq;
  insert into "Entry" ("id", "conversationKey", "seq", "address", "at", "createdAt", "authorKind", "authorId", "authorName", "kind", "text",
      "body", "files", "botId", "turnId")
    values (gen_random_uuid()::text, conversation_key, next_seq, parley_next_address(conversation_key, person_count, 'a'), parley_now(), parley_now(),
      'bot', message->'from'->>'botId', message->'from'->>'botName', 'peer', message->>'text', jsonb_build_object('to', to_bot),
      coalesce(message->'files', '[]'), message->'from'->>'botId', of_turn)
    returning * into written;
  return written;
end $$;

-- Mail of rank bot. What is urgent stands before other bot and background work, never before people: the rank comes first.
create function parley_add_peer_mail(target "Session", entry_id text, author text, body jsonb, audience text, hops int, is_urgent boolean)
returns void language plpgsql as $$
begin
  insert into "Mail" ("id", "sessionId", "botId", "kind", "rank", "direct", "entryId", "authorId", "route", "body", "audience", "hops",
      "orderAt", "dueAt", "createdAt")
    select gen_random_uuid()::text, target."id", target."botId", 'bot', 1, is_urgent or c."kind" = 'direct', entry_id, author,
      target."conversationKey" || '|' || coalesce(target."installationId", 'peer'), body, audience, hops,
      parley_now() - case when is_urgent then interval '30 days' else interval '0' end, parley_now(), parley_now()
    from "Conversation" c where c."key" = target."conversationKey";
end $$;

-- Both conversations, always in the same order, so that two bots that write to each other at once do not wait for each other.
create function parley_open_both(one jsonb, other jsonb) returns void language plpgsql as $$
begin
  if one->>'conversationKey' > other->>'conversationKey' then
    perform parley_open_both(other, one);
    return;
  end if;
  perform parley_open_conversation(one->>'conversationKey', one->'ref');
  perform parley_open_conversation(other->>'conversationKey', other->'ref');
end $$;

-- One message from a turn to another bot: an entry on both sides, mail that wakes the receiver, and the call's result, together and once.
-- `to` is a bot with the place of its conversation with this session, or the session that asked.
create function parley_commit_peer(input jsonb) returns jsonb language plpgsql as $$
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

-- The host tells the session that asked what became of its message; once per key.
create function parley_report_peer(input jsonb) returns jsonb language plpgsql as $$
declare
  asked "Mail";
  asking "Session";
begin
  select s.* into asking from "Conversation" c join "Session" s on s."id" = c."threadId" where c."key" = input->>'conversationKey';
  if asking."id" is null or not parley_mark_stored(input->>'dedupeKey') then return null; end if;
  select m.* into asked from "Mail" m join "Session" s on s."id" = m."sessionId"
    where s."conversationKey" = input->>'conversationKey' and m."kind" = 'bot' and m."body"->>'type' = 'peer' order by m."seq" desc limit 1;
  if asked."id" is null then return null; end if;
  perform parley_add_peer_mail(asking, null, asked."botId",
    asked."body" || jsonb_build_object('direction', 'report', 'text', input->>'text'), asked."audience", asked."hops", false);
  return to_jsonb(asking."id");
end $$;

-- Messages to bots that are gone: taken out of the way and reported to whoever asked. Returns the sessions to ring.
create function parley_report_lost_mail() returns jsonb language plpgsql as $$
declare
  lost record;
  told jsonb := '[]';
  asking_session jsonb;
begin
  for lost in
    select m."id", s."conversationKey", b."name" from "Mail" m
      join "Bot" b on b."id" = m."botId" and b."retiredAt" is not null join "Session" s on s."id" = m."sessionId"
      where m."state" = 'due' and m."kind" = 'bot' and m."body"->>'direction' = 'ask' limit 100
  loop
    update "Mail" set "state" = 'cancelled' where "id" = lost."id" and "state" = 'due';
    asking_session := parley_report_peer(jsonb_build_object('dedupeKey', 'lost-peer:' || lost."id", 'conversationKey', lost."conversationKey",
      'text', lost."name" || ' is no longer here and has not read your message.'));
    if asking_session is not null then told := told || jsonb_build_array(asking_session); end if;
  end loop;
  return told;
end $$;

-- A stop reaches what teammates do for the stopped conversation too (SPEC T5): their waiting messages, and the turns that serve the stopper.
create function parley_stop_peers(input jsonb) returns jsonb language plpgsql as $$
declare
  stopper text := input->'by'->>'id';
  may_stop_others boolean := (input->>'mayStopOthers')::boolean;
  here text[];
  peers text[];
  stopped jsonb;
  cancelled int;
begin
  here := array(select "id" from "Session" where "conversationKey" = input->>'conversationKey'
    and (not input ? 'botIds' or "botId" in (select jsonb_array_elements_text(input->'botIds'))));
  with recursive asked as (
    select s."id" from "Conversation" c join "Session" s on s."conversationKey" = c."key" where c."kind" = 'peer' and c."threadId" = any (here)
    union
    select s."id" from asked a join "Conversation" c on c."kind" = 'peer' and c."threadId" = a."id" join "Session" s on s."conversationKey" = c."key"
  ) select array(select "id" from asked where "id" <> all (here)) into peers;
  with flagged as (
    update "Turn" t set "stopRequestedAt" = coalesce(t."stopRequestedAt", parley_now()), "stoppedBy" = coalesce(t."stoppedBy", stopper)
      where t."sessionId" = any (peers) and t."status" in ('running', 'settling') and (may_stop_others or exists (
        select from "Mail" m where m."turnId" = t."id" and m."body"->'serves'->'personIds' ? stopper))
      returning t."sessionId"
  )
  select coalesce(jsonb_agg("sessionId"), '[]') into stopped from flagged;
  update "Mail" set "state" = 'cancelled', "body" = "body" || jsonb_build_object('stoppedBy', stopper)
    where "sessionId" = any (here || peers) and "state" = 'due' and "kind" = 'bot' and "body"->>'type' = 'peer'
      and (may_stop_others or "body"->'serves'->'personIds' ? stopper);
  get diagnostics cancelled = row_count;
  return jsonb_build_object('sessionIds', stopped, 'cancelled', cancelled);
end $$;

-- ---- bots made and changed at run time ---------------------------------------------------------------------------------------------

-- Makes a bot as the effect of a call. Names are taken case-insensitively; an id in use gets a number. `result` is the call's text.
create function parley_create_bot(input jsonb) returns jsonb language plpgsql as $$
declare
  wanted jsonb := input->'bot';
  new_id text := wanted->>'id';
  number int := 1;
  made "Bot";
  known jsonb := parley_known_result(input);
begin
  if known is not null then return jsonb_build_object('status', 'done', 'result', known); end if;
  perform pg_advisory_xact_lock(hashtextextended('parley-bots', 0));
  if exists (select from "Bot" where "orgId" = wanted->>'orgId' and lower("name") = lower(wanted->>'name') and "retiredAt" is null) then
    return jsonb_build_object('status', 'taken');
  end if;
  if (select count(*) from "Bot" where "orgId" = wanted->>'orgId' and "source" = 'runtime' and "retiredAt" is null) >= (input->>'limit')::int then
    return jsonb_build_object('status', 'limit');
  end if;
  while exists (select from "Bot" where "id" = new_id) loop
    number := number + 1;
    new_id := (wanted->>'id') || '-' || number;
  end loop;
  insert into "Bot" ("id", "orgId", "name", "role", "model", "lanes", "source", "createdAt")
    values (new_id, wanted->>'orgId', wanted->>'name', wanted->>'role', wanted->>'model', (wanted->>'lanes')::int, 'runtime', parley_now())
    returning * into made;
  known := jsonb_set(input->'result', '{text}', to_jsonb(replace(input->'result'->>'text', '{id}', new_id)));
  perform parley_close_call(input, known);
  return jsonb_build_object('status', 'done', 'result', known, 'bot', to_jsonb(made));
end $$;

-- Changes name or duties of a bot as the effect of a call; from then on the settings file leaves it alone.
create function parley_update_bot(input jsonb) returns jsonb language plpgsql as $$
declare
  wanted jsonb := input->'bot';
  changed "Bot";
  known jsonb := parley_known_result(input);
begin
  if known is not null then return jsonb_build_object('status', 'done', 'result', known); end if;
  perform pg_advisory_xact_lock(hashtextextended('parley-bots', 0));
  if exists (select from "Bot" where "orgId" = wanted->>'orgId' and lower("name") = lower(wanted->>'name') and "id" <> wanted->>'id'
      and "retiredAt" is null) then
    return jsonb_build_object('status', 'taken');
  end if;
  update "Bot" set "name" = coalesce(wanted->>'name', "name"), "role" = coalesce(wanted->>'role', "role"), "version" = "version" + 1, "source" = 'runtime'
    where "id" = wanted->>'id' and "orgId" = wanted->>'orgId' and "retiredAt" is null returning * into changed;
  if changed."id" is null then return jsonb_build_object('status', 'unknown'); end if;
  perform parley_close_call(input, input->'result');
  return jsonb_build_object('status', 'done', 'result', input->'result', 'bot', to_jsonb(changed));
end $$;
