-- Groups (SPEC G): discussions as rows that are moved in the same transactions as mail and bubbles (SPEC G12).
-- A discussion belongs to one conversation, whose lock every operation that moves it takes first; its revision tells a caller that decided
-- from an older state (error GR001: nothing was changed, read and decide again).

-- No version has written discussions before this one.
drop table "Discussion";

create table "Discussion" (
    "id" TEXT NOT NULL,
    "channelId" TEXT NOT NULL,
    "threadKey" TEXT NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "epoch" INTEGER NOT NULL DEFAULT 1,
    "current" TEXT,
    "endReason" TEXT,
    "state" JSONB NOT NULL,
    "frame" JSONB NOT NULL,
    "entryId" TEXT,
    "waitingSince" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    constraint "Discussion_pkey" primary key ("id")
);
create index "Discussion_channelId_threadKey_idx" on "Discussion" ("channelId", "threadKey");
create index "Discussion_waitingSince_idx" on "Discussion" ("waitingSince");
create unique index "Discussion_open_idx" on "Discussion" ("threadKey") where "endReason" is null;

alter table "Session" add column "teammates" TEXT[];

-- ---- moving a discussion -----------------------------------------------------------------------------------------------------------

-- Begins (revision 0) or moves a discussion. The caller holds the lock of its conversation. `entry_id` is the message that caused it, if any.
create function parley_move_discussion(move jsonb, entry_id text) returns void language plpgsql as $$
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
      where "id" = move->>'id' and "revision" = (move->>'revision')::int and "endReason" is null;
  end if;
  if not found then raise exception 'Discussion % was moved by somebody else', move->>'id' using errcode = 'GR001'; end if;
  if (move->>'cancelsMail')::boolean then
    update "Mail" set "state" = 'cancelled'
      where "state" = 'due' and "body"->>'type' = 'discussion' and "body"->>'discussionId' = move->>'id'
        and "sessionId" in (select "id" from "Session" where "conversationKey" = move->>'threadKey');
  end if;
end $$;

-- Mail for the next speakers of a discussion, with the message it is about; returns what to ring.
create function parley_wake_members(conversation_key text, wakes jsonb, entry_id text) returns jsonb language plpgsql as $$
declare
  waking jsonb;
  woken jsonb := '[]';
begin
  for waking in select value from jsonb_array_elements(coalesce(wakes, '[]')) loop
    woken := woken || jsonb_build_array(parley_add_mail(
      parley_open_session(waking->>'botId', conversation_key, waking->>'installationId'), entry_id, waking->'mail'));
  end loop;
  return woken;
end $$;

-- The message a discussion is about.
create function parley_discussion_entry(move jsonb) returns text language plpgsql as $$
begin
  return (select "entryId" from "Discussion" where "id" = move->>'id');
end $$;

-- A move outside a turn: with the next speaker's mail and what the host says about it (SPEC G8).
create function parley_step_discussion(input jsonb) returns jsonb language plpgsql as $$
declare
  thread_key text := input->'move'->>'threadKey';
  host_card jsonb;
begin
  perform 1 from "Conversation" where "key" = thread_key for no key update;
  perform parley_move_discussion(input->'move', null);
  for host_card in select value from jsonb_array_elements(coalesce(input->'hostCards', '[]')) loop
    perform parley_say(host_card, null);
  end loop;
  return parley_wake_members(thread_key, input->'wake', parley_discussion_entry(input->'move'));
end $$;

-- ---- membership --------------------------------------------------------------------------------------------------------------------

-- Which channels a bot is in, as its platform lists them now. Returns the channels that changed, and those with two or more bots.
create function parley_sync_memberships(input jsonb) returns jsonb language plpgsql as $$
declare
  bot_id text := input->>'botId';
  listed jsonb;
  row_id text;
  here text[] := '{}';
  changed text[] := '{}';
begin
  for listed in select value from jsonb_array_elements(input->'channels') order by value->>'channelId' loop
    row_id := concat_ws(':', input->>'platform', input->>'workspaceId', listed->>'channelId');
    here := here || row_id;
    perform parley_keep_channel(row_id, listed || jsonb_build_object('platform', input->'platform', 'workspaceId', input->'workspaceId',
      'channelName', listed->'name'), input->>'replyMode', 'channel(' || row_id || ')');
    update "Channel" set "members" = case when ("settings"->>'told')::boolean then "members" || bot_id else array(
        select id from unnest("members" || bot_id) with ordinality as listed (id, n)
          order by array_position(array(select jsonb_array_elements_text(input->'order')), id) nulls last, n) end
      where "id" = row_id and not bot_id = any ("members");
    if found then changed := changed || row_id; end if;
  end loop;
  with gone as (
    update "Channel" set "members" = array_remove("members", bot_id)
      where "platform" = input->>'platform' and "workspaceId" = input->>'workspaceId' and bot_id = any ("members") and not "id" = any (here)
      returning "id"
  )
  select changed || coalesce(array_agg("id"), '{}') into changed from gone;
  return (select coalesce(jsonb_agg(to_jsonb(c) order by c."id"), '[]') from "Channel" c
    where c."id" = any (changed) or (c."id" = any (here) and cardinality(c."members") > 1));
end $$;

drop function parley_set_members(jsonb);

-- As before, but new members stand behind those who came earlier, and settings may be laid over.
create or replace function parley_meet(input jsonb) returns void language plpgsql as $$
declare
  ref jsonb := input->'ref';
  person jsonb := input->'person';
begin
  if input ? 'channel' then
    perform parley_keep_channel(input->>'channelRowId', ref, input->'channel'->>'replyMode', input->'channel'->>'audience');
    update "Channel" set "members" = "members" || array(
        select id from jsonb_array_elements_text(input->'channel'->'members') with ordinality as listed (id, n)
          where not id = any ("members") order by n)
      where "id" = input->>'channelRowId'
        and not "members" @> array(select jsonb_array_elements_text(input->'channel'->'members'));
  end if;
  if input ? 'channelSettings' then
    update "Channel" set "settings" = "settings" || (input->'channelSettings') where "id" = input->>'channelRowId';
  end if;
  if person is not null and not exists (
    select from "Person" where "id" = person->>'id' and "name" = person->>'name' and "kind" = person->>'kind'
  ) then
    insert into "Person" ("id", "platform", "workspaceId", "platformId", "name", "kind", "updatedAt")
      values (person->>'id', ref->>'platform', ref->>'workspaceId', person->>'platformId', person->>'name', person->>'kind', parley_now())
      on conflict ("id") do update set "name" = excluded."name", "kind" = excluded."kind", "updatedAt" = excluded."updatedAt";
  end if;
end $$;

-- ---- intake ------------------------------------------------------------------------------------------------------------------------

-- As before, with the discussion that is going on here.
create or replace function parley_read_place(input jsonb) returns jsonb language plpgsql as $$
declare
  conversation_key text := input->>'conversationKey';
  here "Channel";
begin
  select * into here from "Channel" where "id" = input->>'channelRowId';
  return jsonb_build_object(
    'conversation', (select to_jsonb(c) from "Conversation" c where c."key" = conversation_key),
    'channel', case when here."id" is not null then to_jsonb(here) end,
    'discussion', (select to_jsonb(d) from "Discussion" d where d."threadKey" = conversation_key and d."endReason" is null),
    'sessions', (
      select coalesce(jsonb_agg(jsonb_build_object('sessionId', s."id", 'botId', s."botId", 'running', exists (
        select from "Turn" t where t."sessionId" = s."id" and t."status" in ('running', 'settling'))) order by s."createdAt", s."id"), '[]')
      from "Session" s where s."conversationKey" = conversation_key),
    'cards', (
      select coalesce(jsonb_agg(to_jsonb(k) order by k."createdAt", k."id"), '[]') from "Card" k
      where k."conversationKey" = conversation_key and k."state" = 'open' and (k."expiresAt" is null or k."expiresAt" > parley_now())),
    'bots', (
      select coalesce(jsonb_agg(jsonb_build_object('bot', to_jsonb(b), 'installation', to_jsonb(i) || jsonb_build_object(
        'botId', a."botId", 'platform', a."platform", 'appId', a."appId")) order by b."createdAt", b."id", i."id"), '[]')
      from "Bot" b join "Account" a on a."botId" = b."id" join "Installation" i on i."accountId" = a."id"
      where b."retiredAt" is null and (i."id" = input->>'installationId'
        or (b."id" = any (here."members") and a."platform" = input->'ref'->>'platform' and i."workspaceId" = input->'ref'->>'workspaceId'))),
    'mark', (select "outcome" from "InboundMark" where "key" = input->>'dedupeKey'));
end $$;

-- As before; a discussion begins or moves with the message or the answer that causes it.
create or replace function parley_take_in(input jsonb) returns jsonb language plpgsql as $$
declare
  conversation_key text := input->>'conversationKey';
  closed_card "Card";
  new_entry "Entry";
begin
  if input->>'outcome' = 'ignored' then return parley_note_ignored(input->>'dedupeKey'); end if;
  if input ? 'card' then
    -- A card's conversation exists already; a late click must leave nothing behind.
    perform 1 from "Conversation" where "key" = conversation_key for no key update;
  else
    perform parley_open_conversation(conversation_key, input->'ref');
  end if;
  if parley_is_taken(input->>'dedupeKey') then return jsonb_build_object('status', 'duplicate'); end if;
  if input ? 'card' then
    closed_card := parley_close_card(input->'card');
    if closed_card."id" is null then
      return jsonb_build_object('status', 'late', 'card', (select to_jsonb(c) from "Card" c where c."id" = input->'card'->>'cardId'));
    end if;
    perform parley_open_conversation(conversation_key, input->'ref');
  end if;
  if not parley_mark_stored(input->>'dedupeKey') then return jsonb_build_object('status', 'duplicate'); end if;
  perform parley_meet(input);
  if input ? 'entry' then
    new_entry := parley_add_entry(conversation_key, input->'ref'->>'platform', input->'entry');
    update "InboundMark" set "entryId" = new_entry."id" where "key" = input->>'dedupeKey';
  end if;
  perform parley_expect_files(input);
  perform parley_move_on(conversation_key, input);
  perform parley_move_discussion(input->'discussion', new_entry."id");
  return jsonb_build_object('status', 'stored', 'entry', case when new_entry."id" is not null then to_jsonb(new_entry) end)
    || parley_wake(input, closed_card, new_entry);
end $$;

-- As before, but a member's turn is never refused for a full mailbox: there is at most one of it, and a discussion without it would stand still.
create or replace function parley_wake(input jsonb, closed_card "Card", new_entry "Entry") returns jsonb language plpgsql as $$
declare
  woken jsonb := '[]';
  full_bots jsonb := '[]';
  waking jsonb;
  mail jsonb;
  session_id text;
begin
  for waking in select value from jsonb_array_elements(input->'wake') loop
    session_id := case when closed_card."botId" = waking->>'botId' then closed_card."sessionId" end;
    if session_id is null then
      session_id := parley_open_session(waking->>'botId', input->>'conversationKey', waking->>'installationId');
    end if;
    mail := waking->'mail';
    if mail is null then continue; end if;
    if closed_card."id" is null and mail->'body'->>'type' <> 'discussion'
      and (select count(*) from "Mail" where "sessionId" = session_id and "state" = 'due') >= (input->>'mailLimit')::int then
      full_bots := full_bots || jsonb_build_array(waking->>'botId');
      continue;
    end if;
    if mail->'body'->>'type' = 'message' and mail->'body'->>'replyTo' is null and new_entry."replyTo" is not null then
      mail := jsonb_set(mail, '{body,replyTo}', to_jsonb(new_entry."replyTo"));
    end if;
    woken := woken || jsonb_build_array(parley_add_mail(session_id, new_entry."id", mail));
  end loop;
  return jsonb_build_object('woken', woken, 'full', full_bots);
end $$;

-- As before. A waiting turn of a discussion reads the message as it stands then; deleting the message before anybody spoke ends the discussion.
create or replace function parley_amend(input jsonb) returns jsonb language plpgsql as $$
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
  if not is_edit then
    if cardinality(parley_end_discussions(input->>'conversationKey', target."id")) > 0 then outcome := 'cancelled'; end if;
  end if;
  for affected in
    select m.* from "Mail" m join "Turn" t on t."id" = m."turnId"
      where m."entryId" = target."id" and m."state" = 'taken' and m."body"->>'type' in ('message', 'discussion') and t."status" in ('running', 'settling')
  loop
    outcome := 'steered';
    woken := woken || jsonb_build_array(parley_steer(affected, input->>'steering'));
  end loop;
  return jsonb_build_object('status', outcome, 'woken', woken);
end $$;

-- Ends what is going on in a conversation: all of it, or only what waits for its first word about one message. Its waiting mail is cancelled.
create function parley_end_discussions(conversation_key text, about_entry text) returns text[] language plpgsql as $$
declare
  ended text[];
begin
  with stopped as (
    update "Discussion" set "revision" = "revision" + 1, "endReason" = 'stopped', "current" = null, "waitingSince" = null, "updatedAt" = parley_now(),
        "state" = "state" || jsonb_build_object('endReason', 'stopped', 'current', null, 'order', '[]'::jsonb, 'apart', '{}'::jsonb)
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

-- As before. A stop also ends the discussion here, if the stopper took part in it or may stop work of others; then all turns of it stop.
create or replace function parley_request_stop(input jsonb) returns jsonb language plpgsql as $$
declare
  stopper text := input->'by'->>'id';
  may_stop_others boolean := (input->>'mayStopOthers')::boolean;
  ended text[] := '{}';
  here text[];
  stopped jsonb;
  untouched int;
  cancelled int;
begin
  perform 1 from "Conversation" where "key" = input->>'conversationKey' for no key update;
  if not parley_mark_stored(input->>'dedupeKey') then
    return jsonb_build_object('sessionIds', '[]'::jsonb, 'cancelled', 0, 'refused', false, 'duplicate', true);
  end if;
  if may_stop_others or exists (
    select from "Discussion" d, jsonb_array_elements(d."frame"->'persons') person
      where d."threadKey" = input->>'conversationKey' and d."endReason" is null and person->>'id' = stopper
  ) then
    ended := parley_end_discussions(input->>'conversationKey', null);
  end if;
  here := array(select "id" from "Session" where "conversationKey" = input->>'conversationKey'
    and (not input ? 'botIds' or "botId" in (select jsonb_array_elements_text(input->'botIds'))
      or exists (select from "Turn" t where t."sessionId" = "Session"."id" and t."discussionId" = any (ended) and t."status" in ('running', 'settling'))));
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
  cancelled := cancelled + cardinality(ended);
  return jsonb_build_object('sessionIds', stopped, 'cancelled', cancelled,
    'refused', untouched > 0 and cancelled = 0 and jsonb_array_length(stopped) = 0);
end $$;

-- ---- turns -------------------------------------------------------------------------------------------------------------------------

-- As before; a member's turn knows its discussion, and a session the names its identity tells.
create or replace function parley_begin_turn(input jsonb) returns jsonb language plpgsql as $$
declare
  claim jsonb := input->'claim';
begin
  perform parley_check_claim(claim);
  insert into "Turn" ("id", "sessionId", "botId", "fence", "route", "authority", "status", "progress", "startedAt", "discussionId", "epoch")
    values (input->>'turnId', claim->>'sessionId', claim->>'botId', (claim->>'fence')::int, input->'route', input->'authority', 'running',
      input->'progress', parley_now(), input->>'discussionId', (input->>'epoch')::int)
    on conflict ("id") do nothing;
  if input ? 'teammates' then
    update "Session" set "teammates" = array(select jsonb_array_elements_text(input->'teammates'))
      where "id" = claim->>'sessionId' and coalesce(cardinality("teammates"), 0) = 0;
  end if;
  perform parley_add_nodes(claim->>'sessionId', coalesce(input->'nodes', '[]'), coalesce((input->>'cursor')::int, 0));
  perform parley_take_mail(input->>'turnId', 0, claim->>'sessionId', input->'mailIds');
  return (select to_jsonb(t) from "Turn" t where t."id" = input->>'turnId');
end $$;

-- As before, with the newest epoch the turn has read.
create or replace function parley_commit_input(input jsonb) returns void language plpgsql as $$
declare
  session_id text := input->'claim'->>'sessionId';
  turn_step int;
begin
  perform parley_check_claim(input->'claim');
  perform parley_add_nodes(session_id, input->'nodes', (input->>'cursor')::int);
  update "Turn" set "progress" = input->'progress', "authority" = coalesce(input->'authority', "authority"), "route" = coalesce(input->'route', "route"),
      "epoch" = coalesce((input->>'epoch')::int, "epoch")
    where "id" = input->>'turnId' and "sessionId" = session_id returning "step" into turn_step;
  perform parley_take_mail(input->>'turnId', turn_step, session_id, input->'mailIds');
end $$;

-- As before; a member's bubble is counted in its discussion, or nothing is said at all (error GR001).
create or replace function parley_commit_send(input jsonb) returns jsonb language plpgsql as $$
declare
  known_entry text;
  said "Entry";
begin
  perform parley_open_conversation(input->'delivery'->>'conversationKey', input->'delivery'->'place'->'ref');
  perform parley_check_claim(input->'claim');
  select "entryId" into known_entry from "ToolCall"
    where "turnId" = input->>'turnId' and "step" = (input->>'step')::int and "index" = (input->>'index')::int;
  if not found then raise exception 'There is no call % of turn %', input->>'index', input->>'turnId' using errcode = 'no_data_found'; end if;
  if known_entry is not null then return (select to_jsonb(e) from "Entry" e where e."id" = known_entry); end if;
  perform parley_move_discussion(input->'discussion', null);
  said := parley_say(input->'delivery', input->>'turnId');
  update "ToolCall" set "entryId" = said."id", "state" = case "state" when 'pending' then 'started' else "state" end,
      "startedAt" = coalesce("startedAt", parley_now())
    where "turnId" = input->>'turnId' and "step" = (input->>'step')::int and "index" = (input->>'index')::int;
  perform parley_move_progress(input->>'turnId', input->'progress');
  return to_jsonb(said);
end $$;

-- As before; the end of a member's turn moves its discussion and wakes the next speaker. Returns what to ring.
drop function parley_finish_turn(jsonb);
create function parley_finish_turn(input jsonb) returns jsonb language plpgsql as $$
declare
  session_id text := input->'claim'->>'sessionId';
  thread_key text := input->'discussion'->>'threadKey';
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
  update "Turn" set "status" = input->>'status', "outcome" = input->>'outcome', "endedAt" = parley_now() where "id" = input->>'turnId';
  perform parley_move_progress(input->>'turnId', input->'progress');
  update "Mail" set "state" = 'done' where "turnId" = input->>'turnId' and "state" = 'taken';
  update "Mail" set "state" = 'cancelled'
    where "sessionId" = session_id and "state" = 'due' and "authorId" = input->>'cancelMailOf';
  for follow_up in select value from jsonb_array_elements(coalesce(input->'mail', '[]')) loop
    perform parley_add_mail(session_id, null, follow_up);
  end loop;
  for host_card in select value from jsonb_array_elements(coalesce(input->'hostCards', '[]')) loop
    perform parley_say(host_card, input->>'turnId');
  end loop;
  update "Session" set "owner" = null, "leaseUntil" = null where "id" = session_id;
  return parley_wake_members(thread_key, input->'wake', parley_discussion_entry(input->'discussion'));
end $$;
