-- CreateTable
CREATE TABLE "Org" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Org_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Bot" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "lanes" INTEGER NOT NULL DEFAULT 4,
    "version" INTEGER NOT NULL DEFAULT 1,
    "source" TEXT NOT NULL DEFAULT 'settings',
    "retiredAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Bot_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Account" (
    "id" TEXT NOT NULL,
    "botId" TEXT NOT NULL,
    "platform" TEXT NOT NULL,
    "appId" TEXT NOT NULL,

    CONSTRAINT "Account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Installation" (
    "id" TEXT NOT NULL,
    "accountId" TEXT NOT NULL,
    "workspaceId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "botUserId" TEXT NOT NULL,
    "otherIds" TEXT[],
    "persona" JSONB,
    "credentialRef" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Installation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Person" (
    "id" TEXT NOT NULL,
    "platform" TEXT NOT NULL,
    "workspaceId" TEXT NOT NULL,
    "platformId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Person_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Channel" (
    "id" TEXT NOT NULL,
    "platform" TEXT NOT NULL,
    "workspaceId" TEXT NOT NULL,
    "channelId" TEXT NOT NULL,
    "name" TEXT,
    "members" TEXT[],
    "settings" JSONB NOT NULL DEFAULT '{}',
    "audience" TEXT NOT NULL,
    "replyMode" TEXT NOT NULL,
    "digest" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Channel_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Conversation" (
    "key" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "platform" TEXT NOT NULL,
    "workspaceId" TEXT NOT NULL,
    "channelId" TEXT,
    "threadId" TEXT,
    "lastSeq" INTEGER NOT NULL DEFAULT 0,
    "personCount" INTEGER NOT NULL DEFAULT 0,
    "contextLoadedAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Conversation_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "Entry" (
    "id" TEXT NOT NULL,
    "conversationKey" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "address" TEXT,
    "platformId" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "authorKind" TEXT NOT NULL,
    "authorId" TEXT NOT NULL,
    "authorName" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "body" JSONB NOT NULL,
    "files" JSONB NOT NULL DEFAULT '[]',
    "replyTo" TEXT,
    "botId" TEXT,
    "turnId" TEXT,
    "mark" JSONB,
    "redactedAt" TIMESTAMPTZ(3),

    CONSTRAINT "Entry_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Session" (
    "id" TEXT NOT NULL,
    "botId" TEXT NOT NULL,
    "conversationKey" TEXT NOT NULL,
    "installationId" TEXT,
    "cursor" INTEGER NOT NULL DEFAULT 0,
    "cycle" INTEGER NOT NULL DEFAULT 1,
    "stateHead" TEXT,
    "owner" TEXT,
    "leaseUntil" TIMESTAMPTZ(3),
    "fence" INTEGER NOT NULL DEFAULT 0,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "StateNode" (
    "hash" TEXT NOT NULL,
    "sessionId" TEXT NOT NULL,
    "parent" TEXT,
    "kind" TEXT NOT NULL,
    "body" JSONB NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "StateNode_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "InboundMark" (
    "key" TEXT NOT NULL,
    "entryId" TEXT,
    "outcome" TEXT NOT NULL,
    "receivedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "InboundMark_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "Mail" (
    "id" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "sessionId" TEXT NOT NULL,
    "botId" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "rank" INTEGER NOT NULL,
    "direct" BOOLEAN NOT NULL DEFAULT false,
    "entryId" TEXT,
    "authorId" TEXT,
    "route" TEXT NOT NULL,
    "body" JSONB NOT NULL,
    "audience" TEXT NOT NULL,
    "hops" INTEGER NOT NULL DEFAULT 0,
    "orderAt" TIMESTAMPTZ(3) NOT NULL,
    "dueAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "state" TEXT NOT NULL DEFAULT 'due',
    "turnId" TEXT,
    "step" INTEGER,

    CONSTRAINT "Mail_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Turn" (
    "id" TEXT NOT NULL,
    "sessionId" TEXT NOT NULL,
    "botId" TEXT NOT NULL,
    "fence" INTEGER NOT NULL,
    "step" INTEGER NOT NULL DEFAULT 0,
    "route" JSONB NOT NULL,
    "authority" JSONB NOT NULL,
    "discussionId" TEXT,
    "epoch" INTEGER,
    "stopRequestedAt" TIMESTAMPTZ(3),
    "stoppedBy" TEXT,
    "status" TEXT NOT NULL,
    "outcome" TEXT,
    "waitingCardId" TEXT,
    "progress" JSONB NOT NULL DEFAULT '{}',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "startedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "endedAt" TIMESTAMPTZ(3),

    CONSTRAINT "Turn_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ToolCall" (
    "turnId" TEXT NOT NULL,
    "step" INTEGER NOT NULL,
    "index" INTEGER NOT NULL,
    "callId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "args" JSONB NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "result" JSONB,
    "entryId" TEXT,
    "startedAt" TIMESTAMPTZ(3),

    CONSTRAINT "ToolCall_pkey" PRIMARY KEY ("turnId","step","index")
);

-- CreateTable
CREATE TABLE "OutboxPiece" (
    "id" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "entryId" TEXT NOT NULL,
    "index" INTEGER NOT NULL,
    "installationId" TEXT NOT NULL,
    "nativeChannel" TEXT NOT NULL,
    "platform" TEXT NOT NULL,
    "payload" JSONB NOT NULL,
    "progress" JSONB NOT NULL DEFAULT '{}',
    "receipt" JSONB,
    "nativeId" TEXT,
    "state" TEXT NOT NULL DEFAULT 'due',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "dueAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "attemptedAt" TIMESTAMPTZ(3),
    "error" JSONB,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "closedAt" TIMESTAMPTZ(3),

    CONSTRAINT "OutboxPiece_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "SenderClaim" (
    "nativeChannel" TEXT NOT NULL,
    "owner" TEXT NOT NULL,
    "leaseUntil" TIMESTAMPTZ(3) NOT NULL,
    "fence" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "SenderClaim_pkey" PRIMARY KEY ("nativeChannel")
);

-- CreateTable
CREATE TABLE "Card" (
    "id" TEXT NOT NULL,
    "entryId" TEXT NOT NULL,
    "botId" TEXT NOT NULL,
    "sessionId" TEXT,
    "conversationKey" TEXT NOT NULL,
    "turnId" TEXT,
    "kind" TEXT NOT NULL,
    "spec" JSONB NOT NULL,
    "allowed" TEXT[],
    "state" TEXT NOT NULL DEFAULT 'open',
    "skippedAt" TIMESTAMPTZ(3),
    "answeredBy" TEXT,
    "answeredByName" TEXT,
    "answeredAt" TIMESTAMPTZ(3),
    "answer" JSONB,
    "expiresAt" TIMESTAMPTZ(3),
    "settleOwed" BOOLEAN NOT NULL DEFAULT false,
    "settleAttempts" INTEGER NOT NULL DEFAULT 0,
    "settleDueAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Card_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "SecretLink" (
    "tokenHash" TEXT NOT NULL,
    "cardId" TEXT NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "usedAt" TIMESTAMPTZ(3),

    CONSTRAINT "SecretLink_pkey" PRIMARY KEY ("tokenHash")
);

-- CreateTable
CREATE TABLE "VaultSecret" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "botId" TEXT NOT NULL,
    "connector" TEXT NOT NULL,
    "field" TEXT NOT NULL,
    "keyId" TEXT NOT NULL,
    "nonce" BYTEA NOT NULL,
    "ciphertext" BYTEA NOT NULL,
    "tag" BYTEA NOT NULL,
    "personId" TEXT NOT NULL,
    "cardId" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expiresAt" TIMESTAMPTZ(3),
    "revokedAt" TIMESTAMPTZ(3),

    CONSTRAINT "VaultSecret_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "File" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "sha256" TEXT,
    "ext" TEXT,
    "name" TEXT NOT NULL,
    "mediaType" TEXT,
    "size" INTEGER,
    "state" TEXT NOT NULL,
    "source" JSONB NOT NULL,
    "error" TEXT,
    "audience" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "dueAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "File_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Discussion" (
    "id" TEXT NOT NULL,
    "channelId" TEXT NOT NULL,
    "threadKey" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL DEFAULT 1,
    "round" INTEGER NOT NULL DEFAULT 1,
    "order" TEXT[],
    "owed" TEXT[],
    "counts" JSONB NOT NULL DEFAULT '{}',
    "endReason" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Discussion_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "KeyValue" (
    "scope" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "value" JSONB NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "KeyValue_pkey" PRIMARY KEY ("scope","key")
);

-- CreateIndex
CREATE INDEX "Account_botId_idx" ON "Account"("botId");

-- CreateIndex
CREATE UNIQUE INDEX "Account_platform_appId_botId_key" ON "Account"("platform", "appId", "botId");

-- CreateIndex
CREATE UNIQUE INDEX "Installation_accountId_workspaceId_key" ON "Installation"("accountId", "workspaceId");

-- CreateIndex
CREATE UNIQUE INDEX "Person_platform_workspaceId_platformId_key" ON "Person"("platform", "workspaceId", "platformId");

-- CreateIndex
CREATE UNIQUE INDEX "Channel_platform_workspaceId_channelId_key" ON "Channel"("platform", "workspaceId", "channelId");

-- CreateIndex
CREATE UNIQUE INDEX "Entry_conversationKey_seq_key" ON "Entry"("conversationKey", "seq");

-- CreateIndex
CREATE UNIQUE INDEX "Entry_conversationKey_platformId_key" ON "Entry"("conversationKey", "platformId");

-- CreateIndex
CREATE UNIQUE INDEX "Entry_conversationKey_address_key" ON "Entry"("conversationKey", "address");

-- CreateIndex
CREATE INDEX "Session_conversationKey_idx" ON "Session"("conversationKey");

-- CreateIndex
CREATE UNIQUE INDEX "Session_botId_conversationKey_key" ON "Session"("botId", "conversationKey");

-- CreateIndex
CREATE INDEX "StateNode_sessionId_idx" ON "StateNode"("sessionId");

-- CreateIndex
CREATE INDEX "InboundMark_receivedAt_idx" ON "InboundMark"("receivedAt");

-- CreateIndex
CREATE UNIQUE INDEX "Mail_seq_key" ON "Mail"("seq");

-- CreateIndex
CREATE INDEX "Mail_sessionId_state_rank_orderAt_idx" ON "Mail"("sessionId", "state", "rank", "orderAt");

-- CreateIndex
CREATE INDEX "Mail_botId_state_idx" ON "Mail"("botId", "state");

-- CreateIndex
CREATE INDEX "Mail_state_dueAt_idx" ON "Mail"("state", "dueAt");

-- CreateIndex
CREATE INDEX "Mail_turnId_idx" ON "Mail"("turnId");

-- CreateIndex
CREATE INDEX "Mail_entryId_idx" ON "Mail"("entryId");

-- CreateIndex
CREATE INDEX "Turn_sessionId_status_idx" ON "Turn"("sessionId", "status");

-- CreateIndex
CREATE INDEX "Turn_botId_status_idx" ON "Turn"("botId", "status");

-- CreateIndex
CREATE INDEX "ToolCall_entryId_idx" ON "ToolCall"("entryId");

-- CreateIndex
CREATE UNIQUE INDEX "OutboxPiece_seq_key" ON "OutboxPiece"("seq");

-- CreateIndex
CREATE INDEX "OutboxPiece_nativeChannel_state_seq_idx" ON "OutboxPiece"("nativeChannel", "state", "seq");

-- CreateIndex
CREATE INDEX "OutboxPiece_state_dueAt_idx" ON "OutboxPiece"("state", "dueAt");

-- CreateIndex
CREATE INDEX "OutboxPiece_platform_nativeId_idx" ON "OutboxPiece"("platform", "nativeId");

-- CreateIndex
CREATE UNIQUE INDEX "OutboxPiece_entryId_index_key" ON "OutboxPiece"("entryId", "index");

-- CreateIndex
CREATE UNIQUE INDEX "Card_entryId_key" ON "Card"("entryId");

-- CreateIndex
CREATE INDEX "Card_conversationKey_state_idx" ON "Card"("conversationKey", "state");

-- CreateIndex
CREATE INDEX "Card_settleOwed_settleDueAt_idx" ON "Card"("settleOwed", "settleDueAt");

-- CreateIndex
CREATE INDEX "SecretLink_cardId_idx" ON "SecretLink"("cardId");

-- CreateIndex
CREATE INDEX "VaultSecret_botId_connector_field_idx" ON "VaultSecret"("botId", "connector", "field");

-- CreateIndex
CREATE INDEX "VaultSecret_orgId_idx" ON "VaultSecret"("orgId");

-- CreateIndex
CREATE INDEX "File_state_dueAt_idx" ON "File"("state", "dueAt");

-- CreateIndex
CREATE INDEX "Discussion_channelId_threadKey_idx" ON "Discussion"("channelId", "threadKey");

-- AddForeignKey
ALTER TABLE "Bot" ADD CONSTRAINT "Bot_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Org"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Account" ADD CONSTRAINT "Account_botId_fkey" FOREIGN KEY ("botId") REFERENCES "Bot"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Installation" ADD CONSTRAINT "Installation_accountId_fkey" FOREIGN KEY ("accountId") REFERENCES "Account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Entry" ADD CONSTRAINT "Entry_conversationKey_fkey" FOREIGN KEY ("conversationKey") REFERENCES "Conversation"("key") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Session" ADD CONSTRAINT "Session_botId_fkey" FOREIGN KEY ("botId") REFERENCES "Bot"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Session" ADD CONSTRAINT "Session_conversationKey_fkey" FOREIGN KEY ("conversationKey") REFERENCES "Conversation"("key") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Mail" ADD CONSTRAINT "Mail_sessionId_fkey" FOREIGN KEY ("sessionId") REFERENCES "Session"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Turn" ADD CONSTRAINT "Turn_sessionId_fkey" FOREIGN KEY ("sessionId") REFERENCES "Session"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ToolCall" ADD CONSTRAINT "ToolCall_turnId_fkey" FOREIGN KEY ("turnId") REFERENCES "Turn"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OutboxPiece" ADD CONSTRAINT "OutboxPiece_entryId_fkey" FOREIGN KEY ("entryId") REFERENCES "Entry"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
