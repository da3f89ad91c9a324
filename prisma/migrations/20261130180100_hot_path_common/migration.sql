-- What the hot operations of the store share: indexes, the fence, dedupe marks, mail, entries that are said.
-- Each hot operation is one function call and so one round trip and one transaction (docs/decisions/0003-hot-path-sql.md).
-- PL/pgSQL keeps the plans of its statements for the life of a connection; functions in plain SQL would be planned at every call.
-- Locks are always taken in this order: conversation, dedupe mark, bot, session, card, the rest. Every statement in these functions sees
-- what was committed before it began, also after it waited for a lock.

-- ---- indexes -----------------------------------------------------------------------------------------------------------------------
-- Partial and expression indexes are invisible to the drift check; the plain one stands in schema.prisma too.

create index "Turn_botId_startedAt_idx" on "Turn" ("botId", "startedAt");
create index "Turn_unfinished_idx" on "Turn" ("botId") where "status" in ('running', 'settling');
create index "Session_claimed_idx" on "Session" ("botId") where "owner" is not null;
create index "Card_open_expiry_idx" on "Card" ("expiresAt") where "state" = 'open';
create index "OutboxPiece_open_idx" on "OutboxPiece" ("nativeChannel", "seq") where "state" in ('due', 'sending');
-- Finds the newest bubble said after one person message: "t5s12" and "t5s13" share the stem "t5s".
create index "Entry_bubble_stem_idx" on "Entry" ("conversationKey", (rtrim("address", '0123456789')), "seq") where "kind" = 'bubble';

-- Keys are ordered by code point on every server, whatever its locale.
alter table "KeyValue" alter column "key" type text collate "C";

-- Model state comes back as it was written, to the order of its keys: providers cache what they have read byte by byte.
alter table "StateNode" alter column "body" type json using "body"::json;

-- ---- time --------------------------------------------------------------------------------------------------------------------------

-- The database's clock in whole milliseconds, cut off: columns keep milliseconds, and a due time rounded up would lie ahead for a moment.
create function parley_now() returns timestamptz language sql volatile as $$
  select date_trunc('milliseconds', clock_timestamp())
$$;

create function parley_ms(amount float8) returns interval language sql immutable as $$
  select amount * interval '1 millisecond'
$$;

-- ---- guards ------------------------------------------------------------------------------------------------------------------------

-- Locks the claimed session; error FL001 when the claim has passed to somebody else.
create function parley_check_claim(claim jsonb) returns void language plpgsql as $$
begin
  perform 1 from "Session"
    where "id" = claim->>'sessionId' and "owner" = claim->>'owner' and "fence" = (claim->>'fence')::int
    for no key update;
  if not found then
    raise exception 'The claim on session % is no longer held', claim->>'sessionId' using errcode = 'FL001';
  end if;
end $$;

-- True when a copy of this event was stored before.
create function parley_is_taken(dedupe_key text) returns boolean language plpgsql as $$
begin
  return exists (select from "InboundMark" where "key" = dedupe_key and "outcome" = 'stored');
end $$;

-- True for the first copy only, at any concurrency. A copy that was ignored earlier does not count.
create function parley_mark_stored(dedupe_key text) returns boolean language plpgsql as $$
begin
  insert into "InboundMark" ("key", "outcome", "receivedAt") values (dedupe_key, 'stored', parley_now())
    on conflict ("key") do update set "outcome" = 'stored' where "InboundMark"."outcome" = 'ignored';
  return found;
end $$;

-- ---- places and mail ---------------------------------------------------------------------------------------------------------------

-- Makes the conversation when it is new, and locks it: whatever moves its counters happens one at a time.
create function parley_open_conversation(conversation_key text, ref jsonb) returns void language plpgsql as $$
begin
  perform 1 from "Conversation" where "key" = conversation_key for no key update;
  if found then return; end if;
  insert into "Conversation" ("key", "kind", "platform", "workspaceId", "channelId", "threadId", "createdAt", "updatedAt")
    values (conversation_key, ref->>'kind', ref->>'platform', ref->>'workspaceId', ref->>'channelId', ref->>'threadId', parley_now(), parley_now())
    on conflict ("key") do nothing;
  perform 1 from "Conversation" where "key" = conversation_key for no key update;
end $$;

-- The bot's session in a conversation, made when missing. Its installation follows the one that delivers events now.
create function parley_open_session(bot_id text, conversation_key text, installation_id text) returns text language plpgsql as $$
declare
  known "Session";
begin
  insert into "Session" ("id", "botId", "conversationKey", "installationId", "createdAt", "updatedAt")
    values (gen_random_uuid()::text, bot_id, conversation_key, installation_id, parley_now(), parley_now())
    on conflict ("botId", "conversationKey") do nothing;
  select * into known from "Session" where "botId" = bot_id and "conversationKey" = conversation_key;
  if installation_id is not null and known."installationId" is distinct from installation_id then
    update "Session" set "installationId" = installation_id where "id" = known."id";
  end if;
  return known."id";
end $$;

-- Puts mail into a session's mailbox; returns what to ring: { sessionId, rank }.
create function parley_add_mail(session_id text, entry_id text, mail jsonb) returns jsonb language plpgsql as $$
declare
  mail_rank int := case mail->>'kind' when 'person' then 0 when 'bot' then 1 else 2 end;
begin
  insert into "Mail" ("id", "sessionId", "botId", "kind", "rank", "direct", "entryId", "authorId", "route", "body", "audience", "hops",
      "orderAt", "dueAt", "createdAt")
    select gen_random_uuid()::text, s."id", s."botId", mail->>'kind', mail_rank, c."kind" = 'direct', entry_id, mail->>'authorId',
      mail->>'route', mail->'body', mail->>'audience', coalesce((mail->>'hops')::int, 0), (mail->>'orderAt')::timestamptz,
      parley_now() + parley_ms(coalesce((mail->>'delayMs')::float8, 0)), parley_now()
    from "Session" s join "Conversation" c on c."key" = s."conversationKey"
    where s."id" = session_id;
  if not found then raise exception 'There is no session %', session_id using errcode = 'no_data_found'; end if;
  return jsonb_build_object('sessionId', session_id, 'rank', mail_rank);
end $$;

-- A steering note about mail that is being worked on: same author and route, so that it joins the running turn (SPEC T6).
create function parley_steer(about "Mail", note text) returns jsonb language plpgsql as $$
begin
  return parley_add_mail(about."sessionId", about."entryId", jsonb_build_object(
    'kind', about."kind", 'authorId', about."authorId", 'route', about."route", 'audience', about."audience", 'hops', about."hops",
    'orderAt', parley_now(),
    'body', jsonb_build_object('type', 'steering', 'role', coalesce(about."body"->>'role', 'member'), 'text', note)));
end $$;

-- ---- what is said ------------------------------------------------------------------------------------------------------------------

-- Next free address after person message n: t<n>s<k>, to a peer t<n>a<k>, before any person message tb… (SPEC M8).
create function parley_bubble_address(conversation_key text, person_count int, place_kind text) returns text language plpgsql as $$
declare
  stem text := case when person_count > 0 then 't' || person_count else 'tb' end || case place_kind when 'peer' then 'a' else 's' end;
  last_number int;
begin
  select substring("address" from '[0-9]+$')::int into last_number from "Entry"
    where "conversationKey" = conversation_key and "kind" = 'bubble' and rtrim("address", '0123456789') = stem
    order by "seq" desc limit 1;
  return stem || coalesce(last_number, 0) + 1;
end $$;

-- Commits a bubble or host card: entry, pieces and card. From here on it is said, whatever becomes of the turn (SPEC T3).
create function parley_say(delivery jsonb, turn_id text) returns "Entry" language plpgsql as $$
declare
  conversation_key text := delivery->>'conversationKey';
  is_bubble boolean := delivery->>'kind' = 'bubble';
  next_seq int;
  said "Entry";
begin
  perform parley_open_conversation(conversation_key, delivery->'place'->'ref');
  update "Conversation" set "lastSeq" = "lastSeq" + 1, "updatedAt" = parley_now() where "key" = conversation_key
    returning "lastSeq" into next_seq;
  insert into "Entry" ("id", "conversationKey", "seq", "address", "at", "createdAt", "authorKind", "authorId", "authorName", "kind", "text",
      "body", "files", "replyTo", "botId", "turnId")
    values (delivery->>'entryId', conversation_key, next_seq,
      case when is_bubble then
        parley_bubble_address(conversation_key, (delivery->>'personCount')::int, delivery->'place'->'ref'->>'kind') end,
      parley_now(), parley_now(), case when is_bubble then 'bot' else 'host' end, delivery->>'botId', delivery->>'botName',
      delivery->>'kind', delivery->>'text', coalesce(delivery->'body', '{}'), coalesce(delivery->'files', '[]'), delivery->>'replyTo',
      delivery->>'botId', turn_id)
    returning * into said;
  insert into "OutboxPiece" ("id", "entryId", "index", "installationId", "nativeChannel", "platform", "payload", "dueAt", "createdAt")
    select said."id" || ':' || (n - 1), said."id", n - 1, delivery->'place'->>'installationId', delivery->>'nativeChannel',
      delivery->'place'->'ref'->>'platform', jsonb_build_object('place', delivery->'place', 'content', content), parley_now(), parley_now()
    from jsonb_array_elements(delivery->'pieces') with ordinality as piece (content, n)
    order by n;
  if delivery ? 'card' then perform parley_add_card(said, delivery->'card'); end if;
  return said;
end $$;

create function parley_add_card(shown_by "Entry", card jsonb) returns void language plpgsql as $$
begin
  insert into "Card" ("id", "entryId", "botId", "sessionId", "conversationKey", "turnId", "kind", "spec", "allowed", "expiresAt", "createdAt")
    values (card->>'id', shown_by."id", shown_by."botId", card->>'sessionId', shown_by."conversationKey", card->>'turnId', card->>'kind',
      card->'spec', array(select jsonb_array_elements_text(card->'allowed')),
      parley_now() + parley_ms((card->>'ttlMs')::float8), parley_now());
end $$;
