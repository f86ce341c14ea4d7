-- A call whose handler was not started can begin again, as a row of its own. Whether one may begin is decided in the
-- exclusive transaction that records it, by the newest row of its identity.
ALTER TABLE outcomes ADD COLUMN started INTEGER NOT NULL DEFAULT 1;
DROP INDEX runs_by_identity;
CREATE INDEX runs_by_identity ON calls (conversation, id, fingerprint, sequence) WHERE run IS NOT NULL;
