-- Skills (SPEC P1, W6): methods that bots wrote themselves, and what each session's prompt tells of skills in its cycle (X4).

-- AlterTable
ALTER TABLE "Session" ADD COLUMN     "skills" TEXT,
ADD COLUMN     "skillsTold" JSONB;

-- CreateTable
CREATE TABLE "Workflow" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "botId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "audience" TEXT NOT NULL,
    "authorId" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Workflow_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "Workflow_orgId_idx" ON "Workflow"("orgId");

-- CreateIndex
CREATE INDEX "Workflow_botId_idx" ON "Workflow"("botId");

-- Makes, changes or deletes a written skill as the effect of a call, once. A name is free when the bot has no other skill of that name for the same audience.
-- An edit applies only to the version that the decision was made on.
create function parley_commit_workflow(input jsonb) returns jsonb language plpgsql as $$
declare
  wanted jsonb := input->'workflow';
  wanted_id text := wanted->>'id';
  kept "Workflow";
  known jsonb := parley_known_result(input);
begin
  if known is not null then return jsonb_build_object('status', 'done', 'result', known); end if;
  perform pg_advisory_xact_lock(hashtextextended('parley-workflows-' || (wanted->>'botId'), 0));
  if input->>'action' <> 'create' then
    select * into kept from "Workflow" where "id" = wanted_id and "botId" = wanted->>'botId';
    if not found then return jsonb_build_object('status', 'unknown'); end if;
    if kept."version" <> (wanted->>'version')::int then return jsonb_build_object('status', 'changed'); end if;
  end if;
  if input->>'action' = 'delete' then
    delete from "Workflow" where "id" = wanted_id;
  else
    if exists (select from "Workflow" where "botId" = wanted->>'botId' and "id" <> wanted_id
        and lower("name") = lower(coalesce(wanted->>'name', kept."name")) and "audience" = coalesce(wanted->>'audience', kept."audience")) then
      return jsonb_build_object('status', 'taken');
    end if;
    if input->>'action' = 'create' then
      if (select count(*) from "Workflow" where "botId" = wanted->>'botId') >= (input->>'limit')::int then
        return jsonb_build_object('status', 'limit');
      end if;
      insert into "Workflow" ("id", "orgId", "botId", "name", "description", "body", "audience", "authorId", "createdAt", "updatedAt")
        values (wanted_id, wanted->>'orgId', wanted->>'botId', wanted->>'name', wanted->>'description', wanted->>'body', wanted->>'audience',
          wanted->>'authorId', parley_now(), parley_now());
    else
      update "Workflow" set "name" = coalesce(wanted->>'name', "name"), "description" = coalesce(wanted->>'description', "description"),
        "body" = coalesce(wanted->>'body', "body"), "audience" = coalesce(wanted->>'audience', "audience"),
        "authorId" = coalesce(wanted->>'authorId', "authorId"), "version" = "version" + 1, "updatedAt" = parley_now()
        where "id" = wanted_id;
    end if;
  end if;
  perform parley_close_call(input, input->'result');
  return jsonb_build_object('status', 'done', 'result', input->'result');
end $$;
