-- Intake: one inbound event is one call (SPEC T1). Callers: src/engine/store/intake.ts, which documents the JSON that goes in and out.

-- What routing must know about the place of an event. The bots are the members of the channel with their installation in this workspace, and
-- whoever delivered the event.
create function parley_read_place(input jsonb) returns jsonb language plpgsql as $$
declare
  conversation_key text := input->>'conversationKey';
  here "Channel";
begin
  select * into here from "Channel" where "id" = input->>'channelRowId';
  return jsonb_build_object(
    'conversation', (select to_jsonb(c) from "Conversation" c where c."key" = conversation_key),
    'channel', case when here."id" is not null then to_jsonb(here) end,
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

create function parley_take_in(input jsonb) returns jsonb language plpgsql as $$
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
  return jsonb_build_object('status', 'stored', 'entry', case when new_entry."id" is not null then to_jsonb(new_entry) end)
    || parley_wake(input, closed_card, new_entry);
end $$;

-- Only the mark; a later copy of the same event may still be accepted.
create function parley_note_ignored(dedupe_key text) returns jsonb language plpgsql as $$
begin
  insert into "InboundMark" ("key", "outcome", "receivedAt") values (dedupe_key, 'ignored', parley_now()) on conflict ("key") do nothing;
  return jsonb_build_object('status', case when parley_is_taken(dedupe_key) then 'duplicate' else 'ignored' end);
end $$;

-- The channel at first contact (its reply mode stays; members are united) and the person under the newest name. Written only when they changed.
create function parley_meet(input jsonb) returns void language plpgsql as $$
declare
  ref jsonb := input->'ref';
  person jsonb := input->'person';
begin
  if input ? 'channel' then
    perform parley_keep_channel(input->>'channelRowId', ref, input->'channel'->>'replyMode', input->'channel'->>'audience');
    update "Channel" set "members" = array(select unnest("members") union select jsonb_array_elements_text(input->'channel'->'members'))
      where "id" = input->>'channelRowId'
        and not "members" @> array(select jsonb_array_elements_text(input->'channel'->'members'));
  end if;
  if person is not null and not exists (
    select from "Person" where "id" = person->>'id' and "name" = person->>'name' and "kind" = person->>'kind'
  ) then
    insert into "Person" ("id", "platform", "workspaceId", "platformId", "name", "kind", "updatedAt")
      values (person->>'id', ref->>'platform', ref->>'workspaceId', person->>'platformId', person->>'name', person->>'kind', parley_now())
      on conflict ("id") do update set "name" = excluded."name", "kind" = excluded."kind", "updatedAt" = excluded."updatedAt";
  end if;
end $$;

create function parley_keep_channel(channel_row_id text, ref jsonb, reply_mode text, audience text) returns void language plpgsql as $$
begin
  if not exists (select from "Channel" where "id" = channel_row_id) then
    insert into "Channel" ("id", "platform", "workspaceId", "channelId", "name", "members", "audience", "replyMode", "createdAt")
      values (channel_row_id, ref->>'platform', ref->>'workspaceId', ref->>'channelId', ref->>'channelName', '{}', audience, reply_mode, parley_now())
      on conflict ("id") do nothing;
  end if;
  update "Channel" set "name" = ref->>'channelName'
    where "id" = channel_row_id and "name" is distinct from ref->>'channelName' and ref->>'channelName' is not null;
end $$;

-- The members of a channel as the platform tells them now.
create function parley_set_members(input jsonb) returns void language plpgsql as $$
begin
  perform parley_keep_channel(input->>'channelRowId', input->'ref', input->>'replyMode', input->>'audience');
  update "Channel" set "members" = array(select jsonb_array_elements_text(input->'botIds')) where "id" = input->>'channelRowId';
end $$;

-- Address of the message a native id belongs to: a message we took in, or any piece of a bubble.
create function parley_address_of(conversation_key text, platform_name text, native_id text) returns text language plpgsql as $$
begin
  if native_id is null then return null; end if;
  return coalesce(
    (select "address" from "Entry" where "conversationKey" = conversation_key and "platformId" = native_id),
    (select e."address" from "OutboxPiece" p join "Entry" e on e."id" = p."entryId"
      where p."platform" = platform_name and p."nativeId" = native_id and e."conversationKey" = conversation_key limit 1));
end $$;

-- One entry per visible message. What people say gets the next number; a message known only as context moves to the end as a real one.
create function parley_add_entry(conversation_key text, platform_name text, entry jsonb) returns "Entry" language plpgsql as $$
declare
  is_numbered boolean := entry->>'kind' in ('message', 'answer') and entry->'author'->>'kind' = 'person';
  answers_to text := parley_address_of(conversation_key, platform_name, entry->>'nativeReplyTo');
  place "Conversation";
  known "Entry";
begin
  select * into known from "Entry" where "conversationKey" = conversation_key and "platformId" = entry->>'platformId';
  if known."id" is not null and not (known."kind" = 'context' and entry->>'kind' <> 'context') then return known; end if;
  update "Conversation" set "lastSeq" = "lastSeq" + 1, "personCount" = "personCount" + is_numbered::int, "updatedAt" = parley_now()
    where "key" = conversation_key returning * into place;
  if known."id" is not null then delete from "Entry" where "id" = known."id"; end if;
  insert into "Entry" ("id", "conversationKey", "seq", "address", "platformId", "at", "createdAt", "authorKind", "authorId", "authorName",
      "kind", "text", "body", "files", "replyTo")
    values (coalesce(known."id", entry->>'id'), conversation_key, place."lastSeq", case when is_numbered then 't' || place."personCount" || 'u' end,
      entry->>'platformId', (entry->>'at')::timestamptz, parley_now(), entry->'author'->>'kind', entry->'author'->>'id',
      entry->'author'->>'name', entry->>'kind', entry->>'text', coalesce(entry->'body', '{}'), coalesce(entry->'files', '[]'), answers_to)
    returning * into known;
  return known;
end $$;

-- Earlier messages found on first contact. What is known already, also as a bubble of ours, is skipped.
create function parley_add_context(input jsonb) returns void language plpgsql as $$
declare
  place "Conversation";
  entry jsonb;
begin
  update "Conversation" set "contextLoadedAt" = parley_now() where "key" = input->>'conversationKey' returning * into place;
  if place."key" is null then
    raise exception 'There is no conversation %', input->>'conversationKey' using errcode = 'no_data_found';
  end if;
  for entry in select value from jsonb_array_elements(input->'entries') loop
    continue when exists (select from "OutboxPiece" p join "Entry" e on e."id" = p."entryId"
      where p."platform" = place."platform" and p."nativeId" = entry->>'platformId' and e."conversationKey" = place."key");
    perform parley_add_entry(place."key", place."platform", entry);
  end loop;
end $$;

-- Files to fetch after the acknowledgement (SPEC W8); they belong to the org that owns the receiving installation.
create function parley_expect_files(input jsonb) returns void language plpgsql as $$
declare
  owner_org text;
begin
  if jsonb_array_length(coalesce(input->'files', '[]')) = 0 then return; end if;
  select coalesce(
    (select "orgId" from "Installation" where "id" = input->'wake'->0->>'installationId'),
    (select i."orgId" from "Installation" i join "Account" a on a."id" = i."accountId"
      where a."platform" = input->'ref'->>'platform' and i."workspaceId" = input->'ref'->>'workspaceId' limit 1),
    (select "id" from "Org" order by "createdAt" limit 1)) into owner_org;
  insert into "File" ("id", "orgId", "name", "mediaType", "size", "state", "source", "audience", "dueAt", "createdAt")
    select file->>'id', owner_org, file->>'name', file->>'mediaType', least((file->>'size')::numeric, 2147483647)::int, 'pending', coalesce(file->'source', 'null'),
      file->>'audience', parley_now(), parley_now()
    from jsonb_array_elements(input->'files') as file
    on conflict ("id") do nothing;
end $$;

-- Cards the person moved on from (SPEC C4): told once; some are dismissed with it.
create function parley_move_on(conversation_key text, input jsonb) returns void language plpgsql as $$
begin
  update "Card" set "skippedAt" = parley_now()
    where "id" in (select jsonb_array_elements_text(coalesce(input->'skip', '[]') || coalesce(input->'dismiss', '[]')))
      and "conversationKey" = conversation_key and "state" = 'open' and "skippedAt" is null;
  update "Card" set "state" = 'dismissed', "settleOwed" = true, "settleDueAt" = parley_now()
    where "id" in (select jsonb_array_elements_text(coalesce(input->'dismiss', '[]')))
      and "conversationKey" = conversation_key and "state" = 'open';
end $$;

-- Closes an open card for exactly one caller; null when somebody was faster, it has expired, or its one-time link is used up.
create function parley_close_card(closing jsonb) returns "Card" language plpgsql as $$
declare
  picked "Card";
begin
  select * into picked from "Card" where "id" = closing->>'cardId' for update;
  if picked."id" is null or picked."state" <> 'open' then return null; end if;
  if picked."expiresAt" <= parley_now() then
    update "Card" set "state" = 'expired', "settleOwed" = true, "settleDueAt" = parley_now() where "id" = picked."id";
    return null;
  end if;
  if closing ? 'tokenHash' then
    update "SecretLink" set "usedAt" = parley_now()
      where "tokenHash" = closing->>'tokenHash' and "cardId" = picked."id" and "usedAt" is null and "expiresAt" > parley_now();
    if not found then return null; end if;
  end if;
  update "Card" set "state" = closing->>'state', "answeredBy" = closing->'by'->>'id', "answeredByName" = closing->'by'->>'name',
      "answeredAt" = parley_now(), "answer" = closing->'answer', "settleOwed" = true, "settleAttempts" = 0, "settleDueAt" = parley_now()
    where "id" = picked."id" returning * into picked;
  if closing ? 'secret' then perform parley_keep_secret(picked."id", closing->'secret'); end if;
  return picked;
end $$;

-- One live secret per bot, connector and field: a new one revokes the one before. Bytes come as base64 of what is sealed already.
create function parley_keep_secret(card_id text, secret jsonb) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(concat_ws('/', secret->>'botId', secret->>'connector', secret->>'field'), 0));
  update "VaultSecret" set "revokedAt" = parley_now()
    where "botId" = secret->>'botId' and "connector" = secret->>'connector' and "field" = secret->>'field' and "revokedAt" is null;
  insert into "VaultSecret" ("id", "orgId", "botId", "connector", "field", "keyId", "nonce", "ciphertext", "tag", "personId", "cardId", "createdAt")
    select gen_random_uuid()::text, b."orgId", b."id", secret->>'connector', secret->>'field', secret->>'keyId',
      decode(secret->>'nonce', 'base64'), decode(secret->>'ciphertext', 'base64'), decode(secret->>'tag', 'base64'),
      secret->>'personId', card_id, parley_now()
    from "Bot" b where b."id" = secret->>'botId';
end $$;

-- Sessions and mail. A full mailbox takes no further message (SPEC T2), but an answer to a card is never lost (SPEC C3).
create function parley_wake(input jsonb, closed_card "Card", new_entry "Entry") returns jsonb language plpgsql as $$
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
    if closed_card."id" is null
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

-- Mail from outside a turn, once per key.
create function parley_post_mail(input jsonb) returns boolean language plpgsql as $$
begin
  if not parley_mark_stored(input->>'dedupeKey') then return false; end if;
  perform parley_add_mail(input->>'sessionId', input->>'entryId', input->'mail');
  return true;
end $$;

-- A host card from outside a turn, once per key.
create function parley_post_host_card(input jsonb) returns boolean language plpgsql as $$
begin
  perform parley_open_conversation(input->'delivery'->>'conversationKey', input->'delivery'->'place'->'ref');
  if not parley_mark_stored(input->>'dedupeKey') then return false; end if;
  perform parley_say(input->'delivery', null);
  return true;
end $$;
