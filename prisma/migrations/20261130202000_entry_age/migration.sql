-- Finds what is past its time without reading the whole transcript; costs next to nothing to keep.
CREATE INDEX "Entry_createdAt_idx" ON "Entry" USING BRIN ("createdAt");
