-- One row for each time that somebody opened the file; its number is the name of a lock file.
CREATE TABLE openings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    process INTEGER NOT NULL,
    at INTEGER NOT NULL
);

-- One row for each call that began, and each that was decided not to run. Times are microseconds since 1970.
CREATE TABLE calls (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    opening INTEGER NOT NULL,
    run INTEGER,                -- unique in its opening; null for a call that did not run
    conversation TEXT,
    id TEXT,
    fingerprint BLOB NOT NULL,  -- SHA-256 of tool and arguments
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    repairs TEXT,
    decision TEXT,
    at INTEGER NOT NULL
);

-- A call that can be recognised runs once. Nulls differ from each other, so that one without an id runs each time.
CREATE UNIQUE INDEX runs_by_identity ON calls (conversation, id, fingerprint) WHERE run IS NOT NULL;
CREATE UNIQUE INDEX runs_by_opening ON calls (opening, run) WHERE run IS NOT NULL;
CREATE INDEX calls_by_conversation ON calls (conversation, sequence);
CREATE INDEX calls_by_tool ON calls (tool, sequence);
CREATE INDEX calls_by_time ON calls (at);

-- How a call ended: a row of its own, because nothing that is written is changed.
CREATE TABLE outcomes (
    call INTEGER PRIMARY KEY REFERENCES calls (sequence) ON DELETE CASCADE,
    result TEXT NOT NULL,
    duration INTEGER NOT NULL,
    at INTEGER NOT NULL
);

CREATE TRIGGER calls_are_not_changed BEFORE UPDATE ON calls
BEGIN SELECT RAISE(ABORT, 'the record of a call is not changed'); END;
CREATE TRIGGER outcomes_are_not_changed BEFORE UPDATE ON outcomes
BEGIN SELECT RAISE(ABORT, 'the outcome of a call is not changed'); END;

-- Calls that wait for somebody's confirmation, encrypted.
CREATE TABLE pending (
    id TEXT PRIMARY KEY,
    conversation TEXT,
    expires INTEGER NOT NULL,
    sealed TEXT NOT NULL
);
CREATE INDEX pending_by_conversation ON pending (conversation);
CREATE INDEX pending_by_expiry ON pending (expires);
