-- Identifies the last change to the writer that made it.
ALTER TABLE conversations ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;
