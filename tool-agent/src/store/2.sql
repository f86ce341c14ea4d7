-- By what a change is known to whoever has made it.
ALTER TABLE conversations ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;
