-- One row for each conversation. Times are microseconds since 1970.
CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    mode TEXT NOT NULL,
    changed INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX conversations_by_change ON conversations (changed);

-- The messages, as JSON.
CREATE TABLE messages (
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (conversation, position)
) WITHOUT ROWID;
